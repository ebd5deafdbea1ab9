// Planted bugs, as data: each is one change that would break a promise, and the tests that must notice it. `find` stands exactly once in
// its file; where the code has moved on, the entry is to be moved with it.

export type Mutant = {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** Test file, and a part of the names of the tests in it (plain text). */
  readonly tests: readonly (readonly [file: string, name: string])[];
  /** They start the driver of the crash tests, which has to be made with the bug in it. */
  readonly startDriver?: true;
};

const LEDGER = "test/scenarios/trust/ledger-matrix.test.ts";
const FILES = "test/scenarios/trust/files-matrix.test.ts";
const UNSIGNED_COUNTS = {
  file: "src/core/verdict/ledger.ts",
  find: 'withoutNoise(spoke.filter((each) => each.signed || rules.nonce === "optional"))',
  replace: "withoutNoise(spoke)",
};

export const MUTANTS: readonly Mutant[] = [
  {
    name: "a change that was decided upon an old version is taken for a new one",
    file: "src/store/sqlite/commit.ts",
    find: "if (updated.changes === 0) return undefined;",
    replace: "if (updated.changes < 0) return undefined;",
    tests: [["test/crash/recovery.test.ts", "what was decided before another process changed the run conflicts"]],
  },
  {
    name: "a repeated signal is applied again",
    file: "src/store/sqlite/signals.ts",
    find: "if (isRepeated(number, signalIds)) return false;",
    replace: "if (isRepeated(number, signalIds)) return true;",
    tests: [["src/store/sqlite/open.test.ts", "a repeated signal id is a duplicate"]],
  },
  {
    name: "commits are answered before the disk has them",
    file: "src/store/sqlite/connection.ts",
    find: "PRAGMA synchronous = FULL;",
    replace: "PRAGMA synchronous = OFF;",
    tests: [["test/crash/recovery.test.ts", "P1: the connection that commits waits for the disk"]],
  },
  {
    name: "an edited event passes the check of the chain",
    file: "src/store/verify-chain.ts",
    find: "else if (!isAsWritten) yield",
    replace: 'else if (row.hash === "") yield',
    tests: [["src/store/sqlite/verify.test.ts", "only that row is named"]],
  },
  {
    name: "two engines perform on one store",
    file: "src/store/sqlite/lock.ts",
    find: "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE",
    replace: "PRAGMA locking_mode = EXCLUSIVE",
    tests: [["src/store/sqlite/lock.test.ts", "a second process is refused"]],
  },
  {
    name: "the verdict of an attempt that was cut off counts for the next one",
    file: "src/core/run/transition.ts",
    find: "track.stage === stage && track.attempt === attempt",
    replace: "track.stage === stage && track.attempt >= attempt",
    tests: [["test/crash/recovery.test.ts", "the report of an attempt that was cut off"]],
  },
  {
    name: "a budget is checked against what was spent, not against what is put aside",
    file: "src/store/sqlite/room.ts",
    find: "used[unit] + needed[unit] > most ||",
    replace: "",
    tests: [["src/store/sqlite/open.test.ts", "every scope and both units are checked"]],
  },
  {
    name: "a rate limit uses up a loop",
    file: "src/core/run/transition.ts",
    find: "if (later !== undefined) {",
    replace: "if (later === null) {",
    tests: [["test/scenarios/engine/infrastructure.test.ts", "a rate limit is waited for"]],
  },
  {
    name: "an ended run goes on",
    file: "src/core/run/transition.ts",
    find: "if (isEnded(run)) return ignore(run, signal,",
    replace: 'if (run.status === "completed") return ignore(run, signal,',
    tests: [["test/scenarios/core-properties.test.ts", "I6: a final state is never left"]],
  },
  {
    name: "an agent answers a gate",
    file: "src/core/run/transition.ts",
    find: '!signal.actor.startsWith("human:")',
    replace: 'signal.actor === "engine"',
    tests: [["test/scenarios/core-properties.test.ts", "P4: only a recorded answer of a person leaves a gate"]],
  },
  {
    name: "a crash uses up a loop",
    file: "src/core/run/transition.ts",
    find: "  ready(draft, { track: name, stage, carry: withAnswer(track.carry, track) });\n  return undefined;",
    replace:
      '  for (const [key, { loops }] of Object.entries(draft.run.counters)) emit(draft, { type: "counter.changed", key, from: loops, to: loops + 1, streak: 0 });\n' +
      "  ready(draft, { track: name, stage, carry: withAnswer(track.carry, track) });\n  return undefined;",
    tests: [["test/crash/recovery.test.ts", "an interrupted attempt uses up no loop"]],
    startDriver: true,
  },
  {
    name: "one loop more than the flow allows",
    file: "src/core/run/counting.ts",
    find: "state.loops >= counter.maxLoops",
    replace: "state.loops > counter.maxLoops",
    tests: [["test/scenarios/core-properties.test.ts", "I4: no counter ever exceeds its cap"]],
  },
  {
    name: "a verdict that nobody knows is a pass",
    file: "src/core/verdict/judge.ts",
    find: '  return { type: "failed", cause, reason };',
    replace: '  return { type: "given", verdict: "pass", warnings: [cause, reason] };',
    tests: [["src/core/verdict/judge.test.ts", "R-000-02"]],
  },
  {
    name: "a forged verdict without the attempt's nonce counts",
    file: "src/core/verdict/json-tail.ts",
    find: 'return Boolean(nonce) && object.nonce === nonce && raw.includes(nonce ?? "");',
    replace: "return Boolean(nonce) && raw.length > 0 && object !== null;",
    tests: [["src/core/verdict/json-tail.test.ts", "S07: no text without the nonce ever yields a verdict"]],
  },
  {
    name: "a verdict that nobody signed counts where the nonce is required",
    file: "src/core/verdict/ledger.ts",
    find: 'withoutNoise(spoke.filter((each) => each.signed || rules.nonce === "optional"))',
    replace: "withoutNoise(spoke)",
    tests: [["src/core/verdict/ledger.test.ts", "S07: without the nonce no verdict is read"]],
  },
  {
    name: "of two channels that disagree one wins silently",
    file: "src/core/verdict/ledger.ts",
    find: 'if (disputing.length > 0 && deciding.channel !== "desk")',
    replace: 'if (disputing.length > 99 && deciding.channel !== "desk")',
    tests: [["src/core/verdict/ledger.test.ts", "S07: where the nonce is optional"]],
  },
  {
    name: "a second name of a person's file is read",
    file: "src/file/confined.ts",
    find: "if (stat.nlink > 1n)",
    replace: "if (stat.nlink > 9n)",
    tests: [["src/file/confined.test.ts", "S13: a second name of a person's file"]],
  },
  {
    name: "what an attempt planted before a crash becomes the baseline",
    file: "src/workspace/repository-guard.ts",
    find: "const left = known === null ? [] : await check(commonDir, known.baseline);",
    replace: "const left: readonly string[] = [];",
    tests: [["test/scenarios/trust/shared-git.test.ts", "after a crash the plant of the dead attempt is put back"]],
  },
  {
    name: "what a dead engine left running is left alone",
    file: "src/compose.ts",
    find: "const processes = { killLeftovers, findMarked, watchStrays, sweep: sweepCgroups };",
    replace: "const processes = { killLeftovers: async () => 0, findMarked, watchStrays, sweep: sweepCgroups };",
    tests: [["test/crash/recovery.test.ts", "what a killed engine left running is ended"]],
    startDriver: true,
  },
  {
    name: "agents see the whole environment",
    file: "src/runner/process/environment.ts",
    find: "for (const name of [...ALWAYS_PASSED, ...pass]) {",
    replace: "for (const name of [...Object.keys(parent), ...ALWAYS_PASSED, ...pass]) {",
    tests: [["src/runner/command.test.ts", "S09: the environment of the program"]],
  },
  {
    name: "a ticket starts although what it depends on is not there",
    file: "src/core/ticket/plan.ts",
    find: "return before === undefined || (doubt !== undefined && DOUBTFUL.has(doubt.code)) || !satisfied.has(before.status);",
    replace: "return before !== undefined && !satisfied.has(before.status);",
    tests: [["src/core/ticket/plan.test.ts", "an unknown dependency is unmet and named"]],
  },
  {
    name: "two tickets start on one branch",
    file: "src/core/ticket/plan.ts",
    find: "    held.set(branch.toLowerCase(), ticket.id);",
    replace: "",
    tests: [["src/core/ticket/plan.test.ts", "two tickets with one branch: only the first is eligible"]],
  },
  {
    name: "a person's edit of a ticket is overwritten",
    file: "src/ticket/file/replace-file.ts",
    find: "const isSame = now.ok && now.value.hash === expected.hash && now.value.ino === expected.ino;",
    replace: 'const isSame = now.ok && expected.hash !== "";',
    tests: [["test/scenarios/ticket-files/writing.test.ts", "the change is made again on the new text"]],
  },
  {
    name: "a ticket is rewritten without a look at what it says then",
    file: "src/ticket/file/rewrite.ts",
    find: "return says(changed, before.value, wanted) ? ok(changed)",
    replace: "return says(text, before.value, []) ? ok(changed)",
    tests: [["src/ticket/file/rewrite.test.ts", "a text that would say more than it should is refused"]],
  },
  // The guards of trust: each planter of the matrices has one without which its cells turn red.
  {
    name: "what a child of the judge plants counts without the nonce",
    ...UNSIGNED_COUNTS,
    tests: [[LEDGER, "planted by a child, nonce required, the judge says mute"]],
  },
  {
    name: "what another run plants counts without the nonce of the attempt",
    ...UNSIGNED_COUNTS,
    tests: [[LEDGER, "planted by another run, nonce required, the judge says mute"]],
  },
  {
    name: "what a living process of an earlier attempt plants counts",
    ...UNSIGNED_COUNTS,
    tests: [[LEDGER, "planted by an earlier attempt, nonce required, the judge says mute"]],
  },
  {
    name: "a review that was in the tree before the attempt counts",
    file: "src/attempt/run-agent.ts",
    find: "  await setAside(workspace.dir, join(dir, stage.result.path), files, REPLACED_REVIEW);",
    replace: "  void [setAside, join, REPLACED_REVIEW];",
    tests: [
      [LEDGER, "planted by the repository, nonce optional, the judge says mute"],
      [LEDGER, "planted by a landed commit, nonce optional, the judge says mute"],
      [LEDGER, "planted by an earlier stage, nonce optional, the judge says mute"],
    ],
  },
  {
    name: "an old review that git brings back counts",
    file: "src/attempt/converse.ts",
    find: "isKnownFile: (text) => known.has(squeezed(text)),",
    replace: "isKnownFile: (text) => known.has(`${squeezed(text)}?`),",
    tests: [[LEDGER, "planted by the repository, nonce optional, the judge says mute"]],
  },
  {
    name: "a verdict that the agent only repeats from its prompt counts",
    file: "src/attempt/converse.ts",
    find: "isQuoted: (block) => prompts.holds(block),",
    replace: "isQuoted: (block) => prompts.holds(`${block}?`),",
    tests: [[LEDGER, "planted by the prompt, nonce optional, the judge says mute"]],
  },
  {
    name: "an operator's key speaks for an agent that a program plays",
    file: "src/http/server/routes/handoffs/turn.ts",
    find: "if (!isOutside) return err(byProgram(stage));",
    replace: "void byProgram;",
    tests: [[LEDGER, "planted by an outside agent, nonce optional, the judge says mute"]],
  },
  {
    name: "an answer with a prefix is signed by a nonce anywhere in it",
    file: "src/core/verdict/prefix.ts",
    find: '(body.split("\\n", 1)[0] ?? "").includes(nonce)',
    replace: "body.includes(nonce)",
    tests: [["src/core/verdict/prefix.test.ts", "S07: only the line below the word signs"]],
  },
  {
    name: "project files of the working tree take effect",
    file: "src/settings/trust/in-effect.ts",
    find: 'if (found.type === "approved") return ok(found.dir);',
    replace: 'if (found.type === "approved") return ok(place.project);',
    tests: [
      [FILES, "planted by another run"],
      [FILES, "planted by a landed commit"],
    ],
  },
  {
    name: "a repository that nobody approved decides what runs",
    file: "src/settings/trust/in-effect.ts",
    find: "return hasProjectFiles(place.project) ? err(notTrusted(place.project)) : ok(null);",
    replace: "return hasProjectFiles(place.project) ? ok(place.project) : ok(null);",
    tests: [[FILES, "the files of a repository that nobody approved start nothing"]],
  },
  {
    name: "what an agent plants in the shared .git stays",
    file: "src/attempt/run-stage.ts",
    find: 'if (stage.kind === "builtin" || workspaces.guard === undefined) return none;',
    replace: "if (stage.id !== workspace.dir || workspaces.guard === undefined) return none;",
    tests: [[FILES, "planted in the shared .git by an agent in a workspace worktree"]],
  },
  {
    name: "a canceled run still acts outside",
    file: "src/core/run/outward-rules.ts",
    find: 'if (run.status === "canceled" || run.status === "completed") return',
    replace: 'if (run.status === "completed") return',
    tests: [["src/core/run/outward.test.ts", "S14: an intent is taken from an attempt that works"]],
  },
  {
    name: "a decision about one commit is stored for another",
    file: "src/core/run/answers.ts",
    find: "if (isAboutOther(signal)) return",
    replace: 'if (isAboutOther(signal) && signal.answer === "") return',
    tests: [["test/scenarios/trust/gate-binding.test.ts", "the run itself refuses an answer about another commit"]],
  },
  {
    name: "a daemon that was taken over goes on writing",
    file: "src/store/sqlite/fence.ts",
    find: "if (owner && now.epoch !== opened.epoch) throw",
    replace: "if (owner && now.epoch < opened.epoch) throw",
    tests: [["src/store/sqlite/open.test.ts", "P9: an owner that was replaced writes nothing"]],
  },
  {
    name: "a person's own branch is taken over",
    file: "src/workspace/made-branches.ts",
    find: "  if (noted !== null) return true;",
    replace: "  if (noted !== commonDir) return true;",
    tests: [["test/scenarios/trust/branches.test.ts", "and is a person's own is refused in a worktree"]],
  },
  {
    name: "a word for all agents replaces a check",
    file: "src/core/flow/runner-choice.ts",
    find: "const isAgent = !isOutside && ownCommand(stage) === null;",
    replace: "const isAgent = !isOutside || ownCommand(stage) === null;",
    tests: [["src/core/flow/runner-choice.test.ts", "S07: a word for all agents does not replace"]],
  },
  {
    name: "work that changed nothing is done",
    file: "src/attempt/required-files.ts",
    find: "return mustWork(stage) && !hasWork ?",
    replace: "return mustWork(stage) && hasWork === null ?",
    tests: [["test/scenarios/trust/green.test.ts", "S07: fails with a reason if it changed nothing"]],
  },
];
