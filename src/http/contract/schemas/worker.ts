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

export const workerListSchema = z.object({ workers: z.array(workerSchema) });
