// The expected cost of an attempt before it starts: from the history of its agent, else from its runner. The store checks whether the
// budget has room for it.

import type { ResolvedFlow } from "../../core/flow/agent.ts";
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
import type { Run } from "../../core/run/run.ts";
import type { SignalBody } from "../../core/run/signal.ts";
import type { Usage } from "../../core/budget/usage.ts";
import type { Store } from "../../store/store.ts";

export type BudgetOptions = {
  /** Null for stages that cost nothing: the store does not check their starts. */
  readonly metered?: (resolved: ResolvedFlow, run: Run, stage: WorkStage) => Metered | null;
  readonly budgets?: (run: Run) => Budgets;
};

/** A stage that costs something, and the expected amounts. */
export type Meter = Metered & { readonly stage: WorkStage; readonly amounts: BudgetAmounts };

export type EngineBudgets = {
  /** Null, without a promise, for a stage that is not metered. */
  meter(resolved: ResolvedFlow, run: Run, stage: WorkStage): Promise<Meter> | null;
  runnerOf(resolved: ResolvedFlow, run: Run, stage: WorkStage): string | null;
  reservation(meter: Meter, run: Run, attempt: number, at: string): Reservation;
  of(run: Run): Budgets;
  /** New usage changes the expected cost. */
  note(events: readonly RunEvent[]): void;
};

export function createBudgets(store: Store, options: BudgetOptions): EngineBudgets {
  const { metered = () => null, budgets = () => NO_BUDGETS } = options;
  const histories = new Map<string, Promise<readonly Usage[]>>();

  function historyOf(agent: string, { runner, model }: Metered): Promise<readonly Usage[]> {
    const key = JSON.stringify([agent, runner, model]);
    const known = histories.get(key) ?? store.usageHistory({ agent, runner, model, limit: HISTORY });
    histories.set(key, known);
    known.catch(() => histories.delete(key));
    return known;
  }

  return {
    meter(resolved, run, stage) {
      const found = metered(resolved, run, stage);
      if (found === null) return null;
      return historyOf(stage.agent, found).then((history) => ({
        ...found,
        stage,
        amounts: whole(estimate(history, found)),
      }));
    },
    runnerOf: (resolved, run, stage) => metered(resolved, run, stage)?.runner ?? null,
    reservation({ stage, runner, model, amounts }, run, attempt, at) {
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
