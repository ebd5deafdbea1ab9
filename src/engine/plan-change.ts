// The change that a signal makes to a run, before it is stored: the pure transition decides, and the starts that are possible at once are
// added, so that one handoff is one commit.

import type { Reservation } from "../core/budget/budget.ts";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import { MAIN_TRACK } from "../core/flow/flow.ts";
import type { Signal } from "../core/run/signal.ts";
import { type Step, transition } from "../core/run/transition.ts";
import type { StoredRun } from "../store/store.ts";
import type { Attempts, LiveAttempt } from "./attempts.ts";
import type { RunFlows } from "./flows.ts";
import type { ReadyAttempt } from "./ready-attempt.ts";
import type { MeteredStart, Metering, Refusals } from "./schedule/metering.ts";
import type { ChangedInputs, DecisionWithStarts, Schedule } from "./schedule/schedule.ts";

export type PlannedChange = {
  readonly resolved: ResolvedFlow;
  /** As applied: a start may have become a wait for a limit. */
  readonly signal: Signal;
  readonly step: Step;
  /** Attempts that start with it; they have their slots. */
  readonly starting: readonly ReadyAttempt[];
  readonly reserve: readonly Reservation[];
  /** The attempt of ours whose verdict comes from elsewhere with this signal. */
  readonly settled: LiveAttempt | undefined;
  /** Why the signal changes nothing. */
  readonly ignored: string | undefined;
  /** An attempt's own report after its verdict came from elsewhere: it leaves no trace, not even that it was ignored. */
  readonly isSuperseded: boolean;
};

export type PlanDeps = {
  readonly flows: Pick<RunFlows, "of">;
  readonly attempts: Pick<Attempts, "settledBy" | "isSuperseded">;
  readonly schedule: Pick<Schedule, "startable" | "startWithin">;
  readonly metering: Pick<Metering, "metersOf" | "meterSignal">;
  readonly changedInputs: ChangedInputs;
  /** Whether attempts may start now. */
  readonly starts: () => boolean;
};

/** `refused` holds the starts for which the store found no room in a budget. */
export async function planChange(
  deps: PlanDeps,
  runId: string,
  stored: StoredRun | undefined,
  asked: Signal,
  refused: Refusals,
): Promise<PlannedChange> {
  const resolved = await deps.flows.of(flowHashOf(runId, stored, asked));
  const metered = meterAsked(deps, resolved, stored, asked, refused);
  const { signal, reserved } = metered instanceof Promise ? await metered : metered;
  const decided = transition(resolved.flow, stored?.run, signal);
  const { ignored } = decided;
  const isSuperseded = ignored !== undefined && deps.attempts.isSuperseded(runId, signal);
  const settled = ignored === undefined ? deps.attempts.settledBy(runId, signal) : undefined;
  // After a verdict from elsewhere nothing starts: the program of the settled attempt still runs.
  const mayStart = !isSuperseded && settled === undefined && deps.starts();
  const planned = mayStart ? withStarts(deps, resolved, decided, signal.at, refused) : unchanged(decided);
  const { step, starting, reservations } = planned instanceof Promise ? await planned : planned;
  const reserve = reserved === undefined || ignored !== undefined ? reservations : [reserved, ...reservations];
  return { resolved, signal, step, starting, reserve, settled, ignored, isSuperseded };
}

function flowHashOf(runId: string, stored: StoredRun | undefined, asked: Signal): string {
  if (stored !== undefined) return stored.run.flowHash;
  if (asked.type !== "run.requested") throw new Error(`there is no run ${runId}`);
  return asked.flowHash;
}

/** A start that the engine requests with a signal is metered like any other. */
function meterAsked(
  { metering, changedInputs }: PlanDeps,
  resolved: ResolvedFlow,
  stored: StoredRun | undefined,
  asked: Signal,
  refused: Refusals,
): MeteredStart | Promise<MeteredStart> {
  if (asked.type !== "attempt.started" || asked.outside === true || stored === undefined) return { signal: asked };
  const { stage, attempt, at } = asked;
  const [track = MAIN_TRACK] =
    Object.entries(stored.run.tracks).find(([, state]) => state.at === "ready" && state.stage === stage) ?? [];
  const changed = changedInputs(resolved, stored.run, { track, stage, attempt }, at);
  return changed === undefined ? metering.meterSignal(resolved, stored.run, asked, refused) : { signal: changed };
}

/** A promise only where a start is metered: the usual handoff waits for nothing. */
function withStarts(
  { schedule, metering }: PlanDeps,
  resolved: ResolvedFlow,
  decided: Step,
  at: string,
  refused: Refusals,
): DecisionWithStarts | Promise<DecisionWithStarts> {
  const ready = schedule.startable(resolved, decided.run);
  if (ready.length === 0) return unchanged(decided);
  const starting = { resolved, decided, ready, refused, at };
  const meters = metering.metersOf(resolved, decided.run, ready);
  if (meters === undefined) return schedule.startWithin({ ...starting, meters });
  return meters.then((found) => schedule.startWithin({ ...starting, meters: found }));
}

function unchanged(step: Step): DecisionWithStarts {
  return { step, starting: [], reservations: [] };
}
