// A finding on the wire: its identity, state and history; and what an agent says about it by its id.

import { z } from "zod";
import { DISPOSITIONS } from "../../../core/flow/outcome.ts";

export const findingSchema = z
  .object({
    id: z.string().meta({ description: "F1, F2 …; unique in the run" }),
    severity: z.string().nullable(),
    where: z.string().nullable().meta({ description: "path:line" }),
    text: z.string(),
    row: z.string().nullable().meta({ description: "the row of the Definition of Done that it is about" }),
    stage: z.string().meta({ description: "who raised it" }),
    track: z.string(),
    iteration: z.int().meta({ description: "the attempt that raised it" }),
    state: z.enum(["open", "accepted", "fixed", "withdrawn"]).meta({
      description: "accepted: still open; a person accepted the work with it",
    }),
    acceptedBy: z.string().nullable(),
    stuck: z.string().nullable().meta({ description: "why a person is asked about it" }),
    history: z.array(
      z.object({
        by: z.string(),
        iteration: z.int(),
        said: z.enum(["fixed", "not fixed", "withdrawn", "note"]),
        text: z.string(),
      }),
    ),
    left: z.int().meta({ description: "older statements that only the events have" }),
  })
  .meta({ id: "Finding" });

export const findingNotesSchema = z
  .array(
    z.strictObject({
      id: z.string().regex(/^F[1-9][0-9]{0,8}$/u),
      state: z.enum(DISPOSITIONS).optional().meta({ description: "a review's; left out in a builder's note" }),
      reason: z.string().max(4096).optional(),
      note: z.string().max(4096).optional(),
    }),
  )
  .max(200)
  .optional()
  .meta({ description: "what is said about earlier findings, by their ids" });
