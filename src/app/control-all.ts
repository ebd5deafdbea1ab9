// A person pauses or resumes everything at once. The pause is stored first, so that runs which are started later begin paused, too; then
// every open run is paused by its own record. If the process dies in between, the next one that performs pauses the rest.

import type { Actor } from "../core/run/event.ts";
import { optional } from "../core/optional.ts";
import type { Result } from "../core/result.ts";
import { isPauseOfAll, type PausedAll, pauseReason, toPauseHold } from "../core/run/pause-all.ts";
import type { RunSummary, Store } from "../store/store.ts";
import type { ControlAction, Controlled } from "./control-run.ts";
import type { Sent } from "./deliver.ts";
import { lookAtPause } from "./look-at-pause.ts";
import type { AppProblem } from "./problem.ts";

export type ControlledAll = {
  /** The numbers of the runs that this request changed. */
  readonly changed: readonly number[];
  /** Runs that could not be changed, mostly because they ended meanwhile. */
  readonly refused: readonly { readonly number: number; readonly why: string }[];
};

export type AllAction =
  | Extract<ControlAction, { type: "pause" }>
  /** `pausedBy`: only runs that this actor paused; runs that another actor paused stay paused. */
  | (Extract<ControlAction, { type: "resume" }> & { readonly pausedBy?: Actor });

type Deps = {
  readonly store: Pick<Store, "events" | "listRuns" | "holds" | "setHold" | "liftHold">;
  readonly now: () => string;
  readonly controlRun: (run: string, action: ControlAction, sent: Sent) => Promise<Result<Controlled, AppProblem>>;
};

export async function controlAll(deps: Deps, action: AllAction, sent: Sent): Promise<ControlledAll> {
  return action.type === "pause" ? pauseAll(deps, action.reason, sent) : resumeAll(deps, action, sent);
}

/** Pauses the runs that a crash left. */
export async function finishPause(deps: Deps): Promise<void> {
  const paused = await lookAtPause(deps.store);
  if (paused !== null && !paused.isWhole) await pauseEvery(deps, paused, { actor: paused.by });
}

async function pauseAll(deps: Deps, reason: string, sent: Sent): Promise<ControlledAll> {
  const before = await lookAtPause(deps.store);
  return pauseEvery(deps, before ?? { by: sent.actor, since: deps.now(), reason, isWhole: false }, sent);
}

async function pauseEvery(deps: Deps, paused: PausedAll, sent: Sent): Promise<ControlledAll> {
  await deps.store.setHold(toPauseHold({ ...paused, isWhole: false }));
  const done = await controlEach(deps, { type: "pause", reason: pauseReason(paused) }, sent);
  // Another person may have resumed everything meanwhile.
  if ((await lookAtPause(deps.store)) !== null) await deps.store.setHold(toPauseHold({ ...paused, isWhole: true }));
  return done;
}

async function resumeAll(
  deps: Deps,
  { pausedBy }: Extract<AllAction, { type: "resume" }>,
  sent: Sent,
): Promise<ControlledAll> {
  for (const hold of (await deps.store.holds()).filter(isPauseOfAll)) await deps.store.liftHold(hold);
  const isMeant = async (runId: string): Promise<boolean> =>
    pausedBy === undefined || (await lastPauseBy(deps.store, runId)) === pausedBy;
  return controlEach(deps, { type: "resume" }, sent, isMeant);
}

/** Undefined if it was never paused. */
async function lastPauseBy(store: Pick<Store, "events">, runId: string): Promise<Actor | undefined> {
  let by: Actor | undefined;
  for (let after = 0; ; ) {
    const page = await store.events({ runId, after, limit: PAGE });
    for (const { event } of page) if (event.type === "run.paused") by = event.actor;
    if (page.length < PAGE) return by;
    after = page.at(-1)?.seq ?? after;
  }
}

async function controlEach(
  { store, controlRun }: Deps,
  action: Extract<ControlAction, { type: "pause" | "resume" }>,
  { actor, key }: Sent,
  isMeant: (runId: string) => Promise<boolean> = async () => true,
): Promise<ControlledAll> {
  const changed: number[] = [];
  const refused: { number: number; why: string }[] = [];
  for (const { id, number } of await openRuns(store)) {
    if (!(await isMeant(id))) continue;
    const done = await controlRun(id, action, { actor, ...optional({ key }) });
    if (!done.ok) refused.push({ number, why: done.error.message });
    else if (done.value.changed) changed.push(number);
  }
  return { changed, refused };
}

const PAGE = 500;

/** Those that work, are in line, or wait for a person: a paused run stays paused when its gate is answered. */
async function openRuns(store: Pick<Store, "listRuns">): Promise<readonly RunSummary[]> {
  const found: RunSummary[] = [];
  for (const status of ["running", "waiting"] as const) {
    for (let before: number | undefined; ; ) {
      const page = await store.listRuns({ status, limit: PAGE, ...optional({ before }) });
      found.push(...page);
      if (page.length < PAGE) break;
      before = page.at(-1)?.number;
    }
  }
  return found.toSorted((a, b) => a.number - b.number);
}
