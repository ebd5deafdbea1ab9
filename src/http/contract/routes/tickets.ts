// Tickets: the subjects of runs. The daemon knows them by their files in the project and by their runs.

import { z } from "zod";
import { json, type ApiRoutes } from "../route.ts";
import { flowName, limit, line, ticketReference } from "../schemas/common.ts";
import { runSummarySchema } from "../schemas/run.ts";
import { chosenVariantSchema, ticketPageSchema, ticketProblemsSchema, ticketSchema } from "../schemas/ticket.ts";
import { newTicketSchema, TICKET_STATES, ticketChangesSchema } from "../schemas/ticket-file.ts";

const params = z.strictObject({ ticket: ticketReference });

export const TICKET_ROUTES = {
  listTickets: {
    method: "get",
    path: "/api/tickets",
    scope: "read",
    tag: "tickets",
    summary: "Tickets: first those that have a file, then those that only have runs, newest first",
    query: z.strictObject({
      flow: flowName.optional().meta({ description: "only those that go through this flow" }),
      open: z
        .enum(["true", "false"])
        .optional()
        .meta({ description: "only those that are not ended, or only those that are" }),
      status: line(80, "expected a status word").optional().meta({ description: "only those with this word" }),
      state: z.enum(TICKET_STATES).optional().meta({ description: "only those with this state in the plan" }),
      request: line(40, "expected a request's name")
        .optional()
        .meta({ description: "only those of this folder: FR-2" }),
      group: line(80, "expected a group's name").optional().meta({ description: "only variants of this group" }),
      q: line(200, "expected one line of text")
        .optional()
        .meta({ description: "only those with this text in id or title" }),
      limit,
      before: z
        .string()
        .regex(/^(f[0-9]{1,15}|[1-9][0-9]{0,15})$/, "expected the `next` of an earlier page")
        .optional(),
    }),
    answer: json(ticketPageSchema, "one page"),
    problems: ["invalid_query", "invalid_cursor"],
  },
  ticketProblems: {
    method: "get",
    path: "/api/tickets/problems",
    scope: "read",
    tag: "tickets",
    summary: "Problems of ticket files, by file, line and column, and the tickets that cannot start",
    answer: json(ticketProblemsSchema, "all of them"),
    problems: [],
  },
  showTicket: {
    method: "get",
    path: "/api/tickets/{ticket}",
    scope: "read",
    tag: "tickets",
    summary:
      "One ticket: its file, its state among the others, and all its runs with status, revision_count, current_agent, pipeline_log",
    params,
    answer: json(ticketSchema, "the ticket"),
    problems: ["ticket_not_found"],
  },
  createTicket: {
    method: "post",
    path: "/api/tickets",
    scope: "operate",
    tag: "tickets",
    summary: "Create a ticket file in its own request folder",
    body: newTicketSchema,
    headers: ["Idempotency-Key"],
    answer: json(z.object({ id: z.string(), path: z.string() }), "it is written", 201),
    problems: ["ticket_refused", "no_ticket_folder"],
  },
  editTicket: {
    method: "patch",
    path: "/api/tickets/{ticket}",
    scope: "operate",
    tag: "tickets",
    summary: "Change keys of a ticket's file, including its status; everything else in it stays",
    params,
    body: ticketChangesSchema,
    headers: ["If-Match", "Idempotency-Key"],
    answer: json(z.object({ id: z.string(), version: z.string() }), "it is written"),
    problems: ["ticket_not_found", "ticket_refused", "ticket_conflict", "invalid_version"],
  },
  chooseTicket: {
    method: "post",
    path: "/api/tickets/{ticket}/choose",
    scope: "operate",
    tag: "tickets",
    summary: "Choose this variant: the other open tickets of its group become Canceled, their branches stay",
    params,
    body: z.strictObject({}),
    headers: ["Idempotency-Key"],
    answer: json(chosenVariantSchema, "the others are canceled"),
    problems: ["ticket_not_found", "ticket_refused", "no_ticket_folder"],
  },
  startTicket: {
    method: "post",
    path: "/api/tickets/{ticket}/start",
    scope: "operate",
    tag: "tickets",
    summary: "Start the run of a ticket now, if the ticket may start",
    params,
    body: z.strictObject({}),
    headers: ["Idempotency-Key"],
    answer: json(
      z.object({
        run: runSummarySchema,
        started: z.boolean().meta({ description: "false: a run of it is already open" }),
      }),
      "its run is already open",
    ),
    problems: ["ticket_not_found", "ticket_refused", "run_refused"],
  },
} as const satisfies ApiRoutes;
