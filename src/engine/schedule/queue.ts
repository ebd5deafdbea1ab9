// Attempts that are ready but have no slot yet. Runs under way come before new ones, so that Passrail finishes work before it begins more.
// Otherwise the order is first come, first served.

import type { ReadyAttempt } from "../ready-attempt.ts";
import type { Slots } from "../slots.ts";

export type Queue = {
  /** Adding a queued attempt again changes nothing. */
  add(attempt: ReadyAttempt): void;
  has(key: string): boolean;
  /** Removes the unwanted attempts of one run. */
  drop(runId: string, unwanted: (attempt: ReadyAttempt) => boolean): void;
  /** Whether an attempt waits that comes before this one. */
  hasBefore(attempt: ReadyAttempt): boolean;
  /** Removes and returns the attempts that got a slot, in order. */
  takeStartable(slots: Pick<Slots, "full" | "tryTake">): readonly ReadyAttempt[];
  /** All that wait, in order. */
  all(): readonly ReadyAttempt[];
  /** Whether all that wait are such attempts. */
  every(isSuch: (attempt: ReadyAttempt) => boolean): boolean;
};

export function createQueue(): Queue {
  // Maps keep the order of insertion; a key is in one of the two.
  const underWay = new Map<string, ReadyAttempt>();
  const fresh = new Map<string, ReadyAttempt>();
  const byRun = new Map<string, Set<ReadyAttempt>>();

  const remove = (attempt: ReadyAttempt): void => {
    underWay.delete(attempt.key);
    fresh.delete(attempt.key);
    const own = byRun.get(attempt.runId);
    own?.delete(attempt);
    if (own?.size === 0) byRun.delete(attempt.runId);
  };

  return {
    all: () => [...underWay.values(), ...fresh.values()],
    every: (isSuch) => [...underWay.values(), ...fresh.values()].every(isSuch),
    add(attempt) {
      if (underWay.has(attempt.key) || fresh.has(attempt.key)) return;
      (attempt.first ? fresh : underWay).set(attempt.key, attempt);
      const own = byRun.get(attempt.runId) ?? new Set();
      byRun.set(attempt.runId, own.add(attempt));
    },
    has: (key) => underWay.has(key) || fresh.has(key),
    drop(runId, unwanted) {
      for (const attempt of byRun.get(runId) ?? []) if (unwanted(attempt)) remove(attempt);
    },
    hasBefore(attempt) {
      return underWay.size > 0 || (attempt.first && fresh.size > 0);
    },
    takeStartable(slots) {
      const taken: ReadyAttempt[] = [];
      for (const line of [underWay, fresh]) {
        for (const attempt of line.values()) {
          if (slots.full) break;
          if (slots.tryTake(attempt.slot)) taken.push(attempt);
        }
      }
      for (const attempt of taken) remove(attempt);
      return taken;
    },
  };
}
