// The record that carries one attempt's outcome to the next stage.

import { z } from "zod";
import { time } from "./common.ts";

export const handoffSchema = z
  .object({
    id: z.int(),
    runId: z.string(),
    number: z.int(),
    track: z.string(),
    subjectId: z.string(),
    fromStage: z.string().nullable(),
    fromAgent: z.string().nullable(),
    fromAttempt: z.int(),
    toStage: z.string().nullable(),
    toAgent: z.string().nullable(),
    loop: z.int(),
    state: z.enum(["pending", "accepted", "done", "rejected", "withdrawn", "expired"]),
    rejectionReason: z.string().nullable(),
    createdAt: time,
    processedAt: time.nullable(),
  })
  .meta({ id: "Handoff" });
