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
  stage: z.string().nullable().meta({ description: "where it is; null after the end" }),
  agent: z.string().nullable().meta({ description: "who works on it now" }),
  paused: z.boolean(),
  why: z.string().nullable().meta({ description: "what it waits for, or why it ended without being done" }),
  waits: z
    .array(
      z.object({
        id: z.string(),
        kind: z.enum(["gate", "question", "choice", "escalation", "budget"]),
        stage: z.string(),
        who: z.string(),
        answers: z.array(z.string()).meta({ description: "empty where a text is asked for" }),
      }),
    )
    .meta({ description: "the inbox items that it waits for" }),
  loops: z.int().meta({ description: "how often its counters have counted" }),
  counters: z
    .array(z.object({ key: z.string(), loops: z.int(), max: z.int().nullable() }))
    .meta({ description: "those of its counters that have counted" }),
  cost: z.object({
    usd: z.number(),
    unknownUsd: z.int().meta({ description: "attempts whose cost nobody knows; they are not in the sum" }),
  }),
  createdAt: time,
  since: time.meta({ description: "since when it stands like this" }),
  updatedAt: time,
  activeAt: time.meta({ description: "its last event, or the last word of an agent that works" }),
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
