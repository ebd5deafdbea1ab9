// Sorts tickets into lanes: one per status word of the flow, in the flow's order. A word that the flow does not list (from an older
// version, or from a stage that a router chose) gets an extra lane, so that every ticket appears.

import { hasEnded, type ListedTicket } from "../ticket/listed-ticket.ts";

export type BoardLane = { readonly word: string; readonly tickets: readonly ListedTicket[] };

export function lanesOf(statuses: readonly string[], tickets: readonly ListedTicket[]): readonly BoardLane[] {
  const unknown = [...new Set(tickets.map(({ word }) => word))].filter((word) => !statuses.includes(word));
  const isOver = (word: string) => tickets.some((ticket) => ticket.word === word && hasEnded(ticket));
  const words = [...unknown.filter((word) => !isOver(word)), ...statuses, ...unknown.filter(isOver)];
  return words.map((word) => ({
    word,
    tickets: tickets.filter((ticket) => ticket.word === word).toSorted(byNeed),
  }));
}

/** Tickets that wait for a person come first, then the most recent ones. */
function byNeed(a: ListedTicket, b: ListedTicket): number {
  const waits = Number(b.waits.length > 0) - Number(a.waits.length > 0);
  return waits === 0 ? (b.updatedAt ?? "").localeCompare(a.updatedAt ?? "") : waits;
}

/** The flow with the most open tickets; else the one with the latest change; else the first one. */
export function busiestFlow(flows: readonly string[], tickets: readonly ListedTicket[]): string | undefined {
  const open = new Map<string, number>();
  for (const ticket of tickets) if (!hasEnded(ticket)) open.set(ticket.flow, (open.get(ticket.flow) ?? 0) + 1);
  const [busiest] = [...open].toSorted((a, b) => b[1] - a[1]);
  if (busiest !== undefined) return busiest[0];
  return tickets.toSorted((a, b) => (b.updatedAt ?? "").localeCompare(a.updatedAt ?? ""))[0]?.flow ?? flows[0];
}
