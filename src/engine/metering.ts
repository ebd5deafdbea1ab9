// A start that costs something: what is put aside for it, or, where its runner or a budget is used up, what happens instead.

import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { OverBudget, Reservation } from "../core/budget/budget.ts";
import type { Run } from "../core/run/run.ts";
import { findWork } from "../core/run/sequence.ts";
import type { Signal } from "../core/run/signal.ts";
import type { Step } from "../core/run/transition.ts";
import type { EngineBudgets, Meter } from "./budgets.ts";
import type { Holds } from "./holds.ts";

export type StartSignal = Signal & { type: "attempt.started" };

/** Starts for which a budget had no room, by stage and attempt. */
export type Refusals = Map<string, OverBudget>;

export function createMetering({ budgets, holds, newId }: MeteringParts) {
  return { metersOf, meterStart, meteredStart };

  /** What the stages cost that may start now; undefined when nothing of it is metered. */
  function metersOf(resolved: ResolvedFlow, { run, commands }: Step): Promise<ReadonlyMap<string, Meter>> | undefined {
    const found: Promise<Meter>[] = [];
    for (const command of commands) {
      if (command.type !== "start-attempt") continue;
      const stage = findWork(resolved.flow, run, command.track, command.stage);
      const meter = stage === undefined ? null : budgets.meter(resolved, run, stage);
      if (meter !== null) found.push(meter);
    }
    if (found.length === 0) return undefined;
    return Promise.all(found).then((all) => new Map(all.map((meter) => [meter.stage.id, meter])));
  }

  async function meterStart(resolved: ResolvedFlow, run: Run, signal: StartSignal, refused: Refusals) {
    const [track] =
      Object.entries(run.tracks).find(
        ([, { at, ...rest }]) => at === "ready" && "stage" in rest && rest.stage === signal.stage,
      ) ?? [];
    const stage = track === undefined ? undefined : findWork(resolved.flow, run, track, signal.stage);
    const meter = stage === undefined ? null : budgets.meter(resolved, run, stage);
    return meteredStart(signal, run, track ?? "", meter === null ? undefined : await meter, refused);
  }

  /** The start with what is put aside for it; or, where its runner or a budget is used up, what happens instead. */
  function meteredStart(
    signal: StartSignal,
    run: Run,
    track: string,
    meter: Meter | undefined,
    refused: Refusals,
  ): { readonly signal: Signal; readonly reserved?: Reservation } {
    if (meter === undefined) return { signal };
    const { stage, attempt, at } = signal;
    const where = { stage, attempt, id: newId(), at, actor: "engine" } as const;
    const state = run.tracks[track];
    // Who was told to start again by a person tries, whatever is known of the limit.
    const hold = state?.at === "ready" && state.carry.reason === "again" ? undefined : holds.of(meter.runner);
    if (hold !== undefined)
      return { signal: { type: "attempt.held", ...where, runner: meter.runner, cause: hold.cause, until: hold.until } };
    const over = refused.get(`${stage}/${attempt}`);
    if (over !== undefined) {
      const { scope, key, unit, used, limit, needed } = over;
      const size = budgets.of(run)[scope][unit] ?? limit;
      return { signal: { type: "budget.reached", ...where, scope, key, unit, used, limit, needed, size } };
    }
    const reserved = budgets.reservation(meter, run, attempt, at);
    const { agent, runner, model, usd, tokens, ticket } = reserved;
    return { signal: { ...signal, reserved: { agent, runner, model, usd, tokens, ticket } }, reserved };
  }
}

type MeteringParts = { readonly budgets: EngineBudgets; readonly holds: Holds; readonly newId: () => string };
