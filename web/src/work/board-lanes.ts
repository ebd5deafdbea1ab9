// The lanes of the board: six by state, or one per status word of a single flow, in the flow's order. A word that the flow does not list
// (from an older version, or from a stage that a router chose) gets an extra lane, so that every ticket appears.

import { hasEnded } from "../ticket/listed-ticket.ts";
import { LANES, LANE_WORDS, type LaneName, type WorkItem } from "./item.ts";
import { sortWork } from "./arrange.ts";

export type BoardLane = {
  readonly key: string;
  readonly word: string;
  /** Null for a lane of a flow's word. */
  readonly state: LaneName | null;
  readonly items: readonly WorkItem[];
};

export function stateLanes(items: readonly WorkItem[]): readonly BoardLane[] {
  return LANES.map((lane) => ({
    key: lane,
    word: LANE_WORDS[lane],
    state: lane,
    items: inOrder(items.filter((item) => item.lane === lane)),
  }));
}

export function wordLanes(statuses: readonly string[], items: readonly WorkItem[]): readonly BoardLane[] {
  const unknown = [...new Set(items.map(({ ticket }) => ticket.word))].filter((word) => !statuses.includes(word));
  const isOver = (word: string) => items.some(({ ticket }) => ticket.word === word && hasEnded(ticket));
  const words = [...unknown.filter((word) => !isOver(word)), ...statuses, ...unknown.filter(isOver)];
  return words.map((word) => ({
    key: word,
    word,
    state: null,
    items: inOrder(items.filter(({ ticket }) => ticket.word === word)),
  }));
}

/** Cards that wait for a person come first, then those that moved last. */
function inOrder(items: readonly WorkItem[]): readonly WorkItem[] {
  return sortWork(items, { key: "need", isDown: false });
}

/** The lane that a phone shows first: one that needs a person, else one that has something. */
export function firstOfInterest(lanes: readonly BoardLane[]): BoardLane | undefined {
  return (
    lanes.find(({ items }) => items.some(({ lane }) => lane === "you")) ??
    lanes.find(({ items }) => items.length > 0) ??
    lanes[0]
  );
}
