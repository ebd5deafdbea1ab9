// `ticket list|show`: the project's tickets as stored in their files, with the plan for each and the reason for it.

import { explainTicket, formatTicketProblem, type PlannedTicket } from "../../../core/ticket/plan.ts";
import { isTicketStatus, TICKET_STATUSES, unknownStatusMessage } from "../../../core/ticket/status.ts";
import type { TicketProblem } from "../../../core/ticket/ticket.ts";
import { nearest } from "../../../core/check/suggest.ts";
import { CliError, EXIT, usageError } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { type Color, paint, printJson, printTable } from "../../terminal/output.ts";
import { plainText } from "../../terminal/plain-text.ts";
import { findTicket, readTickets, type Tickets } from "./read-tickets.ts";

export type TicketListOptions = { readonly eligible: boolean; readonly status?: string };

export async function ticketList(io: Io, { status, eligible }: TicketListOptions): Promise<number> {
  if (status !== undefined) requireStatus(status);
  const tickets = await readTickets(io);
  const { scan, plan } = tickets;
  const all = eligible
    ? plan.eligible.map(({ id }) => plan.tickets.get(id))
    : scan.tickets.map(({ id }) => plan.tickets.get(id));
  const shown = all
    .filter((each) => each !== undefined)
    .filter(({ ticket }) => status === undefined || ticket.status === status);
  if (io.json) printJson(io, { tickets: shown.map((each) => asJson(each, tickets)), problems: scan.problems });
  else if (io.quiet) for (const { ticket } of shown) io.out(ticket.id);
  else {
    if (shown.length === 0) io.out(emptyLine(tickets, eligible || status !== undefined));
    else printTable(io, shown.map(rowOf));
    tellProblems(io, scan.problems);
  }
  return EXIT.ok;
}

export async function ticketShow(io: Io, typed: string): Promise<number> {
  const tickets = await readTickets(io);
  const { scan, plan, runs, folder } = tickets;
  const found = findTicket(tickets, typed);
  const planned = plan.tickets.get(found.id);
  const problems = scan.problems.filter(({ ticket }) => ticket === found.id);
  if (planned === undefined) {
    if (io.json) printJson(io, { id: found.id, path: found.path, ticket: null, problems });
    else for (const line of explainTicket(found.id, scan, plan)) io.out(plainText(line));
    return EXIT.ok;
  }
  if (io.json) {
    const text = await folder.text(planned.ticket);
    printJson(io, { ...asJson(planned, tickets), problems, text: text.ok ? text.value : null });
    return EXIT.ok;
  }
  const { ticket, branch, why } = planned;
  const run = runs.get(ticket.id);
  const facts: readonly (readonly [string, string | null])[] = [
    ["status", ticket.status],
    ["why", why],
    ["file", ticket.path],
    ["repo", ticket.repo],
    ["branch", branch],
    ["group", ticket.group],
    ["variant", ticket.variantHint],
    ["priority", ticket.priority === null ? null : String(ticket.priority)],
    ["workflow", ticket.workflow],
    ["flow", ticket.flow],
    [
      "depends on",
      ticket.dependsOn.map((id) => `${id} (${plan.tickets.get(id)?.ticket.status ?? "unknown"})`).join(", "),
    ],
    ["waited for by", planned.dependents.join(", ")],
    ["run", run === undefined ? null : `${run.id} (${run.status})`],
    ["pull request", ticket.prUrl],
    ["last error", ticket.lastError],
    ["conflict", ticket.conflict],
    ["source", ticket.source],
  ];
  io.out(`${paint(io, "bold", ticket.id)}  ${plainText(ticket.title)}`);
  printTable(
    io,
    facts.flatMap(([name, value]) =>
      value === null || value === ""
        ? []
        : [
            [
              { name: "name", value: name },
              { name: "value", value },
            ],
          ],
    ),
  );
  const body = ticket.body.trim() === "" ? ticket.description.trim() : ticket.body.trim();
  if (body !== "") io.out(`\n${plainText(body)}`);
  tellProblems(io, problems);
  return EXIT.ok;
}

/** Throws for an unknown status. */
export function requireStatus(word: string): void {
  if (isTicketStatus(word)) return;
  const near = nearest(word, TICKET_STATUSES);
  throw usageError(
    "unknown_status",
    `${unknownStatusMessage(word)}.`,
    near === undefined ? "" : `Did you mean "${near}"?`,
  );
}

export function tellProblems(io: Io, problems: readonly TicketProblem[]): void {
  for (const problem of problems.slice(0, MAX_PROBLEMS)) {
    const mark = problem.severity === "refused" ? paint(io, "red", "✖") : paint(io, "yellow", "!");
    io.err(`${mark} ${plainText(formatTicketProblem(problem))}`);
  }
  const left = problems.length - MAX_PROBLEMS;
  if (left > 0) io.err(`  and ${left} more: passrail ticket list --json`);
}

const MAX_PROBLEMS = 50;

const COLORS: Readonly<Record<PlannedTicket["state"], Color>> = {
  eligible: "green",
  working: "cyan",
  waits: "dim",
  ended: "dim",
  intervention: "yellow",
  "awaiting-merge": "yellow",
  refused: "red",
};

function rowOf({ ticket, state, why }: PlannedTicket) {
  return [
    { name: "id", value: ticket.id },
    { name: "status", value: ticket.status },
    { name: "state", value: state, color: COLORS[state] },
    { name: "title", value: ticket.title.slice(0, 60) },
    { name: "why", value: ticket.conflict === null ? why : `${why}; conflict: ${ticket.conflict}` },
  ];
}

function asJson(planned: PlannedTicket, { runs }: Tickets) {
  const { ticket, ...rest } = planned;
  return { ...ticket, ...rest, run: runs.get(ticket.id)?.id ?? null };
}

function emptyLine({ scan, settings }: Tickets, isFiltered: boolean): string {
  if (isFiltered && scan.tickets.length > 0) return `None of ${scan.tickets.length} tickets.`;
  return `No tickets in ${settings.folder}. Make one: passrail ticket new "What is to be done"   or: passrail spec "A request"`;
}

/** For commands that need a ticket whose file can be read. */
export function unreadable(id: string, path: string): CliError {
  return new CliError(
    "ticket_unreadable",
    `${path} cannot be read as a ticket.`,
    `passrail ticket show ${id}\npassrail ticket edit ${id}`,
  );
}
