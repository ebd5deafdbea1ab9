// Variants: tickets of one group that solve the same thing in different ways. Choosing one has these effects on the others.

import { err, ok, type Result } from "../result.ts";
import type { PlannedTicket, TicketPlan } from "./plan.ts";
import { isOver } from "./status.ts";
import type { Ticket } from "./ticket.ts";

/** All tickets of a group, by number. */
export function ticketsOfGroup(plan: TicketPlan, group: string): readonly PlannedTicket[] {
  return [...plan.tickets.values()]
    .filter(({ ticket }) => ticket.group === group)
    .sort((one, other) => one.ticket.number - other.ticket.number);
}

/** The tickets that are canceled when this one is chosen: the open ones of its group that it does not build on. */
export function rivalsOf(id: string, plan: TicketPlan): Result<readonly PlannedTicket[]> {
  const chosen = plan.tickets.get(id)?.ticket;
  if (chosen === undefined) return refuse("ticket_not_found", `there is no ticket ${id}`);
  if (chosen.group === null)
    return refuse("no_variants", `${id} belongs to no group, so there is nothing to choose from`);
  if (chosen.status === "Canceled")
    return refuse(
      "variant_canceled",
      `${id} is Canceled; move it to another status first: passrail ticket move ${id} "Needs …"`,
    );
  const needed = neededBy(chosen, plan);
  const others = ticketsOfGroup(plan, chosen.group).filter(({ ticket }) => ticket.id !== id && !needed.has(ticket.id));
  if (others.length === 0) return refuse("no_variants", `${id} is the only variant of the group ${chosen.group}`);
  return ok(others.filter(({ ticket }) => !isOver(ticket.status)));
}

function neededBy(chosen: Ticket, plan: TicketPlan): ReadonlySet<string> {
  const needed = new Set<string>();
  const open = [...chosen.dependsOn];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (needed.has(id)) continue;
    needed.add(id);
    open.push(...(plan.tickets.get(id)?.ticket.dependsOn ?? []));
  }
  return needed;
}

function refuse(code: string, message: string): Result<never> {
  return err({ code, message });
}
