// The workers that execute attempts.

import { z } from "zod";
import { time } from "./common.ts";

const workerSchema = z
  .object({
    name: z.string(),
    pid: z.int(),
    version: z.string(),
    startedAt: time,
    slots: z.int().meta({ description: "attempts at once" }),
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
