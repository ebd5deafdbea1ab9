// A ticket's file on the wire: its content, its problems, and the changes that the API accepts.

import { z } from "zod";
import type { PlannedTicket } from "../../../core/ticket/plan.ts";
import { TICKET_STATUSES } from "../../../core/ticket/status.ts";
import { GROUP_PATTERN, isSafeGroup } from "../../../core/ticket/ticket.ts";
import { line, ticketReference } from "./common.ts";

/** The state of a ticket among the others. */
export const TICKET_STATES = [
  "eligible",
  "waits",
  "refused",
  "working",
  "intervention",
  "awaiting-merge",
  "ended",
] as const satisfies readonly PlannedTicket["state"][];

export const ticketProblemSchema = z
  .object({
    code: z.string(),
    message: z.string(),
    severity: z.enum(["refused", "warning"]).meta({ description: "refused: the ticket is not started" }),
    path: z.string(),
    line: z.int().nullable(),
    column: z.int().nullable(),
    ticket: z.string().nullable(),
  })
  .meta({ id: "TicketProblem" });

export const ticketFileSchema = z
  .object({
    path: z.string().meta({ description: "relative to the project" }),
    version: z.string().meta({ description: "of the file's bytes, for If-Match" }),
    request: z.string().meta({ description: "its folder, one per request: FR-2" }),
    status: z.enum(TICKET_STATUSES).meta({ description: "the status in the file" }),
    repo: z.string(),
    branch: z.string().meta({ description: "tickets of one group share it" }),
    group: z.string().nullable(),
    variantHint: z.string().nullable(),
    priority: z.number().nullable().meta({ description: "lower comes first" }),
    workflow: z.string().nullable(),
    dependsOn: z.array(z.string()),
    dependents: z.array(z.string()).meta({ description: "the tickets that wait for it, at most 50" }),
    state: z.enum(TICKET_STATES),
    why: z.string().meta({ description: "why it is in this state, for people" }),
    blockedBy: z
      .array(z.object({ id: z.string(), why: z.string() }))
      .meta({ description: "the tickets that it waits for" }),
    root: z.object({ id: z.string(), why: z.string() }).nullable().meta({
      description: "the ticket further down that keeps them all waiting, because it needs a person; null if none does",
    }),
    conflict: z
      .string()
      .nullable()
      .meta({ description: "its run's status, if a person wrote a different one into the file" }),
    lastError: z.string().nullable(),
    problems: z.array(ticketProblemSchema),
  })
  .meta({ id: "TicketFile" });

const group = z.string().refine(isSafeGroup, `expected ${GROUP_PATTERN}`);
const title = line(200, "expected one line of 1 to 200 characters");
const dependsOn = z.array(ticketReference).max(100);
const priority = z.int().min(0).max(1_000_000);
const repo = line(200, "expected a repository's name");
const status = z.enum(TICKET_STATUSES);

export const newTicketSchema = z.strictObject({
  title,
  body: z
    .string()
    .max(64 * 1024)
    .default("")
    .meta({ description: "the task, as Markdown" }),
  dependsOn: dependsOn.default([]),
  group: group.optional(),
  variantHint: line(200, "expected one line").optional(),
  priority: priority.optional(),
  repo: repo.optional(),
  status: status.default("Backlog"),
});

export const ticketChangesSchema = z.strictObject({
  title: title.optional(),
  dependsOn: dependsOn.optional(),
  group: group.nullable().optional().meta({ description: "null removes it" }),
  priority: priority.nullable().optional(),
  repo: repo.optional(),
  status: status.optional().meta({ description: "moves the ticket: a word of the 18" }),
});
