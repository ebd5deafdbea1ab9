// Where a person may move a ticket by its status, and why not elsewhere. The server refuses by the table from which pages offer moves.

import { isActionable, TICKET_STATUSES, type TicketStatus } from "../../core/ticket/status.ts";

/** `working`: an agent works on it or is about to; `resting`: its run waits for a person or has stopped. */
export type RunOfTicket = "none" | "working" | "resting";

export type TicketMove = {
  readonly to: TicketStatus;
  /** Null: the move is allowed. */
  readonly why: string | null;
};

export function ticketMoves(id: string, status: TicketStatus, run: RunOfTicket): readonly TicketMove[] {
  return TICKET_STATUSES.filter((to) => to !== status).map((to) => ({ to, why: whyNot(id, to, run) }));
}

export function whyNot(id: string, to: TicketStatus, run: RunOfTicket): string | null {
  if (to.endsWith("In Progress")) return "only a run that works sets it";
  if (to === "Awaiting Merge") return "only a run that opened a pull request sets it";
  if (to === "Done") return `its work has to be proven merged first: passrail done ${id}`;
  if (to === "Canceled" || isActionable(to))
    return run === "working" ? "a run works on it; cancel or pause the run first" : null;
  return run === "none" ? null : "its run shows what it waits for";
}

/** From a run's status; null and ended runs are none. */
export function runOfTicket(status: string | null): RunOfTicket {
  if (status === null || status === "completed" || status === "canceled") return "none";
  return status === "running" ? "working" : "resting";
}
