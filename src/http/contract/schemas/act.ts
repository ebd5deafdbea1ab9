// What a person can do with a run now, and why not the rest: one list for menus, so that nobody has to try things out.

import { z } from "zod";

const ACTS = ["pause", "resume", "retry", "rerun", "skip", "cancel"] as const;

const actSchema = z
  .object({
    act: z.enum(ACTS),
    stage: z.string().nullable().meta({ description: "which stage it is about; null for the run as a whole" }),
    why: z.string().nullable().meta({ description: "why it cannot be done now; null where it can" }),
  })
  .meta({ id: "Act" });

export const actListSchema = z.object({ acts: z.array(actSchema) });
