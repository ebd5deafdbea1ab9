// `ticket move`: a person changes a ticket's status. The command writes it to the ticket's file; the dispatcher acts on it.

import type { Run } from "../../../core/run/run.ts";
import {
  isActionable,
  isIntervention,
  isOver,
  stagePromptMap,
  type TicketStatus,
} from "../../../core/ticket/status.ts";
import { worksNow } from "../../../ticket/mirror/run-ticket.ts";
import { CliError, EXIT, problemError, usageError } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { requireOperator } from "../../operator.ts";
import { printJson } from "../../terminal/output.ts";
import { requireStatus } from "./list.ts";
import { findTicket, readTickets } from "./read-tickets.ts";

export async function ticketMove(
  io: Io,
  typed: string,
  word: string,
  { force }: { readonly force: boolean },
): Promise<number> {
  requireOperator(io, "ticket move");
  requireStatus(word);
  const status = word as TicketStatus;
  const { folder, scan, settings, plan, rules, runs } = await readTickets(io);
  const { id, path, ticket } = findTicket({ scan, settings }, typed);
  const run = runs.get(id);
  if (!force) {
    if (status.endsWith("In Progress"))
      throw usageError(
        "status_of_runs",
        `"${status}" is written by a run while it works.`,
        `Choose where it starts: ${needsOf(status)}`,
      );
    if (run !== undefined && worksNow(run))
      throw new CliError(
        "ticket_working",
        `${id} is being worked on (${ticket?.status ?? "run"} ${run.id}); moving it now would be a conflict.`,
        `passrail runs cancel ${run.id}\nor wait until the stage has ended; --force writes the status anyway`,
      );
  }
  const written = await folder.update(
    { path },
    { status, conflict: null },
    ticket === null ? undefined : { status: ticket.status },
  );
  if (!written.ok) throw problemError(written.error);
  const { before } = written.value;
  const released = (plan.tickets.get(id)?.dependents ?? []).filter((each) =>
    rules(plan.tickets.get(each)?.ticket.flow ?? null).satisfied.has(status),
  );
  const follows = whatFollows(id, status, run, released);
  if (io.json) printJson(io, { id, path, from: before, to: status, follows });
  else if (!io.quiet) io.out(`${id}: ${before === "" ? "no status" : before} → ${status}. ${follows}`);
  return EXIT.ok;
}

/** Backlog for the status of a run that takes all stages at once. */
function needsOf(status: TicketStatus): string {
  const [stage = ""] = status.split(" ");
  return Object.keys(stagePromptMap).find((each) => each === `Needs ${stage}`) ?? "Backlog";
}

function whatFollows(id: string, status: TicketStatus, run: Run | undefined, dependents: readonly string[]): string {
  const ended = run === undefined ? "" : `Its run ${run.id} is ended. `;
  const waiting =
    dependents.length === 0
      ? ""
      : ` ${dependents.join(", ")} no longer ${dependents.length === 1 ? "waits" : "wait"} for it.`;
  if (isOver(status)) return `${ended}No agent works on it any more.${waiting}`;
  if (isActionable(status)) return `${ended}It starts there when its turn comes: passrail explain ${id}`;
  if (isIntervention(status)) return "It is not picked until a person changes its status.";
  return "It is not picked.";
}
