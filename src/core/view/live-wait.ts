// A question whose agent waits alive for the answer: until when, and whether an answer reached it there.

import { asksAtWork, openItems, type Run } from "../run/run.ts";

/** Until when the agent that asked waits for the answer; null if no agent waits. */
export function waitsUntil(run: Run, number: number): string | null {
  const item = openItems(run).find((each) => each.number === number);
  return item !== undefined && asksAtWork(item) && item.live.isOver !== true ? item.live.until : null;
}

/** Whether the answer to this item went to an agent at work, which continues with it. */
export function reachedAgent(run: Run, number: number): boolean {
  return Object.values(run.tracks).some(
    (track) => track.at === "running" && track.answered?.number === number && track.answered.inPlace,
  );
}
