// An agent that is about to begin goes first: its workspace is opened and its prompt composed before anything that ended attempts have left
// is cleaned up. Both use the same disk and the same few threads, and nobody waits for the cleaning.

import { setTimeout as delay } from "node:timers/promises";

export type RightOfWay = {
  /** The attempt has started, and its agent has not begun. */
  claim(key: string): void;
  /** Its agent has begun, or the attempt is gone. */
  give(key: string): void;
  /** Resolves when no agent is about to begin; after a while in any case, for on a busy machine one always is. */
  free(mostMs?: number): Promise<void>;
};

const LONGEST_WAIT_MS = 2000;

export function createRightOfWay(): RightOfWay {
  const claimed = new Set<string>();
  let waiting: (() => void)[] = [];
  return {
    claim: (key) => void claimed.add(key),
    give(key) {
      if (!claimed.delete(key) || claimed.size > 0) return;
      for (const resolve of waiting) resolve();
      waiting = [];
    },
    async free(mostMs = LONGEST_WAIT_MS) {
      // What is just being stored may start the next attempt.
      await new Promise((resolve) => void setImmediate(resolve));
      if (claimed.size === 0) return;
      const late = new AbortController();
      const freed = new Promise<void>((resolve) => void waiting.push(resolve));
      await Promise.race([freed, delay(mostMs, undefined, { signal: late.signal }).catch(() => undefined)]);
      late.abort();
    },
  };
}
