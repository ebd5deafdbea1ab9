// Which rung of a ladder an attempt takes: the first whose runner can work now. An attempt that continues a session stays with its runner.

import type { PassedRung } from "../flow/ladder.ts";
import type { Hold } from "./hold.ts";
import { isAccountLimit } from "./postponement.ts";

export type RungChoice =
  | { readonly type: "taken"; readonly at: number; readonly passed: readonly PassedRung[] }
  /** Every runner is out; this hold ends first. */
  | { readonly type: "held"; readonly hold: TimedHold };

export type TimedHold = Hold & { readonly until: string };

/** A hold that ends so soon is waited for: another program would have to read everything anew. */
const PATIENCE_MS = 30_000;

/**
 * `bound`: the runner whose session the attempt continues, or null. `holdOf`: the present obstacle of a runner, if there is one.
 */
export function chooseRung(
  runners: readonly string[],
  bound: string | null,
  holdOf: (runner: string) => TimedHold | undefined,
  nowMs: number,
): RungChoice {
  const own = bound === null ? -1 : runners.indexOf(bound);
  const allowed = own === -1 ? runners.map((_, at) => at) : [own];
  // Without another rung only limits are waited for: a program that is missing or logged out is a person's matter, not time's.
  const isAlone = allowed.length === 1;
  const passed: (TimedHold & { readonly at: number })[] = [];
  for (const at of allowed) {
    const hold = holdOf(runners[at] ?? "");
    if (hold === undefined || (isAlone && !isAccountLimit(hold.cause)))
      return { type: "taken", at, passed: passed.map(({ runner, cause, until }) => ({ runner, cause, until })) };
    // A short limit is waited for on its own rung.
    if (isAccountLimit(hold.cause) && Date.parse(hold.until) - nowMs <= PATIENCE_MS) return { type: "held", hold };
    passed.push({ ...hold, at });
  }
  const [first] = passed.toSorted((one, other) => Date.parse(one.until) - Date.parse(other.until));
  if (first === undefined) return { type: "taken", at: 0, passed: [] };
  const { at: _at, ...hold } = first;
  return { type: "held", hold };
}

const NOT_USABLE: ReadonlySet<string> = new Set(["agent_not_found", "spawn_failed", "auth", "billing"]);

/** Whether another rung may take over from an attempt that ended for this reason: its program did not fail at the work. */
export function mayMove(cause: string | undefined): boolean {
  return cause !== undefined && (isAccountLimit(cause) || NOT_USABLE.has(cause));
}
