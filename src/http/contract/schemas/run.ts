// A run on the wire: a row of a list, and the details of one. The canonical status and the source's word always appear together.

import { z } from "zod";
import { findingSchema } from "./finding.ts";
import { evidenceTableSchema } from "./evidence-table.ts";
import { HEALTHS, VERDICTS } from "../../../core/flow/outcome.ts";
import { MESSAGE_CHARS } from "../../../core/run/message.ts";
import { RUN_STATES } from "../../../core/view/state-words.ts";
import { WORKSPACE_MODES } from "../../../core/flow/workspace-mode.ts";
import { containment, json, line, REASON_CHARS, stageName, subject, TEXT_CHARS, time, way } from "./common.ts";
import { verbsSchema } from "./loose-end.ts";
import { handoffSchema } from "./handoff.ts";
import { inboxItemSchema, ITEM_KINDS } from "./inbox.ts";
import { plannedStageSchema } from "./planned-stage.ts";

export const RUN_STATUSES = ["running", "waiting", "stopped", "completed", "canceled"] as const;

export const runSummarySchema = z
  .object({
    id: z.string(),
    number: z.int(),
    flow: z.string(),
    subject,
    status: z.enum(RUN_STATUSES),
    word: z.string().meta({ description: "the status in the words of the flow's source" }),
    stage: z.string().nullable(),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: "RunSummary" });

export const runStateSchema = z
  .object({
    is: z.enum(RUN_STATES),
    text: z.string().meta({ description: "who does what, or what it waits for" }),
    until: time.nullable().meta({ description: "held until then" }),
  })
  .meta({ id: "RunState", description: "what is true of the run now; `working` only where an attempt works" });

const usage = z.object({
  usd: z.number().nullable(),
  inputTokens: z.number().nullable(),
  outputTokens: z.number().nullable(),
  cachedTokens: z.number().nullable(),
});

export const attemptSchema = z
  .object({
    stage: z.string(),
    attempt: z.int(),
    track: z.string(),
    status: z.enum(["ready", "running", "done", "interrupted", "canceled"]),
    readyAt: time,
    startedAt: time.nullable(),
    endedAt: time.nullable(),
    health: z.enum(HEALTHS).nullable(),
    verdict: z.enum(VERDICTS).nullable(),
    word: z.string().nullable(),
    score: z.number().nullable(),
    summary: z.string().nullable(),
    reason: z.string().nullable(),
    issues: z.array(json),
    questions: z.array(z.string()),
    exitCode: z.int().nullable(),
    commits: z.object({ from: z.string(), to: z.string() }).nullable(),
    branch: z.string().nullable(),
    workspace: z.string().nullable().meta({ description: "the folder it worked in" }),
    worker: z
      .string()
      .nullable()
      .meta({ description: "the worker that carries it out; null: the machine of the daemon" }),
    containment,
    runner: z.string().nullable(),
    model: z.string().nullable(),
    account: z
      .string()
      .nullable()
      .meta({ description: "the pool that paid: API key, cloud, or the program's own login; null where unknown" }),
    rung: z
      .string()
      .nullable()
      .meta({ description: "which rung of its ladder of runners it took, and why; null for a stage without one" }),
    usage: usage.nullable(),
    sparedTokens: z.int().nullable().meta({
      description: "the tokens of one more request, which its program did not make because it was ended at its verdict",
    }),
    reportedMs: z
      .number()
      .nullable()
      .meta({ description: "the time that the agent's program says it took; null without a report" }),
  })
  .meta({ id: "Attempt" });

export const stageSchema = z
  .object({
    track: z.string(),
    id: z.string(),
    kind: z.string(),
    who: z.string().meta({ description: "the agent that works there, or the person who decides" }),
    state: z.enum(["open", "ready", "running", "waiting", "taken", "stopped", "done", "failed"]),
    ways: z.array(way),
    attempts: z.array(attemptSchema),
  })
  .meta({ id: "Stage" });

const runEndSchema = z
  .object({
    state: z.enum(["landed", "proposed", "pushed", "kept", "gone", "in-place", "none", "imported"]).meta({
      description:
        "landed: the target holds the work; proposed: a pull request waits; pushed: only the branch left; kept: the branch has it, nothing was merged; gone: the branch was removed; in-place: it is in the project's own folder; none: there is no work; imported: the run came from a file, and never lands",
    }),
    branch: z.string().nullable(),
    commits: z.int().meta({ description: "the number of commits that the run's attempts added" }),
    tip: z.string().nullable(),
    target: z.string().nullable().meta({ description: "where it went; null unless it left the branch" }),
    landedAs: z.string().nullable().meta({ description: "the commit in the target" }),
    url: z.string().nullable().meta({ description: "the pull request" }),
    text: z.string().meta({ description: "all of it in sentences" }),
    verbs: verbsSchema,
    commands: z
      .array(
        z.object({
          act: z.enum(["look", "merge", "pull-request", "discard", "restore", "commit"]),
          command: z.string(),
        }),
      )
      .meta({ description: "the exact commands that land, propose, inspect, discard or restore it" }),
  })
  .meta({ id: "RunEnd" });

const takenSchema = z
  .object({
    stage: z.string(),
    by: z.string(),
    since: time,
    dir: z.string().nullable().meta({ description: "the folder to work in; null while the agent still ends" }),
    command: z
      .array(z.string())
      .nullable()
      .meta({ description: "continues the agent's session in that folder; null without a session" }),
    env: z.record(z.string(), z.string()).meta({ description: "variables that the program needs to find the session" }),
    line: z.string().meta({ description: "the same as one line for a shell" }),
    note: z.string().meta({ description: "why there is no command; empty if there is one" }),
    refused: z.string().nullable().meta({ description: "why the last handback failed" }),
  })
  .meta({ id: "Takeover" });

export const runDetailSchema = z
  .object({
    ...runSummarySchema.shape,
    subject: z.object({ ...subject.shape, body: z.string() }),
    version: z.int().meta({ description: "the number of the run's events" }),
    flowHash: z.string(),
    paused: z.boolean(),
    reason: z.string().nullable().meta({ description: "why it is stopped or canceled" }),
    landedLate: z
      .object({
        commit: z.string(),
        branch: z.string(),
        target: z.string(),
        url: z.string().nullable().meta({ description: "the pull request, if one was opened" }),
        undoneBy: z.string().nullable().meta({ description: "the commit that took it back; null if none did" }),
      })
      .nullable()
      .meta({ description: "where the work of a canceled run landed nevertheless; null if it did not" }),
    endedAt: time.nullable(),
    resumesAt: time.nullable().meta({ description: "when it resumes, if it waits for a time" }),
    counters: z.array(z.object({ key: z.string(), loops: z.int(), max: z.int().nullable() })),
    loops: z
      .array(
        z.object({
          stage: z.string(),
          track: z.string(),
          role: z.string().meta({ description: "who judges there" }),
          counter: z.string(),
          iteration: z.int().meta({ description: "0 before the first; a counter that was set back begins again at 1" }),
          max: z.int().nullable().meta({ description: "null without a limit" }),
          backTo: z.string().meta({ description: "where it sends the work" }),
        }),
      )
      .meta({ description: "the stages that can send work back, in the order of the flow" }),
    spent: z
      .object({
        attempts: z.int(),
        usd: z.number(),
        unknownUsd: z.int(),
        tokens: z.number(),
        unknownTokens: z.int(),
      })
      .nullable(),
    limit: z
      .object({ usd: z.number().nullable(), tokens: z.number().nullable() })
      .meta({ description: "what the whole run may cost, with people's changes; null without a limit" }),
    messages: z
      .array(
        z.object({
          number: z.int(),
          stage: z.string(),
          from: z.string(),
          text: z.string(),
          at: time,
          isHeard: z.boolean().meta({ description: "an attempt has it" }),
          became: z.string().meta({ description: "how it reached the agent, or when it will" }),
        }),
      )
      .meta({
        description: "what people said to agents and no finished attempt has dealt with; older ones are events",
      }),
    findings: z.array(findingSchema).meta({ description: "of the stages that judge, oldest first" }),
    stages: z.array(stageSchema),
    items: z.array(inboxItemSchema),
    evidence: evidenceTableSchema,
    handoffs: z.array(handoffSchema),
    state: runStateSchema,
    takeover: takenSchema.nullable().meta({ description: "the stage that a person has taken over; null without one" }),
    end: runEndSchema.nullable().meta({ description: "where the work is; null while the run works or waits" }),
  })
  .meta({ id: "Run" });

export const waitsFor = z
  .array(z.enum(ITEM_KINDS))
  .meta({ description: "the kinds of the inbox items that it waits for" });

/** A row of the list: the summary, and facts for a person who scans many runs. */
const runRowSchema = z
  .object({
    ...runSummarySchema.shape,
    state: runStateSchema,
    paused: z.boolean(),
    agent: z.string().nullable().meta({ description: "the working agent, or the person or agent it waits for" }),
    why: z.string().nullable().meta({ description: "the reason why it waits, or why it ended without being done" }),
    waitsFor,
    since: time.meta({ description: "since when it has this status" }),
    loop: z
      .object({ key: z.string(), loops: z.int(), max: z.int().nullable() })
      .nullable()
      .meta({ description: "the counter with the most loops; null before the first loop" }),
    spent: z.object({ usd: z.number(), unknownUsd: z.int() }).nullable(),
  })
  .meta({ id: "RunRow" });

export const runPageSchema = z.object({
  runs: z.array(runRowSchema),
  next: z.int().nullable().meta({ description: "pass it as `before` for the next page; null at the end" }),
});

const amount = (most: number) => z.number().positive().max(most);

const TITLE = "expected 1 to 200 characters, not only spaces, no control characters";

export const startRunSchema = z
  .strictObject({
    flow: z.string().max(100).meta({
      description:
        "a flow, an alias such as pipeline, a family of flows of which the input chooses one, or an agent that works alone",
    }),
    project: z
      .string()
      .max(64)
      .optional()
      .meta({ description: "a registered project; default: the folder that the daemon works on" }),
    title: line(200, TITLE),
    body: z.string().max(TEXT_CHARS).default(""),
    id: z
      .string()
      .min(1)
      .max(200)
      .refine((id) => !/[\s\p{C}]/u.test(id), "no spaces and no control characters")
      .optional()
      .meta({ description: "the ticket's id; generated if missing" }),
    input: z
      .record(z.string().max(200), json)
      .default({})
      .meta({ description: "facts for the flow's conditions and prompts, by dotted name" }),
    workspace: z.enum(WORKSPACE_MODES).optional(),
    allow: z
      .array(z.enum(["dirty", "branch"]))
      .max(2)
      .optional()
      .meta({ description: "start although files are not committed, or from another branch than the base" }),
    repositories: z.array(z.string().min(1).max(500)).max(20).optional().meta({
      description:
        "folders of the project that are repositories of their own and part of the work; default: those of the settings",
    }),
    agents: z
      .record(z.string().min(1).max(100), z.string().min(1).max(2000))
      .refine((agents) => Object.keys(agents).length <= 100, "expected at most 100 agents")
      .optional()
      .meta({
        description:
          "the runner of a stage, an agent or * in this run; overrides the settings: claude, outside, or a command",
      }),
    models: z
      .record(z.string().min(1).max(100), z.string().min(1).max(200))
      .refine((models) => Object.keys(models).length <= 100, "expected at most 100 models")
      .optional()
      .meta({ description: "the model of a stage, an agent or * in this run; overrides the settings" }),
    budget: z
      .strictObject({ usd: amount(1_000_000).optional(), tokens: amount(1_000_000_000_000).optional() })
      .optional()
      .meta({ description: "what the whole run may cost, instead of the settings' budget of a run" }),
  })
  .meta({ id: "StartRun" });

/** A start without its title: no check depends on the title. */
export const previewRunSchema = startRunSchema.omit({ title: true, body: true, id: true }).meta({ id: "PreviewRun" });

export const runPreviewSchema = z
  .object({
    flow: z.string().meta({ description: "the flow that would run" }),
    title: z.string(),
    stated: z
      .array(
        z.object({
          fact: z.string(),
          label: z.string().meta({ description: "the label of the line in the file" }),
          value: json.meta({ description: "null if no file says it" }),
        }),
      )
      .meta({ description: "what was read from the files" }),
    files: z.array(z.object({ name: z.string(), path: z.string(), sha256: z.string(), bytes: z.int() })),
    repositories: z.array(
      z.object({
        name: z.string(),
        dir: z.string(),
        branch: z.string().nullable(),
        base: z.string().nullable(),
        commit: z.string(),
        dirty: z.int(),
      }),
    ),
    plan: z
      .object({
        stages: z.array(plannedStageSchema),
        usd: z.number().nullable().meta({ description: "one attempt of each stage; null if no cost is known" }),
        unknown: z.int().meta({ description: "stages whose cost is unknown" }),
      })
      .meta({ description: "what would run" }),
    workspace: z.string().meta({ description: "where agents would work" }),
    limit: z
      .object({ usd: z.number().nullable(), tokens: z.number().nullable() })
      .meta({ description: "what the run may cost in all; null without a limit" }),
    refused: z
      .object({
        message: z.string(),
        needs: z.array(z.enum(["dirty", "branch"])).meta({ description: "pass these as `allow` to start anyway" }),
      })
      .nullable()
      .meta({ description: "why it does not start until a person allows it; null if it starts" }),
  })
  .meta({ id: "RunPreview" });

export const startedSchema = z.object({ run: runSummarySchema });

const reason = z.string().max(REASON_CHARS);
export const reasonSchema = z.strictObject({ reason: reason.default("") });
export const stopSchema = z.strictObject({ stage: stageName.optional(), reason: reason.default("") });
export const nothingSchema = z.strictObject({});
export const retrySchema = z.strictObject({
  stage: stageName.optional(),
  note: reason.default(""),
  agents: z
    .record(z.string().min(1).max(100), z.string().min(1).max(2000))
    .refine((agents) => Object.keys(agents).length <= 100, "expected at most 100 agents")
    .optional()
    .meta({ description: "other runners for stages or agents, for the rest of the run: codex, or a command" }),
  models: z
    .record(z.string().min(1).max(100), z.string().min(1).max(200))
    .refine((models) => Object.keys(models).length <= 100, "expected at most 100 models")
    .optional()
    .meta({ description: "other models for stages, agents or *, for the rest of the run" }),
});
export const rerunSchema = z.strictObject({ stage: stageName, note: reason.default("") });
export const steerSchema = z.strictObject({
  stage: stageName.optional().meta({ description: "where several are current" }),
  text: z.string().min(1).max(MESSAGE_CHARS).meta({ description: "what the agent is told, in a person's name" }),
});
export const takeoverSchema = z.strictObject({
  stage: stageName.optional().meta({ description: "where several are current" }),
});
export const handbackSchema = z.strictObject({
  note: z
    .string()
    .max(MESSAGE_CHARS)
    .default("")
    .meta({ description: "what was done and what remains, for the agent" }),
  discard: z.boolean().default(false).meta({ description: "continue without the changes; a ref keeps them" }),
});
export const skipSchema = z.strictObject({ stage: stageName.optional(), reason });

export const controlledAllSchema = z.object({
  changed: z.array(z.int()).meta({ description: "the numbers of the runs that this request changed" }),
  refused: z
    .array(z.object({ number: z.int(), why: z.string() }))
    .meta({ description: "runs that could not be changed, mostly because they ended meanwhile" }),
});
export const changeBudgetSchema = z
  .strictObject({
    usd: z.number().positive().max(1_000_000).optional(),
    tokens: z.int().positive().max(1_000_000_000_000).optional(),
  })
  .meta({ id: "ChangeBudget", description: "the new limits of the whole run; what is absent stays" });
export const changedBudgetSchema = z.object({
  limit: z.object({ usd: z.number().nullable(), tokens: z.number().nullable() }),
  changed: z.boolean().meta({ description: "false if the limits were so already" }),
});
export const controlledSchema = z.object({
  run: runSummarySchema,
  changed: z.boolean().meta({ description: "false if it was already in that state" }),
});

/** Source 000's record of a feature, under that source's names. */
export const featureSchema = z
  .object({
    status: z.string(),
    revision_count: z.int(),
    current_agent: z.string().nullable(),
    pipeline_log: z.array(
      z.object({
        timestamp: time,
        agent: z.string(),
        stage: z.string(),
        verdict: z.string(),
        issues: z.array(json).optional(),
        revision_loop: z.int().optional(),
        comment: z.string().optional().meta({ description: "what a person wrote with a decision, or answered" }),
      }),
    ),
  })
  .meta({ id: "Feature" });

export const ATTEMPT_FILES = ["prompt", "output", "events", "diff", "verdict", "handoff"] as const;

/** `check-test` is the output of the check `test`. */
export const attemptFileSchema = z.union([
  z.enum(ATTEMPT_FILES),
  z.templateLiteral(["check-", z.string().regex(/^[A-Za-z][A-Za-z0-9-]{0,47}$/)]),
]);

export const filePartSchema = z
  .object({
    file: attemptFileSchema,
    size: z.int().meta({ description: "bytes of the whole file" }),
    offset: z.int(),
    next: z.int().nullable().meta({ description: "the offset to continue from; null at the current end of the file" }),
    wholeTo: z.int().meta({
      description: "the offset behind the last whole line of this part: read on from here to follow a file that grows",
    }),
    text: z.string(),
  })
  .meta({ id: "FilePart" });
