// Attempts whose verdict came through the API while their program still lives. The program may end by itself for a while, then it is ended.
// Until it is gone nothing else of its run starts: both would work in the same workspace.

import type { Slots } from "./slots.ts";

export type Lingering = {
  /** The attempt's verdict is in. `end` is called when its program has not ended by itself in time. */
  begin(key: string, runId: string, end: () => void): void;
  has(key: string): boolean;
  /** Its program is gone. */
  over(key: string): void;
};

export function createLingering(slots: Pick<Slots, "bar" | "unbar">, lingerMs: number): Lingering {
  const waiting = new Map<string, { readonly runId: string; readonly timer: NodeJS.Timeout }>();
  return {
    begin(key, runId, end) {
      if (waiting.has(key)) return;
      slots.bar(runId);
      waiting.set(key, { runId, timer: setTimeout(end, lingerMs) });
    },
    has: (key) => waiting.has(key),
    over(key) {
      const entry = waiting.get(key);
      if (entry === undefined) return;
      waiting.delete(key);
      clearTimeout(entry.timer);
      slots.unbar(entry.runId);
    },
  };
}
