// Problems that show only across all ticket files: one id in two files, unknown dependencies, cycles.

import { dependencyCycles } from "../../core/ticket/graph.ts";
import { cycleMessage } from "../../core/ticket/plan.ts";
import { isOver } from "../../core/ticket/status.ts";
import type { Ticket, TicketProblem, TicketScan } from "../../core/ticket/ticket.ts";
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
  return { tickets, problems: [...found, ...own, ...doubles, ...dependencies(first, byId, tickets)] };
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
      byId.has(on) ? [] : [note("unknown_dependency", `unknown dependency: there is no ticket ${on}`, at)],
    );
    const cycle = cycles.get(ticket.id);
    if (cycle === undefined) return unknown;
    const at = ticket.dependsOn.findIndex((on) => cycles.has(on));
    return [...unknown, note("dependency_cycle", cycleMessage(cycle), Math.max(0, at))];
  });
}
