// A read that goes through much of the store lets everything else have its turn, so that a commit waits for it a few milliseconds at most.

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
