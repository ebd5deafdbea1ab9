// A stage that will run, as people see it before it does.

import { z } from "zod";

export const plannedStageSchema = z
  .object({
    stage: z.string(),
    track: z.string(),
    kind: z.string(),
    who: z.string().meta({ description: "the agent that works there, or the person who decides" }),
    runner: z.string().nullable(),
    model: z.string().nullable(),
    when: z.string().nullable().meta({ description: "it runs only if this holds then" }),
    reads: z.array(z.string()),
    produces: z.array(z.string()).meta({ description: "the headings that its handoff must have" }),
    isMetered: z.boolean().meta({ description: "its runner reports a cost" }),
    usd: z.number().nullable().meta({ description: "the usual cost of an attempt before" }),
  })
  .meta({ id: "PlannedStage" });
