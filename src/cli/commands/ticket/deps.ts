// `ticket deps`: shows a ticket's dependencies and dependents as a tree; adds and removes dependencies, and refuses a cycle.

import { dependencyCycles, dependentsById, formatCycle } from "../../../core/ticket/graph.ts";
import type { Ticket } from "../../../core/ticket/ticket.ts";
import { CliError, EXIT, problemError } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { requireOperator } from "../../operator.ts";
import { printJson } from "../../terminal/output.ts";
import { plainText } from "../../terminal/plain-text.ts";
import { unreadable } from "./list.ts";
import { findTicket, readTickets, ticketId } from "./read-tickets.ts";

export type DepsOptions = { readonly add: readonly string[]; readonly remove: readonly string[] };

export async function ticketDeps(io: Io, typed: string, { add, remove }: DepsOptions): Promise<number> {
  const tickets = await readTickets(io);
  const { id, path, ticket } = findTicket(tickets, typed);
  if (ticket === null) throw unreadable(id, path);
  let all = tickets.scan.tickets;
  if (add.length + remove.length > 0) {
    requireOperator(io, "ticket deps");
    const added = add.map((each) => findTicket(tickets, each).id);
    // A ticket that no longer exists can still be removed from the list.
    const removed = new Set(remove.map((each) => ticketId(tickets.settings, each)));
    const dependsOn = [...new Set([...ticket.dependsOn, ...added])].filter((each) => !removed.has(each));
    all = all.map((each) => (each.id === id ? { ...each, dependsOn } : each));
    const cycle = dependencyCycles(all).get(id);
    if (added.length > 0 && cycle !== undefined)
      throw new CliError(
        "dependency_cycle",
        `${id} would wait for itself: ${formatCycle(cycle)}.`,
        `passrail ticket deps ${id}`,
      );
    const written = await tickets.folder.update(ticket, { dependsOn }, { status: ticket.status });
    if (!written.ok) throw problemError(written.error);
  }
  const byId = new Map(all.map((each) => [each.id, each]));
  const dependents = dependentsById(all);
  const above = (each: string): readonly string[] => byId.get(each)?.dependsOn ?? [];
  const below = (each: string): readonly string[] => dependents.get(each) ?? [];
  if (io.json) {
    printJson(io, { id, dependsOn: above(id), dependents: below(id) });
    return EXIT.ok;
  }
  io.out(lineOf(id, byId));
  for (const [title, next] of [
    ["waits for", above],
    ["waited for by", below],
  ] as const) {
    io.out(next(id).length === 0 ? `${title}: none` : `${title}:`);
    for (const line of treeOf(id, next, byId)) io.out(line);
  }
  return EXIT.ok;
}

const MAX_LINES = 200;

/** Depth first. Each ticket is expanded once, so that a diamond or a cycle ends. */
function treeOf(
  root: string,
  next: (id: string) => readonly string[],
  byId: ReadonlyMap<string, Ticket>,
): readonly string[] {
  const lines: string[] = [];
  const opened = new Set([root]);
  const open = next(root)
    .toReversed()
    .map((id) => ({ id, depth: 1 }));
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const { id, depth } = at;
    if (lines.length === MAX_LINES) return [...lines, "  …"];
    const isKnown = opened.has(id);
    const more = isKnown && next(id).length > 0 ? "  (see above)" : "";
    lines.push(`${"  ".repeat(Math.min(depth, 20))}${lineOf(id, byId)}${more}`);
    if (isKnown) continue;
    opened.add(id);
    open.push(
      ...next(id)
        .toReversed()
        .map((each) => ({ id: each, depth: depth + 1 })),
    );
  }
  return lines;
}

function lineOf(id: string, byId: ReadonlyMap<string, Ticket>): string {
  const ticket = byId.get(id);
  return ticket === undefined ? `${id}  unknown` : plainText(`${id}  ${ticket.status}  ${ticket.title}`);
}
