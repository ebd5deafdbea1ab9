// Lets go the attempts of all runs that wait for the limit of a runner. Repeating it is fine: a run that no longer waits ignores it.

import type { Actor } from "../core/run/event.ts";
import { waitingFor } from "../core/run/waiting-for-runner.ts";
import type { Store } from "../store/store.ts";
import type { Clock } from "./clock.ts";
import type { Runs } from "./runs.ts";
import type { Holds } from "./schedule/holds.ts";

export type ReleaseDeps = {
  readonly store: Pick<Store, "activeRuns" | "loadRun">;
  readonly clock: Pick<Clock, "now">;
  readonly runs: Pick<Runs, "deliver">;
};

/** How many runs were let go. */
export async function releaseWaiting(
  { store, clock, runs }: ReleaseDeps,
  runner: string,
  reason: string,
  actor: Actor,
): Promise<number> {
  let released = 0;
  for (const runId of await store.activeRuns()) {
    const found = await store.loadRun(runId);
    if (found === undefined || waitingFor(found.run, runner, Date.parse(clock.now())).length === 0) continue;
    // The version tells one wait from the next.
    const id = `lifted:${runner}:${found.version}`;
    const { ignored, duplicate } = await runs.deliver(runId, { type: "hold.lifted", runner, reason }, actor, id);
    if (ignored === undefined && !duplicate) released += 1;
  }
  return released;
}

export type LiftDeps = ReleaseDeps & {
  readonly store: Pick<Store, "activeRuns" | "loadRun" | "holds" | "liftHold">;
  readonly holds: Pick<Holds, "load">;
};

/** Lifts the holds of a runner, for one account or for all, and lets go what waits for it. Null if nothing was held. */
export async function liftHolds(
  deps: LiftDeps,
  { runner, account }: { readonly runner: string; readonly account?: string },
  actor: Actor,
): Promise<number | null> {
  const { store, holds } = deps;
  const found = (await store.holds()).filter(
    (hold) => hold.runner === runner && (account === undefined || hold.account === account),
  );
  for (const hold of found) await store.liftHold(hold);
  await holds.load();
  // Also without a hold: a run may wait by itself for a limit that it found.
  const released = await releaseWaiting(deps, runner, `${actor.replace(/^human:/u, "")} lifted the hold`, actor);
  return found.length === 0 && released === 0 ? null : released;
}
