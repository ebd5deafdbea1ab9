// A ticket on the wire: the work that runs are about, known by its own id.

import { z } from "zod";
import { time } from "./common.ts";
import { featureSchema, RUN_STATUSES, runSummarySchema } from "./run.ts";

const shared = {
  id: z.string(),
  title: z.string(),
  runs: z.int().meta({ description: "how many there have been" }),
  newest: z.object({ id: z.string(), number: z.int() }).meta({ description: "the newest run; what follows is its" }),
  flow: z.string(),
  status: z.enum(RUN_STATUSES),
  word: z.string().meta({ description: "the status in the words of the flow's source" }),
  agent: z.string().nullable().meta({ description: "who works on it now" }),
  loops: z.int().meta({ description: "how often its counters have counted" }),
  cost: z.object({
    usd: z.number(),
    unknownUsd: z.int().meta({ description: "attempts whose cost nobody knows; they are not in the sum" }),
  }),
  updatedAt: time,
};

const ticketSummarySchema = z.object(shared).meta({ id: "TicketSummary" });

export const ticketPageSchema = z.object({
  tickets: z.array(ticketSummarySchema),
  next: z.int().nullable().meta({ description: "give it as `before` for the next page; null at the end" }),
});

export const ticketSchema = z
  .object({
    ...shared,
    body: z.string(),
    feature: featureSchema.meta({ description: "the newest run as a feature's record" }),
    history: z.array(runSummarySchema).meta({ description: "its runs, newest first, at most 200" }),
  })
  .meta({ id: "Ticket" });
