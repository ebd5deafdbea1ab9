// Runners that are over their limit, as an attempt reported: other attempts of the same runner wait. In memory only; an attempt that is
// held back is postponed in its run.

import type { Report } from "../../core/flow/outcome.ts";
import { isAccountLimit, limitMs } from "../../core/run/postponement.ts";
import type { Clock } from "../clock.ts";

export type Hold = { readonly cause: string; readonly until: string };

export type Holds = {
  /** The limit that this runner is over now. */
  of(runner: string): Hold | undefined;
  /** The report of an attempt that began at this time of the monotonic clock may set a hold or lift one. */
  noteReport(runner: string, report: Report, beganMs: number): void;
  readonly size: number;
};

export function createHolds(clock: Clock): Holds {
  const holds = new Map<string, Hold & { readonly sinceMs: number; readonly deadlineMs: number }>();
  return {
    get size() {
      return holds.size;
    },
    of(runner) {
      const hold = holds.get(runner);
      if (hold === undefined) return undefined;
      if (clock.monotonicMs() < hold.deadlineMs && Date.parse(clock.now()) < Date.parse(hold.until)) return hold;
      holds.delete(runner);
      return undefined;
    },
    noteReport(runner, { cause, resetsAt }, beganMs) {
      const known = holds.get(runner);
      if (isAccountLimit(cause)) {
        const now = clock.now();
        const wait = limitMs(now, resetsAt);
        if (cause === undefined || wait === undefined) return;
        const sinceMs = clock.monotonicMs();
        const until = new Date(Date.parse(now) + wait).toISOString();
        holds.set(runner, { cause, until, sinceMs, deadlineMs: sinceMs + wait });
      } else if (known !== undefined && beganMs > known.sinceMs && cause === undefined) {
        // The runner has worked since: the limit is gone, whatever the earlier report said.
        holds.delete(runner);
      }
    },
  };
}
