// A ticket on the wire: the subject of runs, known by its id. It has a file, or runs, or both; fields whose source is missing are null.

import { z } from "zod";
import { time } from "./common.ts";
import { ITEM_KINDS } from "./inbox.ts";
import { featureSchema, RUN_STATUSES, runStateSchema, runSummarySchema, waitsFor } from "./run.ts";
import { TICKET_STATES, ticketFileSchema, ticketProblemSchema } from "./ticket-file.ts";

const shared = {
  id: z.string(),
  title: z.string(),
  runs: z.int().meta({ description: "the number of its runs" }),
  newest: z
    .object({ id: z.string(), number: z.int() })
    .nullable()
    .meta({ description: "the newest run, which most of the following fields describe; null without a run" }),
  flow: z.string().meta({ description: "of its newest run; without one, the flow that a run would use" }),
  status: z.enum(RUN_STATUSES).nullable().meta({ description: "of its newest run" }),
  state: runStateSchema.nullable().meta({ description: "what is true of its newest run now; null without a run" }),
  word: z.string().meta({ description: "the status in the words of the flow's source" }),
  stage: z.string().nullable().meta({ description: "its current stage; null after the end" }),
  agent: z.string().nullable().meta({ description: "the agent that works on it now" }),
  paused: z.boolean(),
  why: z.string().nullable().meta({ description: "the reason why it waits, or why it ended without being done" }),
  waits: z
    .array(
      z.object({
        id: z.string(),
        kind: z.enum(ITEM_KINDS),
        stage: z.string(),
        who: z.string(),
        answers: z.array(z.string()).meta({ description: "empty if a text is expected" }),
      }),
    )
    .meta({ description: "the inbox items that it waits for" }),
  loops: z.int().meta({ description: "the number of its loops" }),
  counters: z
    .array(z.object({ key: z.string(), loops: z.int(), max: z.int().nullable() }))
    .meta({ description: "its counters above zero" }),
  cost: z.object({
    usd: z.number(),
    unknownUsd: z.int().meta({ description: "attempts with an unknown cost; they are not in the sum" }),
  }),
  createdAt: time.nullable(),
  since: time.nullable().meta({ description: "since when it has this status" }),
  updatedAt: time.nullable(),
  activeAt: time.nullable().meta({ description: "its last event, or the latest output of a working agent" }),
  project: z.string().meta({ description: "the folder that its work is for; empty if nothing says it" }),
  file: ticketFileSchema.nullable().meta({ description: "null if the ticket has none" }),
};

const ticketSummarySchema = z.object(shared).meta({ id: "TicketSummary" });

export const ticketPageSchema = z.object({
  tickets: z.array(ticketSummarySchema),
  next: z.string().nullable().meta({ description: "pass it as `before` for the next page; null at the end" }),
});

const variantSchema = z
  .object({
    id: z.string(),
    title: z.string(),
    hint: z.string().nullable().meta({ description: "its difference from the other variants" }),
    word: z.string(),
    state: z.enum(TICKET_STATES),
    branch: z.string().meta({ description: "independent variants have their own" }),
    newest: z.object({ id: z.string(), number: z.int() }).nullable(),
    checks: z
      .array(z.object({ name: z.string(), state: z.string() }))
      .meta({ description: "what Passrail's own checks found last" }),
    verdicts: z
      .array(z.object({ stage: z.string(), verdict: z.string() }))
      .meta({ description: "the last of each stage" }),
    changes: z
      .object({ files: z.int(), added: z.int(), removed: z.int() })
      .nullable()
      .meta({ description: "of its newest run; null without a known change" }),
    cost: z.object({ usd: z.number(), unknownUsd: z.int() }),
    choice: z
      .object({
        cancels: z.array(z.string()).meta({ description: "the tickets that become Canceled" }),
        why: z.string().nullable().meta({ description: "why it cannot be chosen; null if it can" }),
      })
      .meta({ description: "what choosing it would do" }),
  })
  .meta({ id: "TicketVariant" });

const graphSchema = z
  .object({
    nodes: z.array(
      z.object({
        id: z.string(),
        title: z.string().nullable().meta({ description: "null if there is no such ticket" }),
        word: z.string().nullable(),
        state: z.enum(TICKET_STATES).nullable(),
        depth: z.int().meta({ description: "below 0: this ticket needs it; above 0: it needs this ticket" }),
      }),
    ),
    edges: z.array(z.object({ from: z.string(), to: z.string() })).meta({ description: "`from` is done before `to`" }),
    isCut: z.boolean().meta({ description: "there are more than are listed" }),
  })
  .meta({ id: "TicketGraph" });

export const ticketSchema = z
  .object({
    ...shared,
    body: z.string(),
    frontMatter: z.string().nullable().meta({ description: "the front matter of its file, unchanged" }),
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

export const chosenVariantSchema = z
  .object({
    chosen: z.string(),
    canceled: z.array(
      z.object({
        id: z.string(),
        branch: z.string().meta({ description: "it stays, with all commits" }),
        from: z.string().meta({ description: "its status before" }),
        pullRequest: z.string().nullable().meta({ description: "still open at the forge, if there is one" }),
      }),
    ),
  })
  .meta({ id: "ChosenVariant" });

export const ticketProblemsSchema = z.object({
  folder: z.string().nullable().meta({ description: "the folder of ticket files; null if the daemon reads none" }),
  tickets: z.int().meta({ description: "the number of readable tickets" }),
  problems: z.array(ticketProblemSchema).meta({ description: "at most 500" }),
  cannotStart: z
    .array(
      z.object({
        ticket: z.string().nullable().meta({ description: "null for a file whose name is no ticket's" }),
        path: z.string(),
        line: z.int().nullable(),
        why: z.string(),
      }),
    )
    .meta({ description: "tickets that no waiting will start, at most 500" }),
  isCut: z.boolean(),
});
