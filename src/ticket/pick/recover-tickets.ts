// Resets tickets that a dead process left "In Progress" to the status where that stage starts again (004). It knows only this store's runs:
// a ticket that another machine works on looks the same, which is why one folder has one dispatcher.

import {
  type BacklogEntry,
  inProgressStatus,
  isActionable,
  TICKET_STATUSES,
  type TicketStatus,
} from "../../core/ticket/status.ts";
import type { TicketScan } from "../../core/ticket/ticket.ts";
import type { TicketFolder } from "../file/folder.ts";

/** The status from which an interrupted stage starts again; undefined if no stage works in this status. */
export function statusBefore(status: TicketStatus): TicketStatus | undefined {
  const begins = (entry: BacklogEntry) =>
    TICKET_STATUSES.findLast((each) => isActionable(each) && inProgressStatus(each, entry) === status);
  return begins("research") ?? begins("oneshot");
}

/** Returns one line per ticket, also for those that it could not reset. */
export async function recoverTickets(
  { tickets }: TicketScan,
  folder: TicketFolder,
  isGoingOn: (id: string) => boolean,
): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const ticket of tickets) {
    const back = statusBefore(ticket.status);
    if (back === undefined || isGoingOn(ticket.id)) continue;
    const result = await folder.update(ticket, { status: back, conflict: null }, { status: ticket.status });
    lines.push(
      result.ok
        ? `${ticket.id}: ${ticket.status} without a run goes back to ${back}`
        : `${ticket.id}: ${ticket.status} without a run could not be reset: ${result.error.message}`,
    );
  }
  return lines;
}
