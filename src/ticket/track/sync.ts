// Compares the imported tickets of a project with their issues, once: issues follow their tickets, and an issue that was ended ends its
// ticket. Every act can be repeated: the note has only the states of both sides.

import { CANCELED_STATUS, isOver, isTicketStatus } from "../../core/ticket/status.ts";
import type { Ticket } from "../../core/ticket/ticket.ts";
import { phaseOf, trackStep, type IssueState } from "../../core/ticket/tracked.ts";
import { REFUSALS, type Tracker } from "../../tracker/tracker.ts";
import type { TicketFolder } from "../file/folder.ts";
import { readTracked, type TrackedNote, writeTracked } from "./tracked-note.ts";

export type SyncPlace = {
  readonly home: string;
  readonly project: string;
  readonly folder: Pick<TicketFolder, "scan" | "update">;
  readonly trackers: readonly Tracker[];
  /** Only says what it would do. */
  readonly dryRun?: boolean;
};

export type Synced = {
  /** One sentence per change, and per issue or tracker that could not be changed. */
  readonly changes: readonly string[];
  readonly problems: readonly string[];
};

type Pair = { readonly note: TrackedNote; readonly ticket: Ticket; readonly id: string };
type Said = { readonly type: "change" | "problem"; readonly text: string };

export async function syncTrackers(place: SyncPlace): Promise<Synced> {
  const notes = readTracked(place.home, place.project);
  if (notes.length === 0) return { changes: [], problems: [] };
  const { tickets } = await place.folder.scan();
  const bySource = new Map(tickets.map((ticket) => [ticket.source, ticket]));
  const said: Said[] = [];
  for (const tracker of place.trackers) {
    const pairs = notes.flatMap((note): readonly Pair[] => {
      const ticket = bySource.get(note.source);
      const id = note.source.startsWith(`${tracker.origin}#`) ? note.source.slice(tracker.origin.length + 1) : "";
      return ticket === undefined || id === "" || isSettled(note, ticket) ? [] : [{ note, ticket, id }];
    });
    said.push(...(await syncWith(tracker, pairs, place)));
  }
  const of = (type: Said["type"]) => said.filter((each) => each.type === type).map(({ text }) => text);
  return { changes: of("change"), problems: of("problem") };
}

/** An ended ticket whose issue was updated: no change can follow, so the tracker is not asked. Trackers count requests. */
function isSettled({ last }: TrackedNote, { status }: Ticket): boolean {
  return isTicketStatus(status) && isOver(status) && last?.phase === phaseOf(status);
}

async function syncWith(tracker: Tracker, pairs: readonly Pair[], place: SyncPlace): Promise<readonly Said[]> {
  if (pairs.length === 0) return [];
  const states = await tracker.statesOf(pairs.map(({ id }) => id));
  if (!states.ok) return [{ type: "problem", text: `${tracker.origin}: ${states.error.message}` }];
  const said: Said[] = [];
  for (const pair of pairs) {
    const there = states.value.get(pair.id);
    if (there === undefined) continue;
    const one = await compare(tracker, pair, there, place);
    if (one !== undefined) said.push(one);
  }
  return said;
}

async function compare(
  tracker: Tracker,
  { note, ticket, id }: Pair,
  there: IssueState,
  { home, folder, dryRun = false }: SyncPlace,
): Promise<Said | undefined> {
  const { status } = ticket;
  if (!isTicketStatus(status)) return undefined;
  const phase = phaseOf(status);
  const keep = (state: string, refused: TrackedNote["refused"] = null): void => {
    if (!dryRun) writeTracked(home, { ...note, last: { phase, state }, refused });
  };
  const step = trackStep(status, there, note.last, tracker.states);
  switch (step.type) {
    case "nothing":
      if (note.last?.phase !== phase || note.last.state !== there.name) keep(there.name, note.refused);
      return undefined;
    case "cancel": {
      const text = `${ticket.id} → ${CANCELED_STATUS}, because ${id} is ${there.name} at ${tracker.origin}`;
      if (dryRun) return { type: "change", text };
      // The note comes after it: after a crash in between the next sync finds an ended ticket, and has nothing left to do.
      const written = await folder.update(ticket, { status: CANCELED_STATUS }, { status });
      if (!written.ok) return { type: "problem", text: `${ticket.id}: ${written.error.message}` };
      writeTracked(home, { ...note, last: { phase: phaseOf(CANCELED_STATUS), state: there.name }, refused: null });
      return { type: "change", text };
    }
    case "move": {
      if (note.refused?.phase === phase) return undefined;
      const text = `${id} → ${step.to} at ${tracker.origin}, because ${ticket.id} is ${status}`;
      if (dryRun) return { type: "change", text };
      const moved = await tracker.move(id, step.to);
      if (moved.ok) {
        keep(step.to);
        return { type: "change", text };
      }
      const { code, message } = moved.error;
      // A refused move waits until the ticket's phase changes; everything else is tried again at the next look.
      if (REFUSALS.has(code)) writeTracked(home, { ...note, refused: { phase, reason: message.slice(0, 500) } });
      return { type: "problem", text: `${ticket.id}: ${message}` };
    }
  }
}
