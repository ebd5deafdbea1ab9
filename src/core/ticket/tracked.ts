// A ticket and the issue that it came from: their states, and which of the two follows the other.

import { isAwaitingMerge, isIntervention, isOver, type TicketStatus } from "./status.ts";

/** The states for a tracker: the ticket's 18 words in six. */
export const TRACKED_PHASES = ["open", "working", "attention", "review", "done", "canceled"] as const;
export type TrackedPhase = (typeof TRACKED_PHASES)[number];

/** The tracker's own name for each phase; a phase without a name leaves the issue as it is. */
export type TrackedStates = Readonly<Partial<Record<TrackedPhase, string>>>;

export type IssueState = {
  readonly name: string;
  readonly kind: "open" | "started" | "done" | "canceled";
};

/** The states of both sides when they were last compared. */
export type LastCompared = { readonly phase: TrackedPhase; readonly state: string };

const NOT_STARTED: ReadonlySet<TicketStatus> = new Set(["Backlog", "Needs Research"]);

export function phaseOf(status: TicketStatus): TrackedPhase {
  if (isOver(status)) return status === "Done" ? "done" : "canceled";
  if (isAwaitingMerge(status)) return "review";
  if (isIntervention(status)) return "attention";
  return NOT_STARTED.has(status) ? "open" : "working";
}

export type TrackStep =
  | { readonly type: "nothing" }
  /** The issue follows the ticket. */
  | { readonly type: "move"; readonly to: string }
  /** The issue has ended at the tracker: agents must not work on the ticket. */
  | { readonly type: "cancel" };

/**
 * An issue that was ended there ends its ticket. Otherwise the issue follows the ticket, and only when the ticket's phase changes: a state
 * that people choose there in between stays. An issue that is opened again starts nothing.
 */
export function trackStep(
  status: TicketStatus,
  there: IssueState,
  last: LastCompared | null,
  states: TrackedStates,
): TrackStep {
  const phase = phaseOf(status);
  const wanted = states[phase];
  const isEnded = there.kind === "done" || there.kind === "canceled";
  if (isEnded && !isOver(status) && there.name !== wanted && there.name !== last?.state) return { type: "cancel" };
  const isNew = last === null || last.phase !== phase;
  // An issue of a ticket that has not started needs no word from us.
  if (last === null && phase === "open") return { type: "nothing" };
  return isNew && wanted !== undefined && wanted !== there.name ? { type: "move", to: wanted } : { type: "nothing" };
}
