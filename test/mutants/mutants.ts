// Planted bugs, as data: each is one change that would break a promise, and the tests that must notice it. `find` stands exactly once in
// its file; where the code has moved on, the entry is to be moved with it.

export type Mutant = {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** Test file, and a part of the names of the tests in it (plain text). */
  readonly tests: readonly (readonly [file: string, name: string])[];
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
    file: "src/store/sqlite/verify.ts",
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
    find: "  ready(draft, { track: name, stage, carry: track.carry });\n  return undefined;",
    replace:
      '  for (const [key, { loops }] of Object.entries(draft.run.counters)) emit(draft, { type: "counter.changed", key, from: loops, to: loops + 1, streak: 0 });\n' +
      "  ready(draft, { track: name, stage, carry: track.carry });\n  return undefined;",
    tests: [["test/crash/recovery.test.ts", "an interrupted attempt uses up no loop"]],
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
    name: "a review that an earlier attempt left counts",
    file: "src/attempt/run-agent.ts",
    find: 'if (stage.result.from === "file-verdict" &&',
    replace: 'if (stage.result.from === "exit-code" &&',
    tests: [["test/crash/recovery.test.ts", "a review that was there before the attempt is no review"]],
  },
  {
    name: "what a dead engine left running is left alone",
    file: "src/compose.ts",
    find: "processes: { killLeftovers, findMarked },",
    replace: "processes: { killLeftovers: async () => 0, findMarked },",
    tests: [["test/crash/recovery.test.ts", "what a killed engine left running is ended"]],
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
];
