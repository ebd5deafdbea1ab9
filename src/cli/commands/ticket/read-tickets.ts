// Shared by the ticket commands: reads the project's tickets and the plan for them, and finds the ticket that a person typed.

import { openForReading } from "../../../store/open-store.ts";
import { nearest } from "../../../core/check/suggest.ts";
import type { Run } from "../../../core/run/run.ts";
import { type RefusedStarts, withRefused } from "../../../core/ticket/cannot-start.ts";
import { planTickets, type TicketPlan } from "../../../core/ticket/plan.ts";
import type { PickRulesOf } from "../../../core/ticket/pick-rules.ts";
import type { Ticket, TicketScan } from "../../../core/ticket/ticket.ts";
import { ticketOfRun } from "../../../ticket/mirror/run-ticket.ts";
import type { TicketFolder } from "../../../ticket/file/folder.ts";
import { readRefused } from "../../../ticket/pick/refused-board.ts";
import { createFlowRules } from "../../../ticket/pick/flow-rules.ts";
import { openTicketFolder } from "../../../ticket/file/open-folder.ts";
import type { TicketSettings } from "../../../settings/tickets.ts";
import type { Store } from "../../../store/store.ts";
import { CliError } from "../../errors.ts";
import { shownSettings } from "../../shown-settings.ts";
import type { Io } from "../../terminal/io.ts";
import { optional } from "../../../core/optional.ts";

export type Tickets = {
  readonly folder: TicketFolder;
  readonly settings: TicketSettings;
  readonly scan: TicketScan;
  readonly plan: TicketPlan;
  readonly rules: PickRulesOf;
  /** Starts that the last process which picked tickets was refused. */
  readonly refused: RefusedStarts;
  /** Open runs, by the id of their ticket. */
  readonly runs: ReadonlyMap<string, Run>;
};

export async function readTickets(io: Io): Promise<Tickets> {
  const config = await shownSettings(io);
  const settings = config.tickets;
  const folder = openTicketFolder({ project: io.cwd, settings });
  const scan = await folder.scan();
  const runs = await runsOf(io, scan);
  const rules = createFlowRules({ home: io.home, project: io.cwd, flow: settings.flow })();
  const refused = readRefused({ home: io.home, project: io.cwd });
  const planned = planTickets(scan, { busy: new Set(runs.keys()), busyBranches: new Set() }, rules);
  return { folder, settings, scan, plan: withRefused(planned, refused), rules, refused, runs };
}

/** A file that cannot be read as a ticket can still be named and mended. */
export type FoundTicket = { readonly id: string; readonly path: string; readonly ticket: Ticket | null };

/** `AGI-7`, `agi-7` or `7`. */
export function ticketId({ ticketPrefix }: TicketSettings, typed: string): string {
  const word = typed.trim();
  return /^[0-9]{1,9}$/u.test(word) ? `${ticketPrefix}-${word}` : word.toUpperCase();
}

export function findTicket({ scan, settings }: Pick<Tickets, "scan" | "settings">, typed: string): FoundTicket {
  const id = ticketId(settings, typed);
  const ticket = scan.tickets.find((each) => each.id === id);
  if (ticket !== undefined) return { id, path: ticket.path, ticket };
  const broken = scan.problems.find((problem) => problem.ticket === id);
  if (broken !== undefined) return { id, path: broken.path, ticket: null };
  const near = nearest(
    id,
    scan.tickets.map((each) => each.id),
  );
  throw new CliError(
    "ticket_not_found",
    `There is no ticket ${typed.trim().slice(0, 100)} in ${settings.folder}.`,
    near === undefined ? "passrail ticket list" : `Did you mean ${near}?   passrail ticket show ${near}`,
  );
}

async function runsOf(io: Io, scan: TicketScan): Promise<ReadonlyMap<string, Run>> {
  const found = new Map<string, Run>();
  const store = await openForReading(io);
  if (store === undefined) return found;
  try {
    const ids = new Set(scan.tickets.map(({ id }) => id));
    for (let before: number | undefined; ; ) {
      const page = await store.listSubjects({ open: true, limit: PAGE, ...optional({ before }) });
      for (const { newest } of page) {
        const run = ids.has(newest.subject.id) ? await openRunOf(store, io.cwd, newest.subject.id) : undefined;
        if (run !== undefined) found.set(run.subject.id, run);
      }
      before = page.at(-1)?.newest.number;
      if (page.length < PAGE || before === undefined) return found;
    }
  } finally {
    store.close();
  }
}

/** The same number may be another project's ticket, and a later run may only land the work of an earlier one. */
async function openRunOf(store: Store, project: string, ticket: string): Promise<Run | undefined> {
  for (const { id, status } of await store.runsOf(ticket)) {
    if (status === "completed" || status === "canceled") continue;
    const run = (await store.loadRun(id))?.run;
    if (run !== undefined && ticketOfRun(run)?.project === project) return run;
  }
  return undefined;
}

const PAGE = 500;
