// Who executes attempts: this daemon, and the workers that have joined it. Also what a worker and its node say to each other.

import { z } from "zod";
import { CLAIM_PATTERN, heldClaimSchema, helloSchema } from "../../../core/worker/wire.ts";
import { time } from "./common.ts";

const WORKER_STATE = ["open", "cordoned", "draining"] as const;

const workerSchema = z
  .object({
    name: z.string().meta({ description: "local: the daemon itself" }),
    pid: z.int().nullable().meta({ description: "of the daemon; null for a worker on another machine" }),
    version: z.string(),
    startedAt: time,
    slots: z.int().meta({ description: "attempts at once" }),
    labels: z.array(z.string()),
    state: z
      .enum(WORKER_STATE)
      .meta({ description: "cordoned: gets nothing new; draining: and leaves when it is done" }),
    heardAt: time.nullable().meta({ description: "when it was last heard of; null for the daemon itself" }),
    attempts: z.array(
      z.object({ runId: z.string(), stage: z.string(), attempt: z.int(), agent: z.string(), since: time }),
    ),
  })
  .meta({ id: "Worker" });

const bytes = z.number().min(0);

const diskUseSchema = z
  .object({
    measuredAt: time,
    files: bytes.meta({ description: "prompts, logs, events and diffs of attempts" }),
    workspaces: bytes,
    store: bytes,
    logs: bytes,
    other: bytes,
  })
  .meta({ id: "DiskUse" });

export const workerListSchema = z.object({
  workers: z.array(workerSchema),
  disk: diskUseSchema.nullable().meta({ description: "bytes of the state folder when last measured" }),
});

export const steerWorkerSchema = z.strictObject({ state: z.enum(WORKER_STATE) }).meta({ id: "SteerWorker" });
export const steeredWorkerSchema = z.object({ name: z.string(), state: z.enum(WORKER_STATE) });

const node = z.string().regex(/^[0-9a-f]{16}$/u);
/** The code that acts on it checks its meaning. */
const message = z.looseObject({ type: z.string().max(40) });

export const claimParams = z.strictObject({ claim: z.string().regex(CLAIM_PATTERN, "expected the id of a claim") });

export const pollWorkSchema = z
  .strictObject({
    hello: helloSchema,
    node: node.nullable().meta({ description: "the node that `seen` is about" }),
    held: z.array(heldClaimSchema).max(100).meta({ description: "the claims that it carries out" }),
    leaving: z.boolean().meta({ description: "it stops: what it no longer holds starts again elsewhere" }),
  })
  .meta({ id: "PollWork" });

export const polledWorkSchema = z
  .object({
    node: z.string(),
    leaseMs: z.number(),
    state: z.enum(WORKER_STATE),
    claims: z.array(z.object({ claim: z.string(), messages: z.array(z.object({ n: z.int(), message })) })),
    over: z.array(z.string()).meta({ description: "claims that are no longer good" }),
  })
  .meta({ id: "PolledWork" });

export const deliverWorkSchema = z
  .strictObject({
    instance: helloSchema.shape.instance,
    node,
    from: z.int().min(1).meta({ description: "the number of the first message; each number counts once" }),
    messages: z.array(message).max(1000),
  })
  .meta({ id: "DeliverWork" });

export const deliveredWorkSchema = z.object({
  taken: z.int().meta({ description: "the number of the last message that was applied" }),
});

export const fetchCommitsSchema = z
  .strictObject({ known: z.array(z.string().regex(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/u)).max(500) })
  .meta({ id: "FetchCommits" });
