// A ticket on the wire: the subject of runs, known by its id. It has a file, or runs, or both; fields whose source is missing are null.

import { z } from "zod";
import { time } from "./common.ts";
import { ITEM_KINDS } from "./inbox.ts";
import { featureSchema, RUN_STATUSES, runSummarySchema, waitsFor } from "./run.ts";
import { TICKET_STATES, ticketFileSchema, ticketProblemSchema } from "./ticket-file.ts";

const shared = {
  id: z.string(),
  title: z.string(),
  runs: z.int().meta({ description: "how many there have been" }),
  newest: z
    .object({ id: z.string(), number: z.int() })
    .nullable()
    .meta({ description: "the newest run, which most of what follows is of; null where none was ever made" }),
  flow: z.string().meta({ description: "of its newest run; without one the flow that it would go through" }),
  status: z.enum(RUN_STATUSES).nullable().meta({ description: "of its newest run" }),
  word: z.string().meta({ description: "the status in the words of the flow's source" }),
  stage: z.string().nullable().meta({ description: "where it is; null after the end" }),
  agent: z.string().nullable().meta({ description: "who works on it now" }),
  paused: z.boolean(),
  why: z.string().nullable().meta({ description: "what it waits for, or why it ended without being done" }),
  waits: z
    .array(
      z.object({
        id: z.string(),
        kind: z.enum(ITEM_KINDS),
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
  createdAt: time.nullable(),
  since: time.nullable().meta({ description: "since when it stands like this" }),
  updatedAt: time.nullable(),
  activeAt: time.nullable().meta({ description: "its last event, or the last word of an agent that works" }),
  file: ticketFileSchema.nullable().meta({ description: "null where the ticket has none" }),
};

const ticketSummarySchema = z.object(shared).meta({ id: "TicketSummary" });

export const ticketPageSchema = z.object({
  tickets: z.array(ticketSummarySchema),
  next: z.string().nullable().meta({ description: "give it as `before` for the next page; null at the end" }),
});

const variantSchema = z
  .object({
    id: z.string(),
    title: z.string(),
    hint: z.string().nullable().meta({ description: "what makes it different" }),
    word: z.string(),
    state: z.enum(TICKET_STATES),
    newest: z.object({ id: z.string(), number: z.int() }).nullable(),
    verdicts: z
      .array(z.object({ stage: z.string(), verdict: z.string() }))
      .meta({ description: "the last of each stage" }),
    changes: z
      .object({ files: z.int(), added: z.int(), removed: z.int() })
      .nullable()
      .meta({ description: "of its newest run; null where it has changed nothing that is known" }),
    cost: z.object({ usd: z.number(), unknownUsd: z.int() }),
  })
  .meta({ id: "TicketVariant" });

const graphSchema = z
  .object({
    nodes: z.array(
      z.object({
        id: z.string(),
        title: z.string().nullable().meta({ description: "null where there is no such ticket" }),
        word: z.string().nullable(),
        state: z.enum(TICKET_STATES).nullable(),
        depth: z.int().meta({ description: "below 0: this ticket needs it; above 0: it needs this ticket" }),
      }),
    ),
    edges: z.array(z.object({ from: z.string(), to: z.string() })).meta({ description: "`from` is done before `to`" }),
    isCut: z.boolean().meta({ description: "there are more than are told" }),
  })
  .meta({ id: "TicketGraph" });

export const ticketSchema = z
  .object({
    ...shared,
    body: z.string(),
    frontMatter: z.string().nullable().meta({ description: "the head of its file as it stands there" }),
    explain: z.array(z.string()).meta({ description: "why it is or is not worked on, line by line" }),
    variants: z.array(variantSchema).meta({ description: "the other tickets of its group, and itself" }),
    graph: graphSchema,
    landed: z
      .object({
        commit: z.string().nullable(),
        branch: z.string().nullable(),
        target: z.string().nullable(),
        how: z.string().nullable(),
      })
      .nullable()
      .meta({ description: "where its work went" }),
    pullRequest: z.string().nullable().meta({ description: "its address" }),
    feature: featureSchema.nullable().meta({ description: "the newest run as a feature's record" }),
    history: z
      .array(runSummarySchema.extend({ waitsFor }))
      .meta({ description: "its runs, newest first, at most 200" }),
  })
  .meta({ id: "Ticket" });

export const ticketProblemsSchema = z.object({
  folder: z.string().nullable().meta({ description: "where tickets are looked for; null where nobody looks" }),
  tickets: z.int().meta({ description: "how many could be read" }),
  problems: z.array(ticketProblemSchema).meta({ description: "at most 500" }),
  isCut: z.boolean(),
});
