// The messages of a worker to its node. All of them are doubtful: they are bounded here, and their meaning is judged
// like the report of any other attempt.

import { z } from "zod";
import { observedSchema } from "./observed.ts";
import { reportSchema, usageSchema } from "./report.ts";

/** Grows with every change that an older version would misunderstand: node and worker must speak the same one. */
export const WORKER_PROTOCOL = 2;

export const LABEL_PATTERN = /^[a-z0-9][a-z0-9._-]{0,31}$/u;
export const WORKER_NAME_PATTERN = /^[a-z0-9][a-z0-9._-]{0,47}$/u;
export const CLAIM_PATTERN = /^[0-9a-f]{24}$/u;
const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/u;

/** Bytes of a file in one message, before they are written as base64. */
export const CHUNK_BYTES = 384 * 1024;
const DATA_CHARS = Math.ceil(CHUNK_BYTES / 3) * 4;

const label = z.string().regex(LABEL_PATTERN);

/** Sent with every request for work, so that the node loses nothing in a restart. */
export const helloSchema = z.strictObject({
  name: z.string().regex(WORKER_NAME_PATTERN),
  /** Of this process: a worker that was started again has none of its earlier claims. */
  instance: z.string().regex(/^[0-9a-f]{32}$/u),
  version: z.string().min(1).max(50),
  protocol: z.int(),
  slots: z.int().min(1).max(100),
  labels: z.array(label).max(32),
  startedAt: z.iso.datetime(),
});
export type WorkerHello = z.infer<typeof helloSchema>;

/** A claim that the worker holds, and the last message of this node that it has. */
export const heldClaimSchema = z.strictObject({ claim: z.string().regex(CLAIM_PATTERN), seen: z.int().min(0) });
export type HeldClaim = z.infer<typeof heldClaimSchema>;

const text = (most: number) => z.string().max(most);

const questionSchema = z.discriminatedUnion("about", [
  z.strictObject({ about: z.literal("settled") }),
  z.strictObject({ about: z.literal("cached-check"), key: text(200), now: text(40) }),
  z.strictObject({
    about: z.literal("permission"),
    question: z.strictObject({
      request: text(200),
      tool: text(200),
      what: text(8000),
      why: text(8000),
      until: text(40),
    }),
  }),
  z.strictObject({ about: z.literal("permission-expired"), request: text(200) }),
  z.strictObject({
    about: z.literal("question"),
    question: z.strictObject({ request: text(200), question: text(10_000), until: text(40) }),
  }),
  z.strictObject({ about: z.literal("question-expired"), request: text(200) }),
]);

/** The name of a file in the record of an attempt; the node makes the path. */
export const RECORD_NAME = /^(?:result\/)?[a-z0-9][a-z0-9._-]{0,99}$/u;

export const fromWorkerSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("note"), facts: z.record(text(60), z.json()) }),
  z.strictObject({ type: z.literal("heard"), number: z.int(), way: z.enum(["now", "turn", "attempt"]) }),
  z.strictObject({ type: z.literal("ask"), ask: z.int(), question: questionSchema }),
  z.strictObject({ type: z.literal("check-offered") }),
  z.strictObject({ type: z.literal("checked"), check: z.int(), report: reportSchema }),
  z.strictObject({ type: z.literal("spent"), reported: usageSchema }),
  z.strictObject({ type: z.literal("observed"), event: observedSchema }),
  /** Bytes of a file of the record. `replace`: everything before them is gone. */
  z.strictObject({
    type: z.literal("file"),
    name: z.string().regex(RECORD_NAME),
    offset: z.int().min(0),
    replace: z.boolean(),
    data: z.base64().max(DATA_CHARS),
  }),
  /** A part of the bundle with the attempt's commits; the report comes after the last one. */
  z.strictObject({ type: z.literal("commits"), offset: z.int().min(0), data: z.base64().max(DATA_CHARS) }),
  z.strictObject({
    type: z.literal("report"),
    report: reportSchema,
    /** The branch after the attempt, and the same with what was left uncommitted; null: it never had a workspace. */
    tip: z.string().regex(COMMIT).nullable(),
    work: z.string().regex(COMMIT).nullable(),
    /** Why its work cannot be handed on, though there is some. */
    problem: text(2000).nullable(),
  }),
  /** The worker gives the claim up: its agent was ended without a report. */
  z.strictObject({ type: z.literal("gave-up"), why: text(2000) }),
]);
export type FromWorker = z.infer<typeof fromWorkerSchema>;
export type WorkerQuestion = z.infer<typeof questionSchema>;
