// The expected cost of an attempt before it starts: from the history of its agent, else from its runner. The store checks whether the
// budget has room for it.

import { continuedSession } from "../../attempt/continued-session.ts";
import type { ResolvedFlow } from "../../core/flow/agent.ts";
import { runnerChoiceOf } from "../../core/flow/runner-choice.ts";
import {
  type BudgetAmounts,
  type BudgetUse,
  type Budgets,
  estimate,
  HISTORY,
  type Metered,
  NO_BUDGETS,
  type Reservation,
} from "../../core/budget/budget.ts";
import { limitsOf, ticketKey } from "../../core/run/run-budget.ts";
import type { RunEvent } from "../../core/run/event.ts";
import type { WorkStage } from "../../core/flow/flow.ts";
import type { Carry, Run } from "../../core/run/run.ts";
import type { SignalBody } from "../../core/run/signal.ts";
import type { Usage } from "../../core/budget/usage.ts";
import type { Store } from "../../store/store.ts";

export type BudgetOptions = {
  /** The rungs of a stage; none for one that costs nothing: the store does not check its starts. */
  readonly metered?: (resolved: ResolvedFlow, run: Run, stage: WorkStage) => readonly Metered[];
  readonly budgets?: (run: Run) => Budgets;
};

/** A stage that costs something, and the expected amounts on each rung of its ladder; most stages have one rung. */
export type Meter = {
  readonly stage: WorkStage;
  readonly rungs: readonly RungMeter[];
  /** The runner whose session the attempt continues; null if it may take any rung. */
  readonly bound: string | null;
};
export type RungMeter = Metered & { readonly amounts: BudgetAmounts };

export type EngineBudgets = {
  /** Null, without a promise, for a stage that is not metered. */
  meter(resolved: ResolvedFlow, run: Run, next: NextStart): Promise<Meter> | null;
  /** The runners of a stage, one per rung. */
  runnersOf(resolved: ResolvedFlow, run: Run, stage: WorkStage): readonly string[];
  /** The runner whose session this attempt continues; null if it starts a new one. */
  boundTo(resolved: ResolvedFlow, run: Run, next: NextStart): Promise<string | null>;
  reservation(meter: Meter, rung: RungMeter, run: Run, attempt: number, at: string): Reservation;
  of(run: Run): Budgets;
  /** New usage changes the expected cost. */
  note(events: readonly RunEvent[]): void;
};

export type NextStart = { readonly stage: WorkStage; readonly attempt: number; readonly carry: Carry };

export function createBudgets(store: Store, options: BudgetOptions): EngineBudgets {
  const { metered = () => [], budgets = () => NO_BUDGETS } = options;
  const histories = new Map<string, Promise<readonly Usage[]>>();

  function historyOf(agent: string, { runner, model }: Metered): Promise<readonly Usage[]> {
    const key = JSON.stringify([agent, runner, model]);
    const known = histories.get(key) ?? store.usageHistory({ agent, runner, model, limit: HISTORY });
    histories.set(key, known);
    known.catch(() => histories.delete(key));
    return known;
  }

  async function rungMeter(agent: string, rung: Metered): Promise<RungMeter> {
    return { ...rung, amounts: whole(estimate(await historyOf(agent, rung), rung)) };
  }

  async function boundTo(resolved: ResolvedFlow, run: Run, { stage, attempt, carry }: NextStart) {
    const session = runnerChoiceOf(resolved, run.facts, stage)?.session ?? "fresh";
    const next = { stage: stage.id, attempt, carry, session };
    return continuedSession(next, await store.attempts(run.id))?.runner ?? null;
  }

  return {
    meter(resolved, run, next) {
      const { stage } = next;
      const found = metered(resolved, run, stage);
      if (found.length === 0) return null;
      const bound = found.length === 1 ? null : boundTo(resolved, run, next);
      return Promise.all([Promise.all(found.map((rung) => rungMeter(stage.agent, rung))), bound]).then(
        ([rungs, runner]) => ({ stage, rungs, bound: runner }),
      );
    },
    runnersOf: (resolved, run, stage) => metered(resolved, run, stage).map(({ runner }) => runner),
    boundTo,
    reservation({ stage }, { runner, model, amounts }, run, attempt, at) {
      const limits = limitsOf(budgets(run), run, at);
      return {
        stage: stage.id,
        attempt,
        agent: stage.agent,
        runner,
        model,
        ...amounts,
        ticket: ticketKey(run),
        limits,
      };
    },
    of: budgets,
    note(events) {
      if (histories.size > 0 && events.some(({ type }) => type === "usage.recorded")) histories.clear();
    },
  };
}

/** The signal that a limit is nearly used up; undefined when the run has warned of it before. */
export function nearedSignal(run: Run, { scope, key, unit, used, limit }: BudgetUse): SignalBody | undefined {
  const isKnown = run.warned?.some(
    (each) => each.scope === scope && each.key === key && each.unit === unit && each.limit === limit,
  );
  return isKnown === true ? undefined : { type: "budget.neared", scope, key, unit, used, limit };
}

/** No negative amounts and no fractions of a token. */
function whole({ usd, tokens }: BudgetAmounts): BudgetAmounts {
  const sound = (value: number): number => (Number.isFinite(value) && value > 0 ? value : 0);
  return { usd: sound(usd), tokens: Math.ceil(sound(tokens)) };
}
