// The budget that a person gives one run at its start, instead of the one in the settings.

import type { BudgetUnit } from "../../core/budget/budget.ts";
import type { JsonObject } from "../../core/json.ts";
import { optional } from "../../core/optional.ts";
import { err, ok, type Result } from "../../core/result.ts";

export type StartBudget = { readonly usd?: number; readonly tokens?: number };

const MOST: Readonly<Record<BudgetUnit, number>> = { usd: 1_000_000, tokens: 1_000_000_000_000 };

/** The error of an amount, in a sentence; undefined if it is valid. */
export function amountProblem(unit: BudgetUnit, amount: number): string | undefined {
  if (Number.isFinite(amount) && amount > 0 && amount <= MOST[unit]) return undefined;
  return `A budget in ${unit} is above 0 and at most ${MOST[unit]}.`;
}

/** For the facts of `config`. */
export function budgetFacts({ usd, tokens }: StartBudget = {}): Result<JsonObject> {
  for (const [unit, amount] of Object.entries(optional({ usd, tokens })) as [BudgetUnit, number][]) {
    const message = amountProblem(unit, amount);
    if (message !== undefined) return err({ code: "amount_invalid", message, field: `budget/${unit}` });
  }
  const budget = optional({ usd, tokens });
  return ok(Object.keys(budget).length === 0 ? {} : { budget });
}
