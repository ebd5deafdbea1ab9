// What a card says besides its title, derived from the ticket alone.

import type { ShownName, Tone } from "../base/status.ts";
import type { ListedFile, ListedTicket } from "./listed-ticket.ts";

const STALLED_MS = 5 * 60_000;

/** How it stands. Escalated is a state of its own: how often it was sent back does not make it so. */
export function standingOf(ticket: ListedTicket): ShownName {
  if (ticket.paused && (ticket.status === "running" || ticket.status === "waiting")) return "paused";
  if (ticket.file !== null && !goesOn(ticket)) return standingOfFile(ticket.file);
  switch (ticket.status) {
    case null:
      return "queued";
    case "waiting":
      return isEscalated(ticket) ? "escalated" : "waiting";
    case "running":
      if (ticket.agent === null) return "queued";
      return ticket.loops > 0 ? "revising" : "running";
    case "stopped":
    case "completed":
    case "canceled":
      return ticket.status;
  }
}

function goesOn({ status }: Pick<ListedTicket, "status">): boolean {
  return status === "running" || status === "waiting" || status === "stopped";
}

/** How a ticket stands whose file alone says so. */
export function standingOfFile({
  state,
  status,
}: {
  readonly state: ListedFile["state"];
  readonly status: string;
}): ShownName {
  return state === "ended" && status === "Canceled" ? "canceled" : STATES[state];
}

/** `working` without a run: that of another machine, or one that was lost. */
const STATES: Readonly<Record<ListedFile["state"], ShownName>> = {
  eligible: "ready",
  waits: "held",
  refused: "refused",
  working: "queued",
  intervention: "person",
  "awaiting-merge": "merging",
  ended: "completed",
};

function isEscalated({ waits }: Pick<ListedTicket, "waits">): boolean {
  return waits.some(({ kind }) => kind === "escalation");
}

/** No event and no word of the agent for more than five minutes, while one is at work. */
export function isStalled({ status, agent, paused, activeAt }: ListedTicket, now: number): boolean {
  if (status !== "running" || agent === null || paused || activeAt === null) return false;
  return now - Date.parse(activeAt) > STALLED_MS;
}

export type LoopBadge = { readonly key: string; readonly text: string; readonly title: string; readonly tone: Tone };

/** One per counter that has counted; none before the first loop. The tone changes with the first loop and at the maximum. */
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

/** Sums with unknown parts say so. Where nothing was reported it is a dash: programs that tell no cost are not free. */
export function costText({ usd, unknownUsd }: ListedTicket["cost"]): string {
  if (usd === 0) return "—";
  const known = usd < 0.01 ? "<$0.01" : `$${usd.toFixed(2)}`;
  return unknownUsd === 0 ? known : `≥ ${known}`;
}

/** An id that was made up by a machine is told by its beginning; one that a person gave is shown as it is. */
export function shortId(id: string): string {
  return /^[0-9a-f]{32}$/.test(id) ? `${id.slice(0, 8)}…` : id;
}

/** The number of its newest run; without one the request that it belongs to. */
export function ticketOrigin({ newest, file }: Pick<ListedTicket, "newest" | "file">): string {
  return newest === null ? (file?.request ?? "") : `#${newest.number}`;
}

/** What is waited for, and who is to say it. */
export function waitText({ kind, stage, who }: ListedTicket["waits"][number]): string {
  return `${WAITS[kind]} for ${who} at ${stage}`;
}

const WAITS: Readonly<Record<ListedTicket["waits"][number]["kind"], string>> = {
  gate: "Decision",
  question: "Question",
  choice: "Choice",
  escalation: "Escalation",
  budget: "Budget",
};
