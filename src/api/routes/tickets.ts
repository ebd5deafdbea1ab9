// Tickets: what runs are about. They are known by the runs that were made of them.

import { z } from "zod";
import { json, type Routes } from "../route.ts";
import { before, flowName, limit, ticketReference } from "../schemas/common.ts";
import { ticketPageSchema, ticketSchema } from "../schemas/ticket.ts";

export const TICKET_ROUTES = {
  listTickets: {
    method: "get",
    path: "/api/tickets",
    scope: "read",
    tag: "tickets",
    summary: "Tickets with their newest run, newest first",
    query: z.strictObject({
      flow: flowName.optional().meta({ description: "only those whose newest run is of this flow" }),
      open: z
        .enum(["true", "false"])
        .optional()
        .meta({ description: "only those whose newest run goes on, or only those whose has ended" }),
      limit,
      before: before.optional(),
    }),
    answer: json(ticketPageSchema, "one page"),
    problems: ["invalid_query", "invalid_cursor"],
  },
  showTicket: {
    method: "get",
    path: "/api/tickets/{ticket}",
    scope: "read",
    tag: "tickets",
    summary: "One ticket with all its runs: status, revision_count, current_agent, pipeline_log",
    params: z.strictObject({ ticket: ticketReference }),
    answer: json(ticketSchema, "the ticket"),
    problems: ["ticket_not_found"],
  },
} as const satisfies Routes;
