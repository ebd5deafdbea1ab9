// The tickets that cannot start as they are, each with its reason, for `work`, `spec`, the daemon, the API and the
// dashboard. A ticket that only waits for another one, for a person or for a slot is not among them.

import type { Problem } from "../result.ts";
import { formatTicketProblem, type PlannedTicket, type TicketPlan } from "./plan.ts";
import type { Ticket, TicketProblem, TicketScan } from "./ticket.ts";

export type CannotStart = {
  /** Null for a file whose name is no ticket's. */
  readonly ticket: string | null;
  /** Relative to the project. */
  readonly path: string;
  readonly line: number | null;
  readonly why: string;
};

/** Tickets that could start by their files, and that a start was refused for: an agent without a program, a remote without a login. */
export type RefusedStarts = ReadonlyMap<string, Problem>;

const NONE: RefusedStarts = new Map();

/** In the order of the plan; files that are no tickets come last. */
export function cannotStart(
  { problems }: TicketScan,
  plan: TicketPlan,
  refused: RefusedStarts = NONE,
): readonly CannotStart[] {
  const unknown = new Map(
    problems.filter(({ code }) => code === "unknown_dependency").map((problem) => [problem.ticket, problem]),
  );
  const planned = [...plan.tickets.values()].flatMap((each) => ofPlanned(each, plan, unknown, refused));
  const seen = new Set<string>();
  const unread = problems.flatMap((problem) => {
    const { ticket, path, severity } = problem;
    if (severity !== "refused" || (ticket !== undefined && plan.tickets.has(ticket)) || seen.has(path)) return [];
    seen.add(path);
    return [found(ticket ?? null, path, problem.message, problem.line)];
  });
  return [...planned, ...unread];
}

function ofPlanned(
  planned: PlannedTicket,
  plan: TicketPlan,
  unknown: ReadonlyMap<string | undefined, TicketProblem>,
  refused: RefusedStarts,
): readonly CannotStart[] {
  const { ticket, why } = planned;
  switch (planned.state) {
    case "refused":
      return [found(ticket.id, ticket.path, why, planned.problem.line)];
    case "waits": {
      // Waiting ends only for tickets that exist; their own obstacles are listed with them.
      if (!planned.on.some(({ ticket: id }) => !plan.tickets.has(id))) return [];
      const own = unknown.get(ticket.id);
      return [found(ticket.id, ticket.path, own?.message ?? why, own?.line)];
    }
    case "eligible": {
      const problem = refused.get(ticket.id);
      return problem === undefined ? [] : [refusedStart(ticket, problem)];
    }
    case "working":
    case "intervention":
    case "awaiting-merge":
    case "ended":
      return [];
  }
}

function found(ticket: string | null, path: string, why: string, line?: number): CannotStart {
  return { ticket, path, line: line ?? null, why };
}

/** A refused start names its ticket at the beginning of its message; the list does so already. */
export function refusedStart({ id, path }: Pick<Ticket, "id" | "path">, { message, hint }: Problem): CannotStart {
  const named = `${id} cannot start: `;
  const said = message.startsWith(named) ? message.slice(named.length) : message;
  return found(id, path, hint === undefined ? said : `${said} (${hint.replaceAll("\n", "; ")})`);
}

/** Why a ticket does not start, the refusal of its start included: the same sentence in every list. */
export function whyOf(planned: PlannedTicket, refused: RefusedStarts): string {
  const problem = planned.state === "eligible" ? refused.get(planned.ticket.id) : undefined;
  return problem === undefined ? planned.why : `it cannot start: ${refusedStart(planned.ticket, problem).why}`;
}

/** The plan with these reasons. */
export function withRefused(plan: TicketPlan, refused: RefusedStarts): TicketPlan {
  if (refused.size === 0) return plan;
  const tickets = [...plan.tickets].map(([id, planned]) => [id, { ...planned, why: whyOf(planned, refused) }] as const);
  return { ...plan, tickets: new Map(tickets) };
}

/** Doubtful points in files of tickets that start anyway, a line each; ended tickets are left out. */
export function ticketWarnings({ problems }: TicketScan, { tickets }: TicketPlan): readonly string[] {
  return problems
    .filter(({ severity, ticket }) => severity === "warning" && tickets.get(ticket ?? "")?.state !== "ended")
    .slice(0, WARNINGS_AT_MOST)
    .map((problem) => `warning: ${formatTicketProblem(problem)}`);
}

const WARNINGS_AT_MOST = 100;
const LINES_AT_MOST = 20;

/** A line that counts them and one for each; empty if there are none. */
export function cannotStartLines(list: readonly CannotStart[]): readonly string[] {
  if (list.length === 0) return [];
  const left = list.length - LINES_AT_MOST;
  return [
    list.length === 1 ? "1 ticket cannot start:" : `${list.length} tickets cannot start:`,
    ...list.slice(0, LINES_AT_MOST).map((each) => `  ${formatCannotStart(each)}`),
    ...(left > 0 ? [`  and ${left} more: passrail ticket list`] : []),
  ];
}

/** AGI-7 (feature_requests/FR-1/AGI-7.md:4): unknown dependency … */
export function formatCannotStart({ ticket, path, line, why }: CannotStart): string {
  const place = line === null ? path : `${path}:${line}`;
  return ticket === null ? `${place}: ${why}` : `${ticket} (${place}): ${why}`;
}
