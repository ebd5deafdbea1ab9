// Whether the budgets have room for the reservations of a change. Called inside the transaction, before they are
// booked: a later change in the same transaction, or in the next, sees the earlier reservations.

import type { DatabaseSync } from "node:sqlite";
import {
  type BudgetUnit,
  type BudgetUse,
  type Reservation,
  toMicros,
  toUsd,
  WARNED_AT,
} from "../../core/budget/budget.ts";
import type { CommitResult } from "../store.ts";

type OverBudget = Extract<CommitResult, { type: "over_budget" }>;
type Sums = Record<BudgetUnit, number>;

export type Room = (
  reservations: readonly Reservation[],
) => OverBudget | { readonly type: "room"; readonly near: readonly BudgetUse[] };

export function prepareRoom(db: DatabaseSync): Room {
  const find = db.prepare("SELECT usd, tokens FROM spent WHERE scope = ? AND key = ?");

  return (reservations) => {
    const sums = new Map<string, Sums>();
    const near = new Map<string, BudgetUse>();
    for (const { stage, attempt, limits, usd, tokens } of reservations) {
      const needed: Sums = { usd: toMicros(usd), tokens };
      for (const { scope, key, ...limit } of limits) {
        const name = `${scope} ${key}`;
        const used = sums.get(name) ?? (find.get(scope, key) as Sums | undefined) ?? { usd: 0, tokens: 0 };
        for (const unit of ["usd", "tokens"] as const) {
          const most = unit === "usd" ? toMicros(limit.usd) : limit.tokens;
          if (most === null) continue;
          const shown = (value: number): number => (unit === "usd" ? toUsd(value) : value);
          const use = { scope, key, unit, limit: shown(most) };
          // A used-up budget refuses every attempt, also one with an expected cost of 0.
          if (used[unit] + needed[unit] > most || used[unit] >= most)
            return {
              type: "over_budget",
              stage,
              attempt,
              ...use,
              used: shown(used[unit]),
              needed: shown(needed[unit]),
            };
          const after = used[unit] + needed[unit];
          if (after >= most * WARNED_AT) near.set(`${name} ${unit}`, { ...use, used: shown(after) });
        }
        sums.set(name, { usd: used.usd + needed.usd, tokens: used.tokens + needed.tokens });
      }
    }
    return { type: "room", near: [...near.values()] };
  };
}
