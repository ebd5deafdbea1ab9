// Attempts that must not start before a certain time. The list follows from the runs, so a restart loses nothing. A wait also ends when as
// much time has passed: setting the clock back does not make it longer, nor does a restart after that.

import type { Clock } from "../clock.ts";
import type { ReadyAttempt } from "../ready-attempt.ts";

export type Alarms = {
  /** Setting an attempt twice changes nothing. False when its time has come. `since`: the wait was decided then or later. */
  set(attempt: ReadyAttempt, until: string, since?: string): boolean;
  /** Removes the unwanted attempts of one run. */
  drop(runId: string, unwanted: (attempt: ReadyAttempt) => boolean): void;
  /** Removes and returns the attempts whose time has come, the earliest first. */
  takeDue(): readonly ReadyAttempt[];
  readonly size: number;
  /** Whether an attempt of this run waits for its time. */
  waitsFor(runId: string): boolean;
  /** For good: `onDue` is never called again. */
  stop(): void;
};

type Waiting = { readonly attempt: ReadyAttempt; readonly untilMs: number; readonly deadlineMs: number };

/** The longest sleep: clocks jump, laptops sleep, and a timer of Node cannot hold more than 24 days. */
const LOOK_MS = 30_000;

export function createAlarms(clock: Clock, onDue: () => void): Alarms {
  const waiting = new Map<string, Waiting>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  /** Zero or less: the wait is over. */
  function remainingMs({ untilMs, deadlineMs }: Waiting): number {
    return Math.min(untilMs - Date.parse(clock.now()), deadlineMs - clock.monotonicMs());
  }

  function schedule(): void {
    clearTimeout(timer);
    timer = undefined;
    if (stopped || waiting.size === 0) return;
    const next = Math.min(...[...waiting.values()].map(remainingMs));
    // The timer keeps the process alive: the attempt starts without any signal.
    timer = setTimeout(ring, Math.max(1, Math.min(next, LOOK_MS)));
  }

  function ring(): void {
    if ([...waiting.values()].some((each) => remainingMs(each) <= 0)) onDue();
    schedule();
  }

  return {
    get size() {
      return waiting.size;
    },
    waitsFor: (runId) => [...waiting.values()].some(({ attempt }) => attempt.runId === runId),
    set(attempt, until, since) {
      if (waiting.has(attempt.key)) return true;
      const untilMs = Date.parse(until);
      const whole = untilMs - Date.parse(since ?? "");
      const left = untilMs - Date.parse(clock.now());
      // A clock that stands before the decision was set back: the wait is at most as long as it was meant to be.
      const wait = whole > 0 ? Math.min(left, whole) : left;
      // An unreadable time must not wait for ever.
      if (!(wait > 0)) return false;
      waiting.set(attempt.key, { attempt, untilMs, deadlineMs: clock.monotonicMs() + wait });
      schedule();
      return true;
    },
    drop(runId, unwanted) {
      if (waiting.size === 0) return;
      for (const { attempt } of waiting.values())
        if (attempt.runId === runId && unwanted(attempt)) waiting.delete(attempt.key);
      schedule();
    },
    takeDue() {
      if (waiting.size === 0) return [];
      const due = [...waiting.values()]
        .filter((each) => remainingMs(each) <= 0)
        .sort((a, b) => a.untilMs - b.untilMs)
        .map(({ attempt }) => attempt);
      for (const { key } of due) waiting.delete(key);
      if (due.length > 0) schedule();
      return due;
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
