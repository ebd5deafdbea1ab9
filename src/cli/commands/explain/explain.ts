// `explain AGI-7` or `explain 12`: why a ticket or a run is or is not running, one reason per line, with the command that helps.

import { resolveFlow } from "../../../app/start-run/resolve-flow.ts";
import { createLandingAccess } from "../../../ticket/pick/landing-access.ts";
import { projectEnvironment } from "../../../settings/load.ts";
import type { Settings } from "../../../settings/settings.ts";
import { explainTicket, type PlannedTicket } from "../../../core/ticket/plan.ts";
import type { Run } from "../../../core/run/run.ts";
import { findDaemon } from "../../../daemon/note.ts";
import { ticketOfRun } from "../../../ticket/mirror/run-ticket.ts";
import { EXIT } from "../../errors.ts";
import { shownSettings } from "../../shown-settings.ts";
import { explainRun, type Reason, reason } from "./explain-run.ts";
import { requireRun } from "../../find-run.ts";
import type { Store } from "../../../store/store.ts";
import type { Io } from "../../terminal/io.ts";
import { paint, printJson } from "../../terminal/output.ts";
import { plainText } from "../../terminal/plain-text.ts";
import { withReader } from "../../reader.ts";
import { findTicket, readTickets } from "../ticket/read-tickets.ts";

export async function explain(io: Io, reference: string): Promise<number> {
  const config = await shownSettings(io);
  return withReader(io, async (store) => {
    const isTicket = new RegExp(`^${config.tickets.ticketPrefix}-[0-9]{1,9}$`, "iu").test(reference.trim());
    if (isTicket) return explainOne(io, config, store, { typed: reference });
    const { run } = await requireRun(store, reference);
    const place = ticketOfRun(run);
    if (place?.project === io.cwd) return explainOne(io, config, store, { typed: place.id, run });
    print(io, { run: run.id, ticket: null, status: run.word }, await explainRun(store as Store, run, config));
    return EXIT.ok;
  });
}

/** `run`: the run that the user named; without it the ticket's current run, if there is one. */
type TicketQuestion = { readonly typed: string; readonly run?: Run };

async function explainOne(io: Io, config: Settings, store: Store | undefined, asked: TicketQuestion): Promise<number> {
  const tickets = await readTickets(io);
  const { id } = findTicket(tickets, asked.typed);
  const planned = tickets.plan.tickets.get(id);
  const run = asked.run ?? tickets.runs.get(id);
  const [first = id, ...more] = explainTicket(id, tickets.scan, tickets.plan);
  const reasons = [
    reason(planned?.state ?? "refused", first, ...helpFor(id, planned)),
    ...more.map((line) => reason("ticket", line)),
    ...(run === undefined || store === undefined ? [] : await explainRun(store, run, config)),
    ...(run === undefined ? await cannotLeave(io, config, planned) : []),
    ...pickedBy(io, planned, run),
  ];
  print(io, { ticket: id, run: run?.id ?? null, status: planned?.ticket.status ?? null }, reasons);
  return EXIT.ok;
}

function helpFor(id: string, planned: PlannedTicket | undefined): readonly string[] {
  switch (planned?.state) {
    case undefined:
    case "refused":
      return [`passrail ticket edit ${id}`];
    case "waits":
      return planned.on.slice(0, 3).map(({ ticket }) => `passrail explain ${ticket}`);
    case "intervention":
      return [`passrail ticket show ${id}`, `passrail ticket move ${id} "Needs …"`];
    case "awaiting-merge":
      return [`passrail done ${id}`];
    case "eligible":
    case "working":
    case "ended":
      return [];
  }
}

/** A ticket whose finished work could not leave does not start. */
async function cannotLeave(io: Io, config: Settings, planned: PlannedTicket | undefined): Promise<readonly Reason[]> {
  if (planned?.state !== "eligible") return [];
  const resolved = resolveFlow({ home: io.home, project: io.cwd }, planned.ticket.flow ?? config.tickets.flow);
  if (!resolved.ok) return [];
  const { mode, ...settings } = config.merge;
  const environment = projectEnvironment({ home: io.home, project: io.cwd, environment: io.environment });
  if (!environment.ok) return [];
  const checked = await createLandingAccess({ home: io.home, environment: environment.value }).check({
    resolved: resolved.value,
    project: io.cwd,
    mode: mode.value,
    isTerminal: planned.dependents.length === 0,
    settings,
    ticketsFolder: config.tickets.folder,
  });
  if (checked.ok) return [];
  const { message, hint } = checked.error;
  return [
    reason(
      "cannot_leave",
      `its finished work could not leave, so it does not start: ${message}`,
      ...(hint === undefined ? [] : [hint]),
    ),
  ];
}

/** A ticket that could start needs a process that picks tickets. */
function pickedBy(io: Io, planned: PlannedTicket | undefined, run: Run | undefined): readonly Reason[] {
  if (planned?.state !== "eligible" || run !== undefined) return [];
  const daemon = findDaemon(io.home);
  if (daemon === undefined)
    return [
      reason("nobody", "no daemon picks tickets; they start only while passrail work is running", "passrail work"),
    ];
  if (daemon.dispatches && daemon.project === io.cwd)
    return [
      reason(
        "picked",
        `the daemon (process ${daemon.pid}) picks tickets; its log says what delays this one`,
        "passrail status",
      ),
    ];
  const set = "passrail down && passrail up --work --detach";
  return [reason("nobody", `the daemon (process ${daemon.pid}) does not pick this project's tickets`, set)];
}

function print(io: Io, about: Readonly<Record<string, string | null>>, reasons: readonly Reason[]): void {
  if (io.json) return printJson(io, { ...about, reasons });
  for (const { text, commands } of reasons) {
    io.out(plainText(text));
    for (const command of commands) io.out(paint(io, "dim", plainText(`    ${command}`)));
  }
}
