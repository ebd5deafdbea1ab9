// Runners that are over a limit of their vendor: which, until when, and how many runs wait. A person may lift one.

import { type Hold, isHeld } from "../core/run/hold.ts";
import { isPauseOfAll } from "../core/run/pause-all.ts";
import { err, ok, type Result } from "../core/result.ts";
import type { Actor } from "../core/run/event.ts";
import { waitingFor } from "../core/run/waiting-for-runner.ts";
import type { Engine } from "../engine/engine.ts";
import type { Store } from "../store/store.ts";
import type { AppProblem } from "./problem.ts";

export type HeldRunner = Hold & {
  /** Runs with an attempt that waits for it. */
  readonly waiting: number;
};

/** Those that hold now. */
export async function listHolds(
  store: Pick<Store, "holds" | "activeRuns" | "loadRun">,
  now: string,
): Promise<readonly HeldRunner[]> {
  const nowMs = Date.parse(now);
  const active = (await store.holds()).filter((hold) => !isPauseOfAll(hold) && isHeld(hold, nowMs));
  if (active.length === 0) return [];
  const waiting = new Map<string, number>();
  for (const runId of await store.activeRuns()) {
    const run = (await store.loadRun(runId))?.run;
    if (run === undefined) continue;
    for (const { runner } of active)
      if (waitingFor(run, runner, nowMs).length > 0) waiting.set(runner, (waiting.get(runner) ?? 0) + 1);
  }
  return active.map((hold) => ({ ...hold, waiting: waiting.get(hold.runner) ?? 0 }));
}

export type LiftRequest = { readonly runner: string; readonly account?: string };

/** `released`: the runs that may start now. */
export async function liftHold(
  { engine }: { readonly engine: Pick<Engine, "liftHold"> },
  request: LiftRequest,
  actor: Actor,
): Promise<Result<{ readonly released: number }, AppProblem>> {
  // The pause of everything has its own verb.
  const released = isPauseOfAll(request) ? null : await engine.liftHold(request, actor);
  if (released !== null) return ok({ released });
  return err({
    code: "hold_not_found",
    message: `Nothing holds ${request.runner}.`,
    hint: "passrail agent list   shows what is held",
  });
}
