// The limits of one run: the budgets of the settings, keyed by run, ticket and day, with people's raises.

import { type BudgetLimit, type Budgets, dayOf, type KeyedLimit } from "../budget/budget.ts";
import { runFacts } from "./facts.ts";
import type { Run } from "./run.ts";

/** The same id in two projects is two tickets. */
export function ticketKey(run: Run): string {
  return `${runFacts(run).config.project ?? ""}:${run.subject.id}`.toWellFormed();
}

/** The budget of the run, with people's changes. */
export function runLimit(budgets: Budgets, run: Run): BudgetLimit {
  const { usd, tokens } = sizeOf(budgets, run);
  const raise = run.raised?.find(({ scope, key }) => scope === "run" && key === run.id);
  return {
    usd: usd === null ? null : usd + (raise?.usd ?? 0),
    tokens: tokens === null ? null : tokens + (raise?.tokens ?? 0),
  };
}

/** The limits of an attempt of this run that starts at this time, without scopes that have no limit. */
export function limitsOf(budgets: Budgets, run: Run, at: string): readonly KeyedLimit[] {
  const keys = { run: run.id, ticket: ticketKey(run), day: dayOf(at) };
  return (["run", "ticket", "day"] as const).flatMap((scope) => {
    const { usd, tokens } = scope === "run" ? sizeOf(budgets, run) : budgets[scope];
    if (usd === null && tokens === null) return [];
    const key = keys[scope];
    const raise = run.raised?.find((each) => each.scope === scope && each.key === key);
    return [
      {
        scope,
        key,
        usd: usd === null ? null : usd + (raise?.usd ?? 0),
        tokens: tokens === null ? null : tokens + (raise?.tokens ?? 0),
      },
    ];
  });
}

/** The budget that a person gave the run at its start takes the place of the settings'. */
function sizeOf({ run: set }: Budgets, run: Run): BudgetLimit {
  const { usd, tokens } = runFacts(run).config.budget;
  return { usd: usd ?? set.usd, tokens: tokens ?? set.tokens };
}
