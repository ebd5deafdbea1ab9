// A run on the wire: a row of a list, and the details of one. The canonical status and the source's word always appear together.

import { z } from "zod";
import { HEALTHS, VERDICTS } from "../../../core/flow/outcome.ts";
import { WORKSPACE_MODES } from "../../../core/flow/workspace-mode.ts";
import { json, line, REASON_CHARS, stageName, subject, TEXT_CHARS, time, way } from "./common.ts";
import { handoffSchema } from "./handoff.ts";
import { inboxItemSchema, ITEM_KINDS } from "./inbox.ts";

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
    runner: z.string().nullable(),
    model: z.string().nullable(),
    usage: usage.nullable(),
  })
  .meta({ id: "Attempt" });

export const stageSchema = z
  .object({
    track: z.string(),
    id: z.string(),
    kind: z.string(),
    who: z.string().meta({ description: "the agent that works there, or the person who decides" }),
    state: z.enum(["open", "ready", "running", "waiting", "stopped", "done", "failed"]),
    ways: z.array(way),
    attempts: z.array(attemptSchema),
  })
  .meta({ id: "Stage" });

export const runDetailSchema = z
  .object({
    ...runSummarySchema.shape,
    subject: z.object({ ...subject.shape, body: z.string() }),
    version: z.int().meta({ description: "the number of the run's events" }),
    flowHash: z.string(),
    paused: z.boolean(),
    reason: z.string().nullable().meta({ description: "why it is stopped or canceled" }),
    endedAt: time.nullable(),
    resumesAt: time.nullable().meta({ description: "when it resumes, if it waits for a time" }),
    counters: z.array(z.object({ key: z.string(), loops: z.int(), max: z.int().nullable() })),
    spent: z
      .object({
        attempts: z.int(),
        usd: z.number(),
        unknownUsd: z.int(),
        tokens: z.number(),
        unknownTokens: z.int(),
      })
      .nullable(),
    stages: z.array(stageSchema),
    items: z.array(inboxItemSchema),
    handoffs: z.array(handoffSchema),
  })
  .meta({ id: "Run" });

export const waitsFor = z
  .array(z.enum(ITEM_KINDS))
  .meta({ description: "the kinds of the inbox items that it waits for" });

/** A row of the list: the summary, and facts for a person who scans many runs. */
const runRowSchema = z
  .object({
    ...runSummarySchema.shape,
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

const TITLE = "expected 1 to 200 characters, not only spaces, no control characters";

export const startRunSchema = z
  .strictObject({
    flow: z.string().max(100),
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
    agents: z
      .record(z.string().min(1).max(100), z.string().min(1).max(2000))
      .refine((agents) => Object.keys(agents).length <= 100, "expected at most 100 agents")
      .optional()
      .meta({
        description:
          "the runner of a stage, an agent or * in this run; overrides the settings: claude, outside, or a command",
      }),
  })
  .meta({ id: "StartRun" });

export const startedSchema = z.object({ run: runSummarySchema });

const reason = z.string().max(REASON_CHARS);
export const reasonSchema = z.strictObject({ reason: reason.default("") });
export const nothingSchema = z.strictObject({});
export const retrySchema = z.strictObject({ stage: stageName.optional(), note: reason.default("") });
export const rerunSchema = z.strictObject({ stage: stageName, note: reason.default("") });
export const skipSchema = z.strictObject({ stage: stageName.optional(), reason });

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
      }),
    ),
  })
  .meta({ id: "Feature" });

export const ATTEMPT_FILES = ["prompt", "output", "events", "diff", "verdict", "handoff"] as const;

export const filePartSchema = z
  .object({
    file: z.enum(ATTEMPT_FILES),
    size: z.int().meta({ description: "bytes of the whole file" }),
    offset: z.int(),
    next: z.int().nullable().meta({ description: "the offset to continue from; null at the current end of the file" }),
    text: z.string(),
  })
  .meta({ id: "FilePart" });
