// A start that costs something: the reservation booked with it, or the signal that replaces it when its runner or a budget is used up.

import type { BudgetUnit, KeyedLimit, OverBudget, Reservation } from "../../core/budget/budget.ts";
import type { ResolvedFlow } from "../../core/flow/agent.ts";
import type { Report } from "../../core/flow/outcome.ts";
import type { TakenRung } from "../../core/flow/ladder.ts";
import { chooseRung, mayMove, type RungChoice } from "../../core/run/rung.ts";
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
  /** The runner that takes over at once from an attempt whose own is out; undefined without a ladder, or if all are out. */
  nextRunner(resolved: ResolvedFlow, run: Run, ready: ReadyAttempt, report: Report): Promise<string | undefined>;
};

export type MeteringDeps = {
  readonly budgets: EngineBudgets;
  /** What working attempts have used on top of their reservations: it is not booked yet, and leaves less room for others. */
  readonly overruns: Overruns;
  readonly holds: Holds;
  readonly newId: () => string;
  /** ISO 8601, UTC. */
  readonly now: () => string;
};

/** Only where there is a choice. */
function rungTaken({ rungs }: Meter, { at, passed }: RungChoice & { type: "taken" }): { readonly rung?: TakenRung } {
  return rungs.length < 2 ? {} : { rung: { number: at + 1, of: rungs.length, passed } };
}

function lessOverrun(limit: KeyedLimit, overruns: Overruns): KeyedLimit {
  const over = overruns(limit.scope, limit.key);
  const less = (unit: BudgetUnit): number | null => {
    const most = limit[unit];
    return most === null ? null : Math.max(0, most - over[unit]);
  };
  return { ...limit, usd: less("usd"), tokens: less("tokens") };
}

export function createMetering({ budgets, overruns, holds, newId, now }: MeteringDeps): Metering {
  function meterOf(resolved: ResolvedFlow, run: Run, track: string, id: string): Promise<Meter> | null {
    const stage = findWork(resolved.flow, run, track, id);
    const state = run.tracks[track];
    if (stage === undefined || state?.at !== "ready") return null;
    return budgets.meter(resolved, run, { stage, attempt: state.attempt, carry: state.carry });
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
    const choice = rungOf(holds, meter, at, state?.at === "ready" && state.carry.reason === "again");
    if (choice.type === "held") {
      const { runner, cause, until } = choice.hold;
      const ladder = meter.rungs.length > 1 ? { ladder: meter.rungs.map((rung) => rung.runner) } : {};
      return { signal: { type: "attempt.held", ...where, runner, cause, until, ...ladder } };
    }
    const own = meter.rungs[choice.at];
    if (own === undefined) return { signal };
    const over = refused.get(`${stage}/${attempt}`);
    if (over !== undefined) {
      const { scope, key, unit, needed } = over;
      const more = overruns(scope, key)[unit];
      const [used, limit] = [over.used + more, over.limit + more];
      const size = budgets.of(run)[scope][unit] ?? limit;
      return { signal: { type: "budget.reached", ...where, scope, key, unit, used, limit, needed, size } };
    }
    const whole = budgets.reservation(meter, own, run, attempt, at);
    const reserved = { ...whole, limits: whole.limits.map((limit) => lessOverrun(limit, overruns)) };
    const { agent, runner, model, usd, tokens, ticket } = reserved;
    const rung = rungTaken(meter, choice);
    return { signal: { ...signal, reserved: { agent, runner, model, usd, tokens, ticket }, ...rung }, reserved };
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
      if (holds.size === 0 && !mayMove(report.cause)) return;
      const stage = findWork(resolved.flow, run, track, id);
      const runners = stage === undefined ? [] : budgets.runnersOf(resolved, run, stage);
      const state = run.tracks[track];
      // The rung that it took, as its start says.
      const runner = (state?.at === "running" ? state.metered?.runner : undefined) ?? runners[0];
      if (runner !== undefined)
        holds.noteReport(runner, report, { runId: run.id, beganMs, hasLadder: runners.length > 1 });
    },
    nextRunner: (...asked) => nextRunner(budgets, holds, Date.parse(now()), ...asked),
  };
}

/** `isForced`: it tries, whatever is known about the limit. */
function rungOf(
  holds: Pick<Holds, "of">,
  { rungs, bound }: Pick<Meter, "rungs" | "bound">,
  at: string,
  isForced: boolean,
): RungChoice {
  const runners = rungs.map(({ runner }) => runner);
  const choice = chooseRung(runners, bound, (runner) => holds.of(runner), Date.parse(at));
  if (choice.type === "taken" || !isForced) return choice;
  return { type: "taken", at: Math.max(0, runners.indexOf(bound ?? "")), passed: [] };
}

async function nextRunner(
  budgets: Pick<EngineBudgets, "runnersOf" | "boundTo">,
  holds: Pick<Holds, "of">,
  nowMs: number,
  ...[resolved, run, { track, stage: id, attempt }, { cause }]: Parameters<Metering["nextRunner"]>
): Promise<string | undefined> {
  const stage = findWork(resolved.flow, run, track, id);
  const state = run.tracks[track];
  if (stage === undefined || state?.at !== "running" || !mayMove(cause)) return undefined;
  const runners = budgets.runnersOf(resolved, run, stage);
  if (runners.length < 2) return undefined;
  const bound = await budgets.boundTo(resolved, run, { stage, attempt: attempt + 1, carry: state.carry });
  const choice = chooseRung(runners, bound, (runner) => holds.of(runner), nowMs);
  const next = choice.type === "held" ? undefined : runners[choice.at];
  // A limit without an end holds nothing: the same program waits and tries again.
  return next === state.metered?.runner ? undefined : next;
}
