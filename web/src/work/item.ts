// A piece of work as the place Work shows it: a ticket or an ad-hoc run, its state, and one of six lanes. The state table decides the lane,
// so that list, board and badge never contradict each other.

import type { AnswerTo } from "../../../src/http/client/input.ts";
import type { ShownName } from "../base/status.ts";
import type { ListedTicket } from "../ticket/listed-ticket.ts";
import { standingOf } from "../ticket/ticket-facts.ts";

export type WorkEnd = AnswerTo<"listInbox">["looseEnds"][number];

export const LANES = ["backlog", "underway", "you", "merge", "done", "stopped"] as const;
export type LaneName = (typeof LANES)[number];

export const LANE_WORDS: Readonly<Record<LaneName, string>> = {
  backlog: "Backlog",
  underway: "Under way",
  you: "Waiting for you",
  merge: "To merge",
  done: "Done",
  stopped: "Stopped",
};

export type WorkItem = {
  readonly id: string;
  readonly ticket: ListedTicket;
  readonly is: ShownName;
  readonly lane: LaneName;
  /** Its loose end: unmerged work, a stopped run, a blocked ticket. */
  readonly end: WorkEnd | undefined;
};

export function itemsOf(tickets: readonly ListedTicket[], ends: readonly WorkEnd[]): readonly WorkItem[] {
  const byRun = new Map(ends.flatMap((end) => (end.run === null ? [] : [[end.run.id, end] as const])));
  const byTicket = new Map(ends.flatMap((end) => (end.ticket === null ? [] : [[end.ticket, end] as const])));
  return tickets.map((ticket) => {
    const end = byRun.get(ticket.newest?.id ?? "") ?? byTicket.get(ticket.id);
    const standing = standingOf(ticket);
    // A list of runs does not know where their work is; the list of loose ends does.
    const is = standing === "completed" && end?.kind === "merge" ? "notLanded" : standing;
    return { id: ticket.id, ticket, is, lane: LANE_OF[is], end };
  });
}

const LANE_OF: Readonly<Record<ShownName, LaneName>> = {
  ready: "backlog",
  others: "backlog",
  refused: "you",
  person: "you",
  waiting: "you",
  escalated: "you",
  taken: "you",
  queued: "underway",
  held: "underway",
  outside: "underway",
  working: "underway",
  revising: "underway",
  paused: "underway",
  merging: "merge",
  notLanded: "merge",
  completed: "done",
  landed: "done",
  stopped: "stopped",
  canceled: "stopped",
};

export function isLane(text: string | undefined): text is LaneName {
  return LANES.some((lane) => lane === text);
}

/** How many of each lane; all six, also the empty ones. */
export function countLanes(items: readonly WorkItem[]): ReadonlyMap<LaneName, number> {
  const counts = new Map<LaneName, number>(LANES.map((lane) => [lane, 0]));
  for (const { lane } of items) counts.set(lane, (counts.get(lane) ?? 0) + 1);
  return counts;
}
