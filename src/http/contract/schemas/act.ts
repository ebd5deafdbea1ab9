// The acts that a run allows now, and the reason why it refuses the others: one list for menus.

import { z } from "zod";

const ACTS = ["pause", "stop", "resume", "retry", "rerun", "skip", "takeover", "handback", "cancel", "undo"] as const;

const actSchema = z
  .object({
    act: z.enum(ACTS),
    stage: z.string().nullable().meta({ description: "the stage it applies to; null for the run as a whole" }),
    why: z.string().nullable().meta({ description: "why it is not possible now; null if it is" }),
  })
  .meta({ id: "Act" });

export const actListSchema = z.object({ acts: z.array(actSchema) });

/** How many runs one look may ask about. */
export const ACTS_OF_AT_MOST = 100;

export const actsOfRunsSchema = z.object({
  runs: z.array(z.object({ run: z.string().meta({ description: "its id" }), acts: z.array(actSchema) })),
});
