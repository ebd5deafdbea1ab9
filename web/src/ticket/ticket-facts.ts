// Facts that cards and pages show about a ticket, derived from the ticket alone.

import { type ShownName, shownOf, type Tone } from "../base/status.ts";
import type { ListedFile, ListedTicket } from "./listed-ticket.ts";

const STALLED_MS = 5 * 60_000;

/** The badge of a ticket: its run decides while it is open, then its file. */
export function standingOf(ticket: ListedTicket): ShownName {
  const { status, state, loops, file } = ticket;
  const isOpen = status === "running" || status === "waiting" || status === "stopped";
  if (file !== null && !isOpen) return standingOfFile(file);
  return state === null ? "queued" : shownOf({ state, loops });
}

/** The badge of a ticket without an open run. */
export function standingOfFile({
  state,
  status,
}: {
  readonly state: ListedFile["state"];
  readonly status: string;
}): ShownName {
  return state === "ended" && status === "Canceled" ? "canceled" : STATES[state];
}

/** `working` without a run: the run is on another machine, or was lost. */
const STATES: Readonly<Record<ListedFile["state"], ShownName>> = {
  eligible: "ready",
  waits: "others",
  refused: "refused",
  working: "queued",
  intervention: "person",
  "awaiting-merge": "merging",
  ended: "completed",
};

/** An agent works, but there was no event and no output for more than five minutes. */
export function isStalled({ status, agent, paused, activeAt }: ListedTicket, now: number): boolean {
  if (status !== "running" || agent === null || paused || activeAt === null) return false;
  return now - Date.parse(activeAt) > STALLED_MS;
}

export type LoopBadge = { readonly key: string; readonly text: string; readonly title: string; readonly tone: Tone };

/** One badge per counter above zero. The tone changes at the maximum. */
export function loopBadges({ counters }: Pick<ListedTicket, "counters">): readonly LoopBadge[] {
  const counted = counters.filter(({ loops }) => loops > 0);
  return counted.map(({ key, loops, max }) => {
    const named = counted.length > 1 ? ` (${key})` : "";
    return {
      key,
      text: `${counted.length > 1 ? `${key} ` : ""}${loops}${max === null ? "" : `/${max}`}`,
      title: `Revision loop ${loops}${max === null ? "" : ` of ${max}`}${named}`,
      tone: max !== null && loops >= max ? "bad" : "warning",
    };
  });
}

/** A sum with unknown parts says so. No report at all is a dash: runners that report no cost are not free. */
export function costText({ usd, unknownUsd }: ListedTicket["cost"]): string {
  if (usd === 0) return "—";
  const known = usd < 0.01 ? "<$0.01" : `$${usd.toFixed(2)}`;
  return unknownUsd === 0 ? known : `≥ ${known}`;
}

/** A generated id is shortened; an id that a person chose is shown in full. */
export function shortId(id: string): string {
  return isDrawn(id) ? `${id.slice(0, 8)}…` : id;
}

/** A random id means nothing to people, and lists leave it out. */
export function isDrawn(id: string): boolean {
  return /^[0-9a-f]{32}$/.test(id);
}

/** The number of its newest run, else the request that it belongs to. */
export function ticketOrigin({ newest, file }: Pick<ListedTicket, "newest" | "file">): string {
  return newest === null ? (file?.request ?? "") : `#${newest.number}`;
}
