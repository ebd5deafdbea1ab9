// Runners that are over their limit, as an attempt reported: other attempts of the same runner wait, of whichever run. The store keeps them,
// so that a restart forgets none and every process shows them; here is what the process that performs decides by.

import type { Report } from "../../core/flow/outcome.ts";
import { fullest, LIMIT_NEAR, limitUseText, type LimitUse, nearMs } from "../../core/run/limit-use.ts";
import { type Hold, type HoldKey, holdMs, isHeld, passedOverMs } from "../../core/run/hold.ts";
import type { Store } from "../../store/store.ts";
import type { Clock } from "../clock.ts";

export type Holds = {
  /** What keeps this runner from working now: a limit, or, for ladders, that its program is missing or logged out. */
  of(runner: string): ActiveHold | undefined;
  /** Whether this runner's account is near a limit: its attempts start one at a time. */
  isNear(runner: string): boolean;
  /** A working attempt tells how far the account's limits are used. */
  noteUses(runner: string, uses: readonly LimitUse[], runId: string): void;
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
  /** Percent of a limit from which on starts are slowed down. */
  readonly nearPercent: number;
  /** Repeats a write until the store takes it. */
  readonly persist: (write: () => Promise<unknown>) => Promise<unknown>;
  /** The runner works again: attempts that wait for it may start. */
  readonly onLifted: (runner: string) => void;
};

type Known = { readonly hold: ActiveHold; readonly sinceMs: number; readonly deadlineMs: number };

const REASON_CHARS = 500;

export function createHolds({ clock, store, accountOf, nearPercent, persist, onLifted }: HoldsDeps): Holds {
  let known = new Map<string, Known>();
  let writing: Promise<unknown> = Promise.resolve();

  const write = (act: () => Promise<unknown>): void => {
    // One after the other: the last word about a runner is the last in the store.
    writing = writing.then(() => persist(act));
  };

  function remember(hold: ActiveHold, waitMs: number, sinceMs: number): Known {
    return { hold, sinceMs, deadlineMs: clock.monotonicMs() + waitMs };
  }

  function hold(runner: string, why: Why, waitMs: number): void {
    const set = holdFor({ runner, account: accountOf(runner) }, why, waitMs);
    known.set(runner, remember(set, waitMs, clock.monotonicMs()));
    write(() => store.setHold(set));
  }

  function forget({ runner, account }: Hold): void {
    known.delete(runner);
    write(() => store.liftHold({ runner, account }));
  }

  function activeOf(runner: string): ActiveHold | undefined {
    const found = known.get(runner);
    if (found === undefined) return undefined;
    if (clock.monotonicMs() < found.deadlineMs && Date.parse(clock.now()) < Date.parse(found.hold.until))
      return found.hold;
    forget(found.hold);
    return undefined;
  }

  return {
    get size() {
      return known.size;
    },
    of: (runner) => unlessNear(activeOf(runner)),
    isNear: (runner) => activeOf(runner)?.cause === LIMIT_NEAR,
    noteUses(runner, uses, runId) {
      const since = clock.now();
      const use = fullest(uses, Date.parse(since));
      const before = activeOf(runner);
      // A limit that is reached says more than one that is near.
      if (use === undefined || (before !== undefined && before.cause !== LIMIT_NEAR)) return;
      const wait = nearMs(use, nearPercent, Date.parse(since));
      const reason = limitUseText(use);
      if (wait === undefined) return before === undefined ? undefined : forget(before);
      if (before?.reason !== reason) hold(runner, { cause: LIMIT_NEAR, reason, since, runId }, wait);
    },
    noteReport(runner, { cause, reason = "", resetsAt }, { runId, beganMs, hasLadder }) {
      const since = clock.now();
      const wait = holdMs(cause, since, resetsAt) ?? (hasLadder ? passedOverMs(cause) : undefined);
      const before = known.get(runner);
      if (cause !== undefined && wait !== undefined) {
        hold(runner, { cause, reason, since, runId }, wait);
      } else if (isOver(before, beganMs) && cause === undefined) {
        // The runner has worked since: the limit is gone, whatever the earlier report said.
        forget(before.hold);
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

/** A limit that was met before this attempt began. Being near one ends with its window, or by lower numbers. */
function isOver(found: Known | undefined, beganMs: number): found is Known {
  return found !== undefined && beganMs > found.sinceMs && found.hold.cause !== LIMIT_NEAR;
}

type Why = Pick<Hold, "cause" | "reason" | "since" | "runId">;

function holdFor(key: HoldKey, why: Why, waitMs: number): ActiveHold {
  const until = new Date(Date.parse(why.since) + waitMs).toISOString();
  return { ...key, ...why, reason: why.reason.slice(0, REASON_CHARS), until, by: "engine" };
}

function unlessNear(hold: ActiveHold | undefined): ActiveHold | undefined {
  return hold?.cause === LIMIT_NEAR ? undefined : hold;
}
