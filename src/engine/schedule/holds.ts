// Runners that are over their limit, as an attempt reported: other attempts of the same runner wait, of whichever run. The store keeps them,
// so that a restart forgets none and every process shows them; here is what the process that performs decides by.

import type { Report } from "../../core/flow/outcome.ts";
import { type Hold, holdMs, isHeld, passedOverMs } from "../../core/run/hold.ts";
import type { Store } from "../../store/store.ts";
import type { Clock } from "../clock.ts";

export type Holds = {
  /** What keeps this runner from working now: a limit, or, for ladders, that its program is missing or logged out. */
  of(runner: string): ActiveHold | undefined;
  /** The report of an attempt that began at this time of the monotonic clock may set a hold or lift one. */
  noteReport(runner: string, report: Report, attempt: ReportedAttempt): void;
  /** Takes what the store has, also what other processes changed. */
  load(): Promise<void>;
  readonly size: number;
};

export type ReportedAttempt = {
  readonly runId: string;
  readonly beganMs: number;
  /** Its stage has other rungs: they pass over a program that cannot work. */
  readonly hasLadder: boolean;
};

/** With a time: one that only a person ends is for another door. */
export type ActiveHold = Hold & { readonly until: string };

export type HoldsDeps = {
  readonly clock: Clock;
  readonly store: Pick<Store, "holds" | "setHold" | "liftHold">;
  /** The login that pays for a runner now. */
  readonly accountOf: (runner: string) => string;
  /** Repeats a write until the store takes it. */
  readonly persist: (write: () => Promise<unknown>) => Promise<unknown>;
  /** The runner works again: attempts that wait for it may start. */
  readonly onLifted: (runner: string) => void;
};

type Known = { readonly hold: ActiveHold; readonly sinceMs: number; readonly deadlineMs: number };

const REASON_CHARS = 500;

export function createHolds({ clock, store, accountOf, persist, onLifted }: HoldsDeps): Holds {
  let known = new Map<string, Known>();
  let writing: Promise<unknown> = Promise.resolve();

  const write = (act: () => Promise<unknown>): void => {
    // One after the other: the last word about a runner is the last in the store.
    writing = writing.then(() => persist(act));
  };

  function remember(hold: ActiveHold, waitMs: number, sinceMs: number): Known {
    return { hold, sinceMs, deadlineMs: clock.monotonicMs() + waitMs };
  }

  return {
    get size() {
      return known.size;
    },
    of(runner) {
      const found = known.get(runner);
      if (found === undefined) return undefined;
      if (clock.monotonicMs() < found.deadlineMs && Date.parse(clock.now()) < Date.parse(found.hold.until))
        return found.hold;
      known.delete(runner);
      const { account } = found.hold;
      write(() => store.liftHold({ runner, account }));
      return undefined;
    },
    noteReport(runner, { cause, reason = "", resetsAt }, { runId, beganMs, hasLadder }) {
      const since = clock.now();
      const wait = holdMs(cause, since, resetsAt) ?? (hasLadder ? passedOverMs(cause) : undefined);
      const before = known.get(runner);
      if (cause !== undefined && wait !== undefined) {
        const until = new Date(Date.parse(since) + wait).toISOString();
        const account = accountOf(runner);
        const hold = {
          runner,
          account,
          cause,
          reason: reason.slice(0, REASON_CHARS),
          since,
          until,
          runId,
          by: "engine",
        };
        known.set(runner, remember(hold, wait, clock.monotonicMs()));
        write(() => store.setHold(hold));
      } else if (before !== undefined && beganMs > before.sinceMs && cause === undefined) {
        // The runner has worked since: the limit is gone, whatever the earlier report said.
        known.delete(runner);
        write(() => store.liftHold(before.hold));
        onLifted(runner);
      }
    },
    async load() {
      await writing;
      const now = Date.parse(clock.now());
      const found = await store.holds();
      const active = found.flatMap((hold) => {
        const { runner, account, since, until } = hold;
        if (until === null || account !== accountOf(runner) || !isHeld(hold, now)) return [];
        const whole = Date.parse(until) - Date.parse(since);
        const kept = known.get(runner);
        if (kept?.hold.since === since && kept.hold.until === until) return [kept];
        return [remember({ ...hold, until }, Math.min(Date.parse(until) - now, whole), clock.monotonicMs())];
      });
      known = new Map(active.map((each) => [each.hold.runner, each]));
    },
  };
}
