// The part of the budgets that one attempt may use while it works, its own reservation included. The process that
// carries the attempt out compares it with the usage so far.

import {
  amountText,
  type BudgetScope,
  type Budgets,
  type BudgetUnit,
  type KeyedLimit,
  scopeText,
  toMicros,
  toUsd,
} from "./budget.ts";
import { tokensOf, type Usage } from "./usage.ts";

export type RoomLimit = {
  readonly scope: BudgetScope;
  readonly key: string;
  readonly unit: BudgetUnit;
  readonly limit: number;
  /** The limit without any raise. */
  readonly size: number;
  /** The part that this attempt may use. */
  readonly left: number;
  /** Its reservation: a further attempt needs about as much. */
  readonly needed: number;
};

export type AttemptRoom = readonly RoomLimit[];

/** A limit that an attempt reached in the middle of its work. */
export type ReachedLimit = Omit<RoomLimit, "left"> & { readonly used: number };

export type Sums = Readonly<Record<BudgetUnit, number>>;

const NOTHING: Sums = { usd: 0, tokens: 0 };

export type RoomFacts = {
  readonly limits: readonly KeyedLimit[];
  /** The limits of the settings, without raises. */
  readonly sizes: Budgets;
  /** The amount booked under a limit's key without this attempt. */
  readonly others: (limit: KeyedLimit) => Sums;
  /** The reservation of this attempt. */
  readonly reserved: Sums;
};

export function roomOf({ limits, sizes, others, reserved }: RoomFacts): AttemptRoom {
  return limits.flatMap((each) =>
    (["usd", "tokens"] as const).flatMap((unit) => {
      const limit = each[unit];
      if (limit === null) return [];
      const { scope, key } = each;
      const size = sizes[scope][unit] ?? limit;
      const left = Math.max(0, exact(unit, limit) - exact(unit, others(each)[unit]));
      return [{ scope, key, unit, limit, size, left: shown(unit, left), needed: reserved[unit] }];
    }),
  );
}

/** The first limit that this usage has reached; a number that is unknown reaches none. */
export function reachedIn(room: AttemptRoom, usage: Usage | undefined): ReachedLimit | undefined {
  if (usage === undefined) return undefined;
  const used = { usd: usage.usd, tokens: tokensOf(usage) };
  const found = room.find(({ unit, left }) => {
    const own = used[unit];
    return own !== null && exact(unit, own) >= exact(unit, left);
  });
  if (found === undefined) return undefined;
  const { left, ...limit } = found;
  const { unit } = limit;
  const others = exact(unit, limit.limit) - exact(unit, left);
  return { ...limit, used: shown(unit, others + exact(unit, used[unit] ?? 0)) };
}

/** The usage beyond the reservation; 0 if it is unknown. */
export function overrunOf(usage: Usage | undefined, reserved: Sums): Sums {
  if (usage === undefined) return NOTHING;
  const used = { usd: usage.usd, tokens: tokensOf(usage) };
  const over = (unit: BudgetUnit): number =>
    shown(unit, Math.max(0, exact(unit, used[unit] ?? 0) - exact(unit, reserved[unit])));
  return { usd: over("usd"), tokens: over("tokens") };
}

export function addSums(one: Sums, other: Sums): Sums {
  const sum = (unit: BudgetUnit): number => shown(unit, exact(unit, one[unit]) + exact(unit, other[unit]));
  return { usd: sum("usd"), tokens: sum("tokens") };
}

/** `the run's budget of $5.00 is used up ($5.02)`. */
export function reachedText({ scope, key, unit, limit, used }: Omit<ReachedLimit, "size" | "needed">): string {
  return `${scopeText(scope, key)} of ${amountText(unit, limit)} is used up (${amountText(unit, used)})`;
}

/** Dollars in millionths, so that sums are exact. */
function exact(unit: BudgetUnit, value: number): number {
  return unit === "usd" ? toMicros(value) : value;
}

function shown(unit: BudgetUnit, value: number): number {
  return unit === "usd" ? toUsd(value) : value;
}
