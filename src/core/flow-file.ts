// The flow file as people write it: one zod schema is the source of the types, of the JSON Schema for editors
// and of the reference table in the docs. It says what may be written; flow.ts says what it means.

import { z } from "zod";

export const NAME_PATTERN = /^[A-Za-z][A-Za-z0-9-]{0,47}$/;
export const DURATION_PATTERN = /^[1-9][0-9]{0,5}(ms|s|m|h|d)$/;

const name = z.string().regex(NAME_PATTERN).describe("letters, digits and dashes, beginning with a letter");
const word = z.string().min(1).max(80).describe("a word of the source, shown and stored as given");
const duration = z.string().regex(DURATION_PATTERN).describe("a duration: 500ms, 30s, 30m, 2h, 1d");
const count = z.int().min(0).max(1000);
const condition = z.string().min(1).max(500).describe("a condition over named facts: plan.new_infra and not input.agent");

const statusRule = z
  .union([
    word,
    z.strictObject({ when: condition, is: word, else: word }).describe("one of two words, picked by a condition"),
  ])
  .describe("the source's status word to show from here on");

const carryNames = z
  .array(z.string().min(1).max(200))
  .describe("what the next attempt gets: issues, questions, answers, comment, note, payload, or a file of the workspace");

const routeObject = z.strictObject({
  goto: z.string().describe("next, self, prev, first, a stage id, agent:<name>, escalate, stop, end, warn").optional(),
  counter: name.describe("the counter that this way uses up").optional(),
  carry: carryNames.optional(),
  status: statusRule.optional(),
  ask: z.string().min(1).describe("who is asked; the run waits for the answer").optional(),
  show: z.string().describe("which part of the report is shown to the person").optional(),
  // oxlint-disable-next-line unicorn/no-thenable -- `then` is the sources' own word in a flow file
  then: z.string().describe("where the answer leads (default self)").optional(),
  choices: z.record(z.string(), z.string()).describe("the answers offered, each with its target").optional(),
  else: z.string().describe("the target when goto finds no stage, or when `once` is used up").optional(),
  only: z.enum(["blamed-tracks"]).describe("re-run only the tracks that the report blames").optional(),
  once: z.boolean().describe("this way can be taken once in a run").optional(),
  write: z.enum(["error"]).describe("write the error into the ticket").optional(),
});
const route = z
  .record(z.string(), z.union([z.string(), routeObject]))
  .describe("verdict, health or answer -> target or way");

const words = z.strictObject({
  verdict: z.record(z.string(), z.enum(["pass", "revise", "redesign", "reject", "exhausted"])).describe("word -> verdict").optional(),
  unknown_verdict: z
    .enum(["failed", "revise", "pass"])
    .describe("what a missing or unknown verdict counts as; pass only where no verdict is expected")
    .optional(),
  health: z.record(z.string(), z.enum(["complete", "blocked", "failed", "incomplete"])).describe("word -> health").optional(),
  unknown_health: z
    .enum(["complete", "failed", "incomplete", "blocked"])
    .describe("what a missing or unknown health counts as")
    .optional(),
  score: z
    .record(z.enum(["pass", "revise", "redesign", "reject"]), z.tuple([z.number(), z.number()]))
    .describe("verdict -> range of scores; the worse of word and score wins")
    .optional(),
  status: z
    .partialRecord(
      z.enum(["queued", "running", "waiting", "question", "choice", "escalated", "completed", "stopped", "failed", "canceled", "stalled"]),
      word,
    )
    .describe("state of the run -> the source's status word")
    .optional(),
});

const counter = z.strictObject({
  max_attempts: z.union([z.int().min(1).max(20), z.literal("none")]).describe("first try included").optional(),
  max_loops: z.int().min(0).max(20).describe("re-runs; the same as max_attempts - 1").optional(),
  scope: z.enum(["run", "track"]).describe("one budget per run, or one per track").optional(),
  same_issues: z.int().min(2).max(20).describe("spent when the same issues come this many times in a row").optional(),
  on_exhausted: z.string().describe("escalate, stop, or a key of the stage's route").optional(),
  column: z.string().describe("the name under which the source shows this counter").optional(),
  resets: z.array(name).describe("counters that start again when this one counts").optional(),
});

const escalation = z.strictObject({
  notify: z.string().describe("who is told").optional(),
  status: word.optional(),
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
  provider: z.string().describe("which sandbox provider").optional(),
  per: z.enum(["run", "stage"]).describe("one workspace for the run, or one per stage").optional(),
  delete: z.enum(["always", "when-merged", "never"]).describe("when the workspace goes; the branch stays").optional(),
});

const result = z.strictObject({
  from: z
    .enum(["json-tail", "file-verdict", "handoff-file", "handoff-api", "prefix", "exit-code", "work-result", "verdict-file", "router"])
    .describe("how the verdict is read"),
  nonce: z.enum(["required", "optional"]).describe("whether a text form must carry this attempt's nonce").optional(),
  require: z.array(z.string()).describe("keys that must be there").optional(),
  echo: z.array(z.string()).describe("keys that must match this run when present").optional(),
  path: z.string().describe("file inside the workspace").optional(),
  fresh: z.boolean().describe("the file must be written by this attempt").optional(),
  health: z.string().optional(),
  reason: z.string().optional(),
  questions: z.string().optional(),
  prefixes: z.record(z.string(), z.string()).describe("text at the start -> word").optional(),
});

const limits = z.strictObject({
  startup: duration.describe("no output at all for this long").optional(),
  idle: duration.describe("no further output for this long").optional(),
  total: duration.describe("the whole attempt").optional(),
  output: z.string().regex(/^[1-9][0-9]{0,5}(kb|mb)$/i).describe("bytes of output kept and allowed: 512kb, 10mb").optional(),
});

const notify = z.strictObject({ to: z.string(), event: z.string() });
const turns = z.union([z.int().min(1), z.strictObject({ alone: z.int().min(1), team: z.int().min(1) })]);

const stageKeys = {
  title: z.string().optional(),
  agent: name.optional(),
  who: z.string().optional(),
  when: condition.optional(),
  status: z.union([statusRule, z.strictObject({ ready: word.optional(), running: word.optional() })]).optional(),
  phase: word.optional(),
  model: z.string().optional(),
  bundle: z.string().optional(),
  turns: turns.optional(),
  timeout: duration.optional(),
  limits: limits.optional(),
  prompt: z.union([z.string(), z.array(z.string())]).optional(),
  prompt_file: z.string().regex(/^[a-z0-9][a-z0-9-]{0,79}$/).optional(),
  vars: z.array(z.string().regex(/^[A-Z][A-Z0-9_]*$/)).optional(),
  reads: z.array(z.string()).optional(),
  writes: z.array(z.string()).optional(),
  produces: z.array(z.string()).optional(),
  payload: z.array(z.string()).optional(),
  inline: z.array(z.string()).optional(),
  gates: z
    .strictObject({
      trust: z.string(),
      per: z.enum(["track"]).optional(),
      when_trusted: z.array(z.string()).optional(),
      otherwise: z.array(z.string()).optional(),
    })
    .optional(),
  result: result.optional(),
  verdicts: z.array(word).min(1).optional(),
  route: route.optional(),
  workspace: workspace.optional(),
  yield: z.boolean().optional(),
  max_tokens: z.int().min(1).optional(),
  carry_on_retry: z.array(z.string()).optional(),
  concurrency: z.int().min(1).max(100).describe("attempts of this agent at once, over all runs").optional(),
  command: z.array(z.string().min(1)).min(1).describe("program and arguments of the command runner, never a shell line").optional(),
  notify: notify.optional(),
};

const template = z.strictObject(stageKeys);

const followUp = z.strictObject({ id: name, ...stageKeys });

const trackStage = z.strictObject({
  id: name,
  kind: z.enum(["agent", "builtin"]).optional(),
  do: z.string().optional(),
  ...stageKeys,
});

const stage = z.strictObject({
  id: name,
  kind: z.enum(["agent", "gate", "builtin", "router", "dynamic", "parallel"]).describe("default: agent").optional(),
  ...stageKeys,
  trigger: z.string().describe("what else may answer this gate").optional(),
  do: z.string().describe("the builtin to run").optional(),
  dir: z.string().optional(),
  first_status: z.string().optional(),
  fallback: z.enum(["rules", "stop"]).describe("router without a model").optional(),
  from: z.array(z.string()).describe("where a dynamic stage gets its list: the first of these facts that is set").optional(),
  templates: z.record(z.string(), template).describe("agent -> stage; * for any other").optional(),
  tracks: z
    .record(name, z.strictObject({ workspace: workspace.optional(), stages: z.array(trackStage).min(1).max(50) }))
    .optional(),
  join: z.union([z.enum(["all-passed"]), z.array(name)]).describe("all tracks, or the named ones").optional(),
  then_in_same_workspace: z.array(followUp).max(10).optional(),
  reach: z.enum(["enter-only"]).describe("entered only by `enter`, never by next").optional(),
});

const entry = z.union([z.string(), z.array(z.strictObject({ when: condition.optional(), stage: name })).min(1)]);

export const flowFileSchema = z
  .strictObject({
    flow: name,
    version: z.int().min(1).max(10_000),
    title: z.string().max(200).optional(),
    description: z.string().max(2000).optional(),
    subject: name.describe("what the source calls the work: feature, task, story, ticket"),
    choose: z.strictObject({ when: condition }).describe("when this flow is the one to take").optional(),
    words: words.optional(),
    counters: z.record(name, counter).optional(),
    escalation: escalation.optional(),
    workspace: workspace.optional(),
    merge: z
      .strictObject({
        env: z.string(),
        default: z.string(),
        modes: z.record(z.string(), z.string()),
        fragments: z.record(z.string(), z.string()),
      })
      .optional(),
    pick: z
      .strictObject({
        from: z.string(),
        needs: z.array(z.string()),
        satisfied: z.array(word),
        skip: z.array(word),
        workers: z.strictObject({ env: z.string(), default: count }),
        idle_sleep: duration,
        unknown_status: z.enum(["block", "Backlog"]),
      })
      .optional(),
    enter: z.record(z.string(), entry).describe("status of the subject -> first stage").optional(),
    handoffs: z
      .strictObject({
        entry: name.optional(),
        exit: name.optional(),
        one_pending_per: z.array(z.string()).optional(),
        stale_after: duration.optional(),
        on_start: z.enum(["timeout-stale"]).optional(),
      })
      .optional(),
    log: z.strictObject({ start: z.string(), end: z.string(), done: z.string() }).partial().optional(),
    defaults: z
      .strictObject({
        ...stageKeys,
        agent: z.undefined().optional(),
        isolation: z
          .strictObject({ context: z.string(), reads: z.string(), may_ask_human: z.boolean() })
          .partial()
          .optional(),
        branch: z.string().optional(),
      })
      .optional(),
    max_interruptions: z.int().min(1).max(100).describe("restarts of one attempt after crashes before the run stops").optional(),
    allow_ungated: z.boolean().describe("this flow may merge or end without a person").optional(),
    stages: z.array(stage).min(1).max(100),
  })
  .describe("A Passrail flow: the graph that a ticket goes through");

export type FlowFile = z.infer<typeof flowFileSchema>;
export type StageFile = FlowFile["stages"][number];
export type RouteFile = z.infer<typeof routeObject>;
