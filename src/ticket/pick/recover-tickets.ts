// Tickets that a dead process left "In Progress": nothing works on them, so they go back to where that stage is picked up again (004).
// Only this store's runs are known here: a ticket that another machine works on looks the same, which is why one folder has one dispatcher.

import {
  type BacklogEntry,
  inProgressStatus,
  isActionable,
  TICKET_STATUSES,
  type TicketStatus,
} from "../../core/ticket/status.ts";
import type { TicketScan } from "../../core/ticket/ticket.ts";
import type { TicketFolder } from "../file/folder.ts";

/** The word from which a stage that was cut off begins again; undefined where no stage works in this status. */
export function statusBefore(status: TicketStatus): TicketStatus | undefined {
  const begins = (entry: BacklogEntry) =>
    TICKET_STATUSES.findLast((each) => isActionable(each) && inProgressStatus(each, entry) === status);
  return begins("research") ?? begins("oneshot");
}

/** Tells what it did, a line each. */
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
        : `${ticket.id}: ${ticket.status} without a run stays so: ${result.error.message}`,
    );
  }
  return lines;
}
