// Problems that show only across all ticket files: one id in two files, unknown dependencies, cycles, groups that would share a branch by
// accident.

import { nearest } from "../../core/check/suggest.ts";
import { dependencyCycles } from "../../core/ticket/graph.ts";
import { cycleMessage } from "../../core/ticket/plan.ts";
import { isOver } from "../../core/ticket/status.ts";
import type { Ticket, TicketProblem, TicketScan } from "../../core/ticket/ticket.ts";
import { foldedName } from "../../git/branch-name.ts";
import type { ReadTicket } from "./read-ticket.ts";

export type FoundFile = ReadTicket & {
  /** Relative to the project. */
  readonly path: string;
  readonly request: string;
  readonly name: string;
  /** The id in the name; null if it has no number. */
  readonly id: string | null;
};

/** Of files with the same id only the first is a ticket; the ids of a scan are unique. */
export function checkTogether(files: readonly FoundFile[], found: readonly TicketProblem[]): TicketScan {
  const byId = Map.groupBy(
    files.filter(({ id }) => id !== null),
    ({ id }) => id ?? "",
  );
  const own = files.flatMap(({ problems }) => problems);
  const doubles = [...byId.values()].filter((same) => same.length > 1).flatMap(duplicates);
  const first = [...byId.values()].flatMap(([file]) => (file === undefined ? [] : [file]));
  const tickets = first
    .flatMap(({ ticket }) => (ticket === null ? [] : [ticket]))
    .sort((one, other) => one.number - other.number);
  return {
    tickets,
    problems: [...found, ...own, ...doubles, ...dependencies(first, byId, tickets), ...collisions(tickets)],
  };
}

function duplicates(same: readonly FoundFile[]): readonly TicketProblem[] {
  const paths = same.map(({ path }) => path).join(" and ");
  return same.map(({ path, id }) => ({
    code: "duplicate_id",
    message: `${id} is in ${paths}; Passrail starts none of them`,
    severity: "refused",
    path,
    line: 1,
    column: 1,
    ...(id === null ? {} : { ticket: id }),
  }));
}

/** `Login` and `login` are two branches to git, and one to some file systems. The spelling of the first ticket counts. */
function collisions(tickets: readonly Ticket[]): readonly TicketProblem[] {
  const spelled = new Map<string, string>();
  return tickets.flatMap(({ id, group, path, status }) => {
    if (isOver(status)) return [];
    const name = group ?? id;
    const first = spelled.get(foldedName(name)) ?? name;
    spelled.set(foldedName(name), first);
    if (first === name) return [];
    const message = `the branch of ${JSON.stringify(name)} would collide with the one of ${JSON.stringify(first)}: some file systems take both names for one`;
    return [{ code: "group_collides", message, severity: "refused" as const, path, line: 1, column: 1, ticket: id }];
  });
}

function dependencies(
  files: readonly FoundFile[],
  byId: ReadonlyMap<string, unknown>,
  tickets: readonly Ticket[],
): readonly TicketProblem[] {
  const isOpen = ({ status }: Ticket): boolean => !isOver(status);
  const open = new Set(tickets.filter(isOpen).map(({ id }) => id));
  const cycles = dependencyCycles(
    tickets.filter(isOpen).map(({ id, dependsOn }) => ({ id, dependsOn: dependsOn.filter((on) => open.has(on)) })),
  );
  return files.flatMap(({ ticket, path, dependencyPlaces }) => {
    if (ticket === null || !isOpen(ticket)) return [];
    const note = (code: string, message: string, at: number): TicketProblem => {
      const place = dependencyPlaces[at] ?? { line: 1, column: 1 };
      return { code, message, severity: "refused", path, ...place, ticket: ticket.id };
    };
    const unknown = ticket.dependsOn.flatMap((on, at) =>
      byId.has(on) ? [] : [note("unknown_dependency", unknownMessage(on, ticket.id, byId), at)],
    );
    const cycle = cycles.get(ticket.id);
    if (cycle === undefined) return unknown;
    const at = ticket.dependsOn.findIndex((on) => cycles.has(on));
    return [...unknown, note("dependency_cycle", cycleMessage(cycle), Math.max(0, at))];
  });
}

const COMPARED_AT_MOST = 300;

/** Near in writing: a digit too many, or two in the wrong order. Comparing with very many ids would slow down every scan. */
function unknownMessage(on: string, own: string, byId: ReadonlyMap<string, unknown>): string {
  const others = byId.size > COMPARED_AT_MOST ? [] : [...byId.keys()].filter((id) => id !== own);
  const near = nearest(on, others);
  const hint = near === undefined ? "" : `; did you mean ${near}?`;
  return `unknown dependency: there is no ticket ${on}${hint}`;
}
