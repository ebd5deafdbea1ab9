// A handoff as source 003 shows it: with the names of that source and three words for its status.

import { z } from "zod";
import { json, time } from "./common.ts";

export const handoffRowSchema = z
  .object({
    id: z.int(),
    story_id: z.string(),
    from_agent: z.string().nullable(),
    to_agent: z.string().nullable(),
    status: z.enum(["pending", "accepted", "rejected"]),
    payload: z
      .record(z.string(), json)
      .nullable()
      .meta({ description: "the sender's payload; the first handoff carries the story itself" }),
    rejection_reason: z.string().nullable(),
    created_at: time,
    processed_at: time.nullable(),
  })
  .meta({ id: "HandoffRow" });

export type HandoffRowShown = z.input<typeof handoffRowSchema>;
