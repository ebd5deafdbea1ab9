// A ticket's file on the wire.

import type { z } from "zod";
import type { ticketFileSchema, ticketProblemSchema } from "../../contract/schemas/ticket-file.ts";
import { type RefusedStarts, whyOf } from "../../../core/ticket/cannot-start.ts";
import type { PlannedTicket } from "../../../core/ticket/plan.ts";
import { rootObstacle } from "../../../core/ticket/root-obstacle.ts";
import type { TicketProblem } from "../../../core/ticket/ticket.ts";
import type { TicketsNow } from "../project-tickets.ts";

type ShownFile = z.input<typeof ticketFileSchema>;
type ShownProblem = z.input<typeof ticketProblemSchema>;

const DEPENDENTS_SHOWN = 50;
const PROBLEMS_SHOWN = 20;

/** `refused`: the starts that the dispatcher was refused; a ticket that could start by its file says why it does not. */
export function showFile(
  planned: PlannedTicket,
  { problems, plan }: TicketsNow,
  refused: RefusedStarts = new Map(),
): ShownFile {
  const { ticket, branch, dependents, state } = planned;
  const why = whyOf(planned, refused);
  const root = rootObstacle(plan, ticket.id);
  const own = problems.get(ticket.id) ?? [];
  // Problems that only the plan finds, such as a cycle, are listed with the file's own.
  const found = planned.state === "refused" && !own.some(({ code }) => code === planned.problem.code);
  return {
    path: ticket.path,
    version: ticket.hash,
    request: ticket.request,
    status: ticket.status,
    repo: ticket.repo,
    branch,
    group: ticket.group,
    variantHint: ticket.variantHint,
    priority: ticket.priority,
    workflow: ticket.workflow,
    dependsOn: [...ticket.dependsOn],
    dependents: dependents.slice(0, DEPENDENTS_SHOWN),
    state,
    why,
    blockedBy:
      planned.state === "waits" ? planned.on.map(({ ticket: id, why: because }) => ({ id, why: because })) : [],
    root: root === null ? null : { id: root.ticket, why: root.why },
    conflict: ticket.conflict,
    lastError: ticket.lastError,
    problems: [...own, ...(found ? [planned.problem] : [])].slice(0, PROBLEMS_SHOWN).map(showProblem),
  };
}

export function showProblem(problem: TicketProblem): ShownProblem {
  const { code, message, severity, path, line = null, column = null, ticket = null } = problem;
  return { code, message, severity, path, line, column, ticket };
}
