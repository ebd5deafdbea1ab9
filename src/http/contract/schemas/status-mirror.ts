// The database elsewhere that gets the status of features.

import { z } from "zod";
import { time } from "./common.ts";

export const statusMirrorSchema = z.object({
  mirror: z
    .object({
      to: z.string().nullable().meta({ description: "where the rows go; null before the first start" }),
      state: z.enum(["in-step", "copying", "behind"]).meta({ description: "behind: the database cannot be written" }),
      events: z.int().meta({ description: "events whose rows are not written yet" }),
      behindSince: time.nullable(),
      reason: z.string().nullable().meta({ description: "why it is behind" }),
      writtenAt: time.nullable().meta({ description: "when the last row was written" }),
      refused: z
        .array(z.object({ id: z.string(), reason: z.string(), at: time }))
        .meta({ description: "rows that the database does not take, the latest only" }),
    })
    .nullable()
    .meta({ description: "null without the setting status_mirror" }),
});
