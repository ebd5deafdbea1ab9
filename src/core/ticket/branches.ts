// The branch that each ticket works on: one for all tickets of a group (004), except for variants that are independent of the others. Those
// work side by side, so that people can compare them, and each has a branch of its own.

import { dependentsById } from "./graph.ts";
import type { Ticket } from "./ticket.ts";

const FOLDER = "feat/";

/** Tickets of one group share a branch. */
export function branchName({ id, group }: Pick<Ticket, "id" | "group">): string {
  return `${FOLDER}${group ?? id}`;
}

/** Id -> branch. A ticket that has worked on one of the two, or whose author names one under `branch`, stays there. */
export function branchesById(tickets: readonly Ticket[]): ReadonlyMap<string, string> {
  const groups = new Map(tickets.map(({ id, group }) => [id, group]));
  const dependents = dependentsById(tickets);
  const isRelated = ({ id, group, dependsOn }: Ticket): boolean =>
    [...dependsOn, ...(dependents.get(id) ?? [])].some((other) => other !== id && groups.get(other) === group);
  return new Map(
    tickets.map((ticket) => {
      const { id, group, branch, variantHint } = ticket;
      const [shared, own] = [branchName(ticket), `${FOLDER}${group}-${id}`];
      if (group === null || branch === shared) return [id, shared];
      return [id, branch === own || (variantHint !== null && !isRelated(ticket)) ? own : shared];
    }),
  );
}

/** The part of the branch's name that flows take for the ticket's group: `feat/{ticket.group or ticket.id}`. */
export function groupOfBranch(branch: string): string {
  return branch.slice(FOLDER.length);
}
