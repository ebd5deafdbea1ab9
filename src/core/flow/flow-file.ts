// The flow file as people write it: one zod schema is the source of the types, the check's hints and docs/flow-reference.md.
// It defines the keys and values a file may have; flow.ts defines their meaning.

import { z } from "zod";
import { isSafeGlob } from "../glob.ts";
import { agentOptionKeys } from "./agent-options.ts";
import { checksKey, stageChecks } from "./check-file.ts";
import { isName, NAME_PATTERN } from "./name.ts";
import { ROUTER_FALLBACKS } from "./router-fallback.ts";
import { TEST_FILES } from "./test-files.ts";

export const FLOW_NAME_PATTERN = /^[a-z][a-z0-9-]{0,47}$/;
/** At most 24 days: a longer timer would overflow and fire at once. */
export const DURATION_PATTERN = /^([1-9][0-9]{0,5}(ms|s)|[1-9][0-9]{0,3}m|[1-9][0-9]?h|([1-9]|1[0-9]|2[0-4])d)$/;

/** At most 100 MB: half of it is kept in memory while the attempt runs. */
const OUTPUT_PATTERN = /^([1-9][0-9]{0,4}kb|([1-9][0-9]?|100)mb)$/i;

// Names become keys of plain objects, so a property of every object (constructor, toString …) cannot be one.
const name = z
  .string()
  .regex(NAME_PATTERN)
  .refine(isName, { message: "this word is reserved" })
  .describe("letters, digits and dashes, beginning with a letter");
const word = z.string().min(1).max(80).describe("a word of the source, shown and stored as given");
const duration = z.string().regex(DURATION_PATTERN).describe("a duration such as 500ms, 30s, 30m, 2h, 1d");
const condition = z
  .string()
  .min(1)
  .max(500)
  .describe("a condition over named facts, as in plan.new_infra and not input.agent");

/** The conditions for a ticket to start; see core/ticket/pick-rules.ts. */
const PICK_NEEDS = ["actionable-status", "depends-on-satisfied", "branch-free"] as const;

const statusRule = z
  .union([
    word,
    z.strictObject({ when: condition, is: word, else: word }).describe("one of two words, picked by a condition"),
  ])
  .describe("the source's status word to show from here on");

const carryNames = z
  .array(z.string().min(1).max(200))
  .describe(
    "what the next attempt gets: issues, questions, answers, comment, note, payload, or a file of the workspace",
  );

const routeObject = z.strictObject({
  goto: z.string().describe("next, self, prev, first, a stage id, agent:<name>, escalate, stop, end, warn").optional(),
  counter: name.describe("the counter that this way uses up").optional(),
  carry: carryNames.optional(),
  status: statusRule.optional(),
  ask: z.string().min(1).describe("the person to ask; the run waits for the answer").optional(),
  show: z
    .enum(["open-questions", "status-reason"])
    .describe("which part of the report the person sees (default: the questions, else the reason)")
    .optional(),
  // oxlint-disable-next-line unicorn/no-thenable -- `then` is the sources' own word in a flow file
  then: z.string().describe("where the answer leads (default self)").optional(),
  choices: z
    .record(z.string(), z.string())
    .describe("the answers offered, each with its target; cancel ends the run")
    .optional(),
  else: z.string().describe("the target when goto finds no stage, or when `once` is used up").optional(),
  only: z.enum(["blamed-tracks"]).describe("re-run only the tracks that the report blames").optional(),
  once: z.boolean().describe("this way can be taken once in a run").optional(),
  undo: z
    .enum(["work"])
    .describe("checks_failed: the commits of the attempt are taken off the branch; a pin keeps them")
    .optional(),
});
const route = z
  .record(z.string(), z.union([z.string(), routeObject]))
  .describe("verdict, health, checks_failed or answer -> target or way");

const words = z.strictObject({
  verdict: z
    .record(z.string(), z.enum(["pass", "revise", "redesign", "reject", "exhausted"]))
    .describe("word -> verdict")
    .optional(),
  unknown_verdict: z
    .enum(["failed", "revise", "pass"])
    .describe("the meaning of a missing or unknown verdict; pass only where no verdict is expected")
    .optional(),
  health: z
    .record(z.string(), z.enum(["complete", "blocked", "failed", "incomplete"]))
    .describe("word -> health")
    .optional(),
  unknown_health: z
    .enum(["complete", "failed", "incomplete", "blocked"])
    .describe("the meaning of a missing or unknown health")
    .optional(),
  score: z
    .partialRecord(z.enum(["pass", "revise", "redesign", "reject"]), z.tuple([z.number(), z.number()]))
    .describe("verdict -> range of scores; the worse of word and score wins")
    .optional(),
  status: z
    .partialRecord(
      z.enum([
        "queued",
        "running",
        "waiting",
        "question",
        "choice",
        "escalated",
        "completed",
        "stopped",
        "failed",
        "canceled",
        "stalled",
      ]),
      word,
    )
    .describe("state of the run -> the source's status word")
    .optional(),
});

const counter = z.strictObject({
  max_attempts: z
    .union([z.int().min(1).max(20), z.literal("none")])
    .describe("tries, the first included; none: no limit")
    .optional(),
  max_loops: z.int().min(0).max(20).describe("re-runs, the same as max_attempts - 1 (default 2)").optional(),
  scope: z
    .enum(["run", "track", "stage"])
    .describe("one budget per run, per track, or per stage that counts: one for each pair of agents")
    .optional(),
  on_exhausted: z.string().describe("escalate, stop, or a key of the stage's route").optional(),
  column: z.string().describe("the name under which the source shows this counter").optional(),
  resets: z.array(name).describe("counters that start again when this one counts").optional(),
});

const escalation = z.strictObject({
  notify: z.string().describe("the recipient of the message").optional(),
  status: word.describe("the status word shown while it waits").optional(),
  choices: z
    .union([z.array(z.enum(["again", "accept", "cancel"])), z.record(z.string(), z.string())])
    .describe("answers: again, accept, cancel, or own words -> again, accept, cancel or a target")
    .optional(),
});

const workspace = z.strictObject({
  mode: z.enum(["in-place", "worktree", "sandbox"]).describe("where attempts work").optional(),
  dir: z.string().describe("a folder inside the workspace, may hold {fact}").optional(),
  memory: z.string().describe("a folder of shared files, for example .brain").optional(),
  branch: z.string().describe("the branch, may hold {fact}").optional(),
  base: z.string().describe("the branch to start from").optional(),
  per: z.enum(["run", "stage"]).describe("one workspace for the run, or one per stage").optional(),
  delete: z
    .enum(["always", "when-merged", "never"])
    .describe(
      "when Passrail deletes the workspace: as soon as it is free (default), at the end of a run whose work was merged, or never; the branch stays",
    )
    .optional(),
});

const heading = z.string().regex(/^## \S/);

const result = z.strictObject({
  from: z
    .enum([
      "json-tail",
      "file-verdict",
      "handoff-file",
      "handoff-api",
      "prefix",
      "exit-code",
      "work-result",
      "verdict-file",
      "router",
    ])
    .describe("the form in which the attempt reports, and so how its verdict is read"),
  nonce: z
    .enum(["required", "optional"])
    .describe("whether a verdict must carry this attempt's nonce (default: required where the prompt asks for it)")
    .optional(),
  require: z.array(z.string()).describe("keys that must be there").optional(),
  echo: z
    .array(z.string())
    .describe("json-tail: keys that must hold the id of the work where the agent writes them (default <subject>_id)")
    .optional(),
  path: z.string().describe("file inside the workspace").optional(),
  health: heading.describe("handoff-file: the heading of the health (default ## Status)").optional(),
  reason: heading.describe("handoff-file: the heading of the reason (default ## Status reason)").optional(),
  questions: heading.describe("handoff-file: the heading of the questions (default ## Open Questions)").optional(),
  prefixes: z.record(z.string(), z.string()).describe("text at the start -> word").optional(),
  next: z
    .record(word, z.enum(["revise", "redesign", "reject", "blocked"]))
    .describe("exit-code: the requests that a WORK_RESULT block may make by its next_status, and their meaning")
    .optional(),
});

/** From what a program needs to start at all, up to 9999 GB. */
const MEMORY_PATTERN = /^([1-9][0-9]{1,3}mb|[1-9][0-9]{0,3}gb)$/i;

const limits = z.strictObject({
  startup: duration.describe("no output at all for this long").optional(),
  idle: z
    .union([
      duration,
      z.strictObject({ alone: duration.describe("one agent"), team: duration.describe("a team of agents") }),
    ])
    .describe("no further output for this long")
    .optional(),
  total: duration.describe("the whole attempt, without the time in which it waits for a person").optional(),
  permission: duration
    .describe("a request for permission waits this long for a person, then it is denied (default 1h)")
    .optional(),
  question: duration
    .describe(
      "a question of the agent waits this long for an answer in place, then the attempt ends with it (default 45s)",
    )
    .optional(),
  output: z
    .string()
    .regex(OUTPUT_PATTERN)
    .describe("bytes of output kept and allowed: 512kb, 10mb; at most 100mb")
    .optional(),
  same_calls: z
    .int()
    .min(3)
    .max(1000)
    .describe(
      "the same tool call with the same answer, or two in turn, so often in a row; three times as often where the answers differ (default 12)",
    )
    .optional(),
  memory: z
    .string()
    .regex(MEMORY_PATTERN)
    .describe("in a container: its programs have this much memory together: 512mb, 4gb")
    .optional(),
  processes: z.int().min(16).max(100_000).describe("maximum number of processes at a time, in a container").optional(),
  cpus: z.number().min(0.1).max(1024).describe("in a container: so much of the processors, such as 1.5").optional(),
  disk: z
    .string()
    .regex(MEMORY_PATTERN)
    .describe("in bubblewrap or a container: its programs may fill so much of the disk during an attempt: 512mb, 10gb")
    .optional(),
});

const notify = z
  .strictObject({
    to: z.string().describe("the recipient of the message"),
    event: z.string().describe("the name of the message"),
  })
  .describe("a message when this stage is reached");
const globsKey = z
  .array(z.string().min(1).max(200).refine(isSafeGlob, { message: "a glob below the workspace, such as **/*.test.*" }))
  .max(100);
const turnCount = z.int().min(1).max(10_000);
const turns = z
  .union([
    turnCount,
    z.strictObject({ alone: turnCount.describe("one agent"), team: turnCount.describe("a team of agents") }),
  ])
  .describe("turns an attempt may take, where the runner can tell");

/** The keys of a stage that `defaults` can set for all stages without them. */
const sharedKeys = {
  model: z.string().min(1).max(100).describe("the model that plays the agent").optional(),
  ...agentOptionKeys,
  turns: turns.optional(),
  timeout: duration.describe("the whole attempt, the same as limits.total (default 30m)").optional(),
  limits: limits.describe("when an attempt is ended").optional(),
  vars: z
    .array(z.string().regex(/^[A-Z][A-Z0-9_]{0,79}$/))
    .describe("names that the attempt gets in its environment and that fill {{NAME}} in its prompt")
    .optional(),
  result: result.describe("how an attempt reports").optional(),
  route: route.optional(),
  workspace: workspace.describe("where this stage works, if not where the flow does").optional(),
  yield: z.boolean().describe("give the slot back after this stage and wait in line for the next").optional(),
  concurrency: z
    .int()
    .min(1)
    .max(100)
    .describe("attempts of this agent at once, over all runs; the setting agents.<name>.limit decides over it")
    .optional(),
  command: z
    .array(z.string().min(1))
    .min(1)
    .describe(
      "program and arguments of the command runner, never a shell line; a choice for all agents (*) does not replace it",
    )
    .optional(),
};

const stageKeys = {
  ...sharedKeys,
  title: z.string().max(200).describe("the name that people see instead of the id").optional(),
  agent: name.describe("which agent works here: the name of a file in agents/").optional(),
  who: z.string().describe("gate: who decides (default owner)").optional(),
  when: condition.describe("the stage is passed over when this does not hold").optional(),
  status: z
    .union([statusRule, z.strictObject({ ready: word.optional(), running: word.optional() })])
    .describe("the source's status word while the stage runs, or one for ready and one for running")
    .optional(),
  phase: word.describe("the source's word for the time in which this stage works").optional(),
  bundle: z.string().describe("the bundle of rules for the prompt").optional(),
  prompt: z
    .union([z.string(), z.array(z.string())])
    .describe("the instruction of this stage, or the parts of the prompt in order")
    .optional(),
  prompt_file: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,79}$/)
    .describe("a file of prompts/, without .md")
    .optional(),
  reads: z.array(z.string()).describe("the inputs that the agent reads").optional(),
  writes: z
    .array(z.string())
    .describe("the outputs that a pass must have written: files, or git-commit for any commit or changed file")
    .optional(),
  produces: z
    .array(z.string())
    .describe("headings that its handoff must have, and that its agent file must ask for")
    .optional(),
  may_change: z
    .union([globsKey, z.literal(TEST_FILES)])
    .describe(
      "files that the stage may change, as globs, or test-files: the project's tests (setting test_files); an empty list: nothing. A judge's changes are set aside and its verdict does not count; other changes take the trust from its quality gates (default: all files)",
    )
    .optional(),
  notes: z
    .strictObject({
      file: z.string().min(1).max(200).describe("the file, may hold {fact}; without the fact nothing is asked for"),
      under: heading.describe("the heading of the notes, which the file has once"),
      sections: z
        .array(z.string().min(1).max(80))
        .min(1)
        .max(20)
        .describe("the parts of the notes, each with some text"),
    })
    .describe(
      "notes that a pass must have left in a file of the branch: new in this run, whole, and without open questions",
    )
    .optional(),
  memo: z
    .boolean()
    .describe(
      "reuse the result of an earlier attempt of this stage, also of another run, with the same definition, prompt, input commit, agent, model and program (default: false)",
    )
    .optional(),
  retires: z
    .strictObject({
      files: z.array(z.string().min(1).max(200)).min(1).max(20).describe("the files, may hold {fact}"),
      to: z
        .string()
        .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,79}$/)
        .describe("the folder beside each file that it is moved to (default: it is removed)")
        .optional(),
    })
    .describe("files that Passrail removes from the branch, or moves, after a pass, in the same commit")
    .optional(),
  covers: z
    .union([
      z.literal("all"),
      z.strictObject({
        except: z
          .array(z.string().min(1).max(80))
          .min(1)
          .max(20)
          .describe("words of headings below Definition of Done; the rows there are left to others"),
      }),
    ])
    .describe(
      "the rows of the task's Definition of Done (- [ ] text) that its DoD coverage must have, by their text; a row that is missing counts as ✗",
    )
    .optional(),
  verifies: name
    .describe(
      "the stage whose met rows this one checks: its prompt gets what Passrail found at the places that they cite, and a pass must account for every one of them",
    )
    .optional(),
  payload: z.array(z.string()).describe("keys that its handoff must have").optional(),
  inline: z.array(z.string()).describe("checks that the agent does itself, each a fragment inline-<name>").optional(),
  gates: z
    .strictObject({
      trust: z
        .enum(["developer-latest-clean", "never"])
        .describe(
          "when the sender's quality-gate results are trusted: they are clean and from its latest iteration, or never; for each track separately",
        ),
      when_trusted: z.array(z.string()).describe("gates to run then").optional(),
      otherwise: z.array(z.string()).describe("gates to run if not").optional(),
    })
    .describe("which quality gates are run again")
    .optional(),
  checks: stageChecks.optional(),
  evidence: z
    .enum(["required"])
    .describe(
      "every met row of its DoD coverage must cite a file of the commit or a check; otherwise it goes as red checks do",
    )
    .optional(),
  verdicts: z.array(word).min(1).describe("the verdict words that this stage may use").optional(),
  max_tokens: z
    .int()
    .min(1)
    .max(1_000_000)
    .describe("router: output tokens of its answer, where the runner can limit them (claude)")
    .optional(),
  findings: z
    .enum(["ids", "rows"])
    .describe(
      "ids: every finding gets an id, and each later review of this stage says of every open one whether it is fixed; rows: a finding is identified by the row of the Definition of Done that it names",
    )
    .optional(),
  carry_on_retry: z.array(z.string()).describe("files that a second attempt gets besides").optional(),
  notify: notify.optional(),
};

const template = z.strictObject(stageKeys);

const followUp = z.strictObject({ id: name, ...stageKeys });

const trackStage = z.strictObject({
  id: name,
  kind: z.enum(["agent", "builtin"]).describe("default agent").optional(),
  do: z.string().describe("builtin: which one").optional(),
  ...stageKeys,
});

const stage = z.strictObject({
  id: name.describe("its name in this flow; letters, digits and dashes"),
  kind: z
    .enum(["agent", "gate", "builtin", "router", "dynamic", "parallel", "foreach"])
    .describe("the kind of stage (default agent)")
    .optional(),
  ...stageKeys,
  do: z.string().describe("builtin: which one").optional(),
  in: z
    .string()
    .min(1)
    .max(200)
    .describe(
      "foreach: the file with the check boxes (- [ ] text); the stages after this one run once per unchecked box",
    )
    .optional(),
  last: name
    .describe("foreach: the last stage of a round; when it passes, the box is checked and the next one begins")
    .optional(),
  max: z.int().min(1).max(200).describe("foreach: the highest number of rounds (default 20)").optional(),
  first_status: z.string().describe("builtin: the first status of the tickets that it writes").optional(),
  fallback: z
    .enum(ROUTER_FALLBACKS)
    .describe(
      "router: when keyword rules choose instead of the model: without a usable list (rules, default), only if the model cannot be reached (unreachable), or never (stop)",
    )
    .optional(),
  from: z.array(z.string()).min(1).describe("dynamic: the sources of its list; the first that is set wins").optional(),
  templates: z
    .record(z.string(), template)
    .describe(
      "dynamic: agent -> stage; * for any other agent, *judge for any other agent that judges (judges: true in its file)",
    )
    .optional(),
  tracks: z
    .record(
      name,
      z.strictObject({
        workspace: workspace.describe("where this track works").optional(),
        stages: z.array(trackStage).min(1).max(50).describe("the stages of the track"),
      }),
    )
    .describe("parallel: name of the track -> its stages")
    .optional(),
  join: z
    .union([z.enum(["all-passed"]), z.array(name).min(1)])
    .describe("parallel: the tracks that must be done before the run continues (default all-passed)")
    .optional(),
  then_in_same_workspace: z
    .array(followUp)
    .max(10)
    .describe("stages that follow at once where this one worked")
    .optional(),
  reach: z.enum(["enter-only"]).describe("entered only by `enter`, never by next").optional(),
});

const entry = z
  .union([z.string(), z.array(z.strictObject({ when: condition.optional(), stage: name })).min(1)])
  .describe("a stage, or a list of rules; the first that holds counts");

const stated = z
  .strictObject({
    labels: z
      .array(z.string().min(1).max(60))
      .min(1)
      .max(10)
      .describe("the words before the value, as in `Complexity: simple` or a heading `## Complexity`"),
    one_of: z.array(word).min(2).max(20).describe("the values that count; any other is refused").optional(),
    yes_no: z.literal(true).describe("the value is yes or no").optional(),
  })
  .describe("a value that the file states; a file that states none leaves the fact open");

const input = z.strictObject({
  kind: z.enum(["file", "folder"]).describe("a text file, copied and hashed at the start; or a folder"),
  required: z.boolean().describe("a run does not start without it (default false)").optional(),
  about: z.string().max(200).describe("what it is, for people who leave it out").optional(),
  states: z
    .record(z.string().regex(/^[a-z_][a-z0-9_.]{0,79}$/), stated)
    .describe("file: fact -> what it states")
    .optional(),
  repository: name.describe("folder: the name for `--repo NAME=FOLDER`").optional(),
});

export const flowFileSchema = z
  .strictObject({
    flow: z
      .string()
      .regex(FLOW_NAME_PATTERN)
      .describe("the flow's name, the same as the file's; lower-case letters, digits and dashes"),
    version: z
      .int()
      .min(1)
      .max(10_000)
      .describe("increase it when the meaning changes; running runs keep the version they started with"),
    title: z.string().max(200).describe("one line for people").optional(),
    description: z.string().max(2000).describe("the purpose of the flow").optional(),
    subject: name.describe("the source's name for the work: feature, task, story, ticket"),
    aliases: z
      .array(z.string().regex(FLOW_NAME_PATTERN))
      .max(10)
      .describe("other names by which people start the flow: passrail run ALIAS")
      .optional(),
    agent_input: z
      .string()
      .regex(/^[a-z_][a-z0-9_]{0,39}(\.[a-z_][a-z0-9_]{0,39}){1,3}$/)
      .describe("the fact that names a single agent: passrail run AGENT starts the flow with it")
      .optional(),
    choose: z
      .strictObject({
        family: z
          .string()
          .regex(FLOW_NAME_PATTERN)
          .describe("a name for several flows: `passrail run <family>` starts the one whose `when` holds")
          .optional(),
        when: condition,
      })
      .describe("which work this flow is for; other work is refused")
      .optional(),
    inputs: z
      .record(z.string().regex(/^[a-z_][a-z0-9_]{0,39}\.[a-z_][a-z0-9_]{0,39}$/), input)
      .describe("fact -> the file or folder that a start must or may name")
      .optional(),
    preflight: z
      .array(z.enum(["repository", "base-branch", "clean", "committed"]))
      .min(1)
      .describe(
        "what must hold before a run starts: repository (the project is one, with a commit; the run never falls back to working in place), and for every repository base-branch, clean (no uncommitted file) or committed (no uncommitted change; new files are only named), where a person may allow an exception",
      )
      .optional(),
    bundles: z
      .strictObject({
        rules: z
          .array(z.string().min(1).max(200))
          .max(20)
          .describe("files with the project's rules; those that exist are copied at the start")
          .optional(),
        max_lines: z
          .record(name, z.int().min(10).max(100_000))
          .describe("bundle -> lines above which Passrail warns")
          .optional(),
      })
      .describe("what the builtin `bundles` puts together")
      .optional(),
    words: words.describe("the source's words and their meaning in Passrail").optional(),
    counters: z.record(name, counter).describe("name -> budget of a loop").optional(),
    escalation: escalation.describe("how the flow escalates to people").optional(),
    workspace: workspace.describe("where attempts work").optional(),
    merge: z
      .strictObject({
        default: z.string().describe("the mode where neither MERGE_MODE nor merge.mode of the settings names one"),
        modes: z
          .record(z.string(), z.string())
          .describe("mode -> pr, push, land, or a rule such as: pr if terminal else push"),
        fragments: z.record(z.string(), z.string()).describe("mode -> fragment of the prompt"),
      })
      .describe("how finished work leaves the workspace")
      .optional(),
    pick: z
      .strictObject({
        needs: z
          .array(z.enum(PICK_NEEDS))
          .describe("conditions for a ticket to start; only depends-on-satisfied can be left out (default: all three)")
          .optional(),
        satisfied: z
          .array(word)
          .describe("ticket statuses that satisfy a dependency (default: Done, Canceled)")
          .optional(),
        skip: z
          .array(word)
          .describe(
            "ticket statuses that are left to a person (default: Blocked, Needs Human Review, Needs Human Decision)",
          )
          .optional(),
      })
      .describe("which waiting tickets start")
      .optional(),
    checks: checksKey(duration).optional(),
    enter: z.record(z.string(), entry).describe("status of the ticket -> first stage").optional(),
    handoffs: z
      .strictObject({
        entry: name.describe("who sends the first handoff").optional(),
        exit: name.describe("who gets the last one").optional(),
        stale_after: duration.describe("an open handoff is stale after this (default 30m)").optional(),
        lease: z
          .union([duration, z.literal("none")])
          .describe(
            "an agent outside that has taken work and gives no sign of life for this long loses it: the work can be taken again (default none)",
          )
          .optional(),
        takebacks: z
          .int()
          .min(0)
          .max(20)
          .describe("how often in a row that happens before a person is asked (default 2)")
          .optional(),
        path: z
          .string()
          .min(1)
          .max(300)
          .describe(
            "handoff-file: where agents write and read handoffs in the workspace, such as handoffs/{feature}/{role}-{iteration}.md (default: outside it)",
          )
          .optional(),
        commit: z
          .boolean()
          .describe("whether those files stay in the workspace and are committed with the work (default false)")
          .optional(),
      })
      .describe("handoffs: their files, and the handoffs API")
      .optional(),
    log: z
      .strictObject({
        start: z.string().describe("a stage begins").optional(),
        end: z.string().describe("a stage is done").optional(),
        done: z.string().describe("the run is done").optional(),
      })
      .describe("lines of the run's log; {n}, {total} and {agent} are filled in")
      .optional(),
    defaults: z
      .strictObject({
        ...sharedKeys,
        prompt: z.array(z.string()).describe("the parts of every prompt in order").optional(),
        branch: z.string().describe("the same as workspace.branch").optional(),
      })
      .describe("defaults for every stage that does not set them")
      .optional(),
    max_interruptions: z
      .int()
      .min(1)
      .max(100)
      .describe("restarts of one attempt after crashes before the run stops (default 10)")
      .optional(),
    allow_ungated: z.boolean().describe("the flow may end without a person having looked at the last work").optional(),
    stages: z.array(stage).min(1).max(100).describe("the stages in order"),
  })
  .describe("A Passrail flow: the graph that a ticket goes through");

export type FlowFile = z.infer<typeof flowFileSchema>;
export type StageFile = FlowFile["stages"][number];
export type RouteFile = z.infer<typeof routeObject>;
