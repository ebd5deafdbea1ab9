// A start that costs something: the reservation booked with it, or the signal that replaces it when its runner or a budget is used up.

import type { BudgetUnit, KeyedLimit, OverBudget, Reservation } from "../../core/budget/budget.ts";
import type { ResolvedFlow } from "../../core/flow/agent.ts";
import type { Report } from "../../core/flow/outcome.ts";
import { isAccountLimit } from "../../core/run/postponement.ts";
import type { Run } from "../../core/run/run.ts";
import { findWork } from "../../core/run/sequence.ts";
import type { Signal } from "../../core/run/signal.ts";
import type { Overruns } from "./live-budgets.ts";
import type { ReadyAttempt } from "../ready-attempt.ts";
import type { EngineBudgets, Meter } from "./budgets.ts";
import type { Holds } from "./holds.ts";

export type StartSignal = Signal & { type: "attempt.started" };

/** Starts for which a budget had no room, by stage and attempt. */
export type Refusals = Map<string, OverBudget>;

/** By stage. */
export type Meters = ReadonlyMap<string, Meter>;

/** The signal to apply, and the reservation for it when it is a start. */
export type MeteredStart = { readonly signal: Signal; readonly reserved?: Reservation };

export type Metering = {
  /** The meters of these attempts; undefined when none of them costs anything, so that the caller need not await. */
  metersOf(resolved: ResolvedFlow, run: Run, ready: readonly ReadyAttempt[]): Promise<Meters> | undefined;
  /** The same for a start that is a separate signal. */
  meterSignal(resolved: ResolvedFlow, run: Run, signal: StartSignal, refused: Refusals): Promise<MeteredStart>;
  meterStart(signal: StartSignal, run: Run, track: string, meter: Meter | undefined, refused: Refusals): MeteredStart;
  /** A report may show that a runner is over its limit, or works again. */
  noteReport(resolved: ResolvedFlow, run: Run, ready: ReadyAttempt, report: Report, beganMs: number): void;
};

export type MeteringDeps = {
  readonly budgets: EngineBudgets;
  /** What working attempts have used on top of their reservations: it is not booked yet, and leaves less room for others. */
  readonly overruns: Overruns;
  readonly holds: Holds;
  readonly newId: () => string;
};

function lessOverrun(limit: KeyedLimit, overruns: Overruns): KeyedLimit {
  const over = overruns(limit.scope, limit.key);
  const less = (unit: BudgetUnit): number | null => {
    const most = limit[unit];
    return most === null ? null : Math.max(0, most - over[unit]);
  };
  return { ...limit, usd: less("usd"), tokens: less("tokens") };
}

export function createMetering({ budgets, overruns, holds, newId }: MeteringDeps): Metering {
  function meterOf(resolved: ResolvedFlow, run: Run, track: string, id: string): Promise<Meter> | null {
    const stage = findWork(resolved.flow, run, track, id);
    return stage === undefined ? null : budgets.meter(resolved, run, stage);
  }

  function meterStart(
    signal: StartSignal,
    run: Run,
    track: string,
    meter: Meter | undefined,
    refused: Refusals,
  ): MeteredStart {
    if (meter === undefined) return { signal };
    const { stage, attempt, at } = signal;
    const where = { stage, attempt, id: newId(), at, actor: "engine" } as const;
    const state = run.tracks[track];
    // A person's "again" tries, whatever is known about the limit.
    const hold = state?.at === "ready" && state.carry.reason === "again" ? undefined : holds.of(meter.runner);
    if (hold !== undefined)
      return { signal: { type: "attempt.held", ...where, runner: meter.runner, cause: hold.cause, until: hold.until } };
    const over = refused.get(`${stage}/${attempt}`);
    if (over !== undefined) {
      const { scope, key, unit, needed } = over;
      const more = overruns(scope, key)[unit];
      const [used, limit] = [over.used + more, over.limit + more];
      const size = budgets.of(run)[scope][unit] ?? limit;
      return { signal: { type: "budget.reached", ...where, scope, key, unit, used, limit, needed, size } };
    }
    const whole = budgets.reservation(meter, run, attempt, at);
    const reserved = { ...whole, limits: whole.limits.map((limit) => lessOverrun(limit, overruns)) };
    const { agent, runner, model, usd, tokens, ticket } = reserved;
    return { signal: { ...signal, reserved: { agent, runner, model, usd, tokens, ticket } }, reserved };
  }

  return {
    meterStart,
    metersOf(resolved, run, ready) {
      const found = ready.flatMap(({ track, stage }) => meterOf(resolved, run, track, stage) ?? []);
      if (found.length === 0) return undefined;
      return Promise.all(found).then((all) => new Map(all.map((meter) => [meter.stage.id, meter])));
    },
    async meterSignal(resolved, run, signal, refused) {
      const [track = ""] =
        Object.entries(run.tracks).find(([, state]) => state.at === "ready" && state.stage === signal.stage) ?? [];
      const meter = track === "" ? null : meterOf(resolved, run, track, signal.stage);
      return meterStart(signal, run, track, meter === null ? undefined : await meter, refused);
    },
    noteReport(resolved, run, { track, stage: id }, report, beganMs) {
      if (holds.size === 0 && !isAccountLimit(report.cause)) return;
      const stage = findWork(resolved.flow, run, track, id);
      const runner = stage === undefined ? null : budgets.runnerOf(resolved, run, stage);
      if (runner !== null) holds.noteReport(runner, report, { runId: run.id, beganMs });
    },
  };
}
