// Which work depends on which, for the graph: the tickets of every edge, in an order that a person can read from left to right.

import type { Dependency } from "../graph/dependency-layout.ts";
import type { WorkItem } from "./item.ts";

export type Dependencies = {
  readonly ids: readonly string[];
  readonly edges: readonly Dependency[];
  /** How many depend on nothing while nothing waits for them. */
  readonly alone: number;
  /** There are more than are drawn. */
  readonly isCut: boolean;
};

/** The layout of more takes seconds, and is unreadable. */
const AT_MOST = 200;

export function dependenciesOf(items: readonly WorkItem[]): Dependencies {
  const all = items.flatMap(({ id, ticket }) =>
    [...new Set(ticket.file?.dependsOn ?? [])].map((from) => ({ from, to: id })),
  );
  const linked = new Set(all.flatMap(({ from, to }) => [from, to]));
  const alone = items.filter(({ id }) => !linked.has(id)).length;
  const kept = new Set<string>();
  // Whole edges: half of one would look like no dependency.
  for (const { from, to } of all)
    if (kept.size <= AT_MOST - 2 || (kept.has(from) && kept.has(to))) kept.add(from).add(to);
  const edges = all.filter(({ from, to }) => kept.has(from) && kept.has(to));
  return { ids: firstFirst([...kept], edges), edges, alone, isCut: kept.size < linked.size };
}

/** Each behind everything that it waits for; a circle in the order of its tickets. */
function firstFirst(ids: readonly string[], edges: readonly Dependency[]): readonly string[] {
  const before = Map.groupBy(edges, ({ to }) => to);
  const order = new Set<string>();
  const open = new Set<string>();
  const visit = (id: string): void => {
    if (order.has(id) || open.has(id)) return;
    open.add(id);
    for (const { from } of before.get(id) ?? []) visit(from);
    order.add(id);
  };
  for (const id of ids) visit(id);
  return [...order];
}
