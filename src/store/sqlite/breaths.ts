// A long read of the store pauses every few milliseconds, so that a commit waits only that long.

import { setImmediate as turn } from "node:timers/promises";

const MOST_MS = 4;

/** To be called between small pieces of work. */
export function inBreaths(): () => Promise<void> {
  let sinceMs = performance.now();
  return async () => {
    if (performance.now() - sinceMs < MOST_MS) return;
    await turn();
    sinceMs = performance.now();
  };
}
