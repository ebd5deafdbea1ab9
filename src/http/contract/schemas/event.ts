// One stored event on the wire; the same in history and as the data of the live stream.

import { z } from "zod";
import { time } from "./common.ts";

const eventSchema = z
  .object({
    seq: z
      .int()
      .meta({ description: "grows over the whole store; the cursor of history and the id of the live stream" }),
    runId: z.string(),
    subjectId: z.string(),
    version: z.int().meta({ description: "the number of the run's events up to this one" }),
    event: z
      .looseObject({
        type: z.string(),
        at: time,
        actor: z.string().meta({ description: "engine, system, agent:NAME or human:NAME" }),
      })
      .meta({ description: "the event, with the fields of its type" }),
  })
  .meta({ id: "Event" });

export const eventPageSchema = z.object({
  events: z.array(eventSchema),
  next: z.int().nullable().meta({ description: "pass it as `after` for the next page; null at the current end" }),
});
