// Limits on the cost of a run, a ticket and a day, and the amount reserved before an attempt starts. Only data and arithmetic: the store
// checks whether there is room, in the transaction that starts the attempt.

import { tokensOf, type Usage } from "./usage.ts";

/** Null: no limit. */
export type BudgetLimit = { readonly usd: number | null; readonly tokens: number | null };
export type Budgets = { readonly run: BudgetLimit; readonly ticket: BudgetLimit; readonly day: BudgetLimit };
export type BudgetScope = keyof Budgets;
export type BudgetUnit = keyof BudgetLimit;

const NONE: BudgetLimit = { usd: null, tokens: null };
export const NO_BUDGETS: Budgets = { run: NONE, ticket: NONE, day: NONE };

/** The runner of a stage that costs something, and the amount to reserve while its agent has no history. */
export type Metered = {
  readonly runner: string;
  readonly model: string | null;
  readonly reserveUsd: number;
  readonly reserveTokens: number;
};

/** The usage of an attempt, with the runner and model that reported it. */
export type ReportedUsage = { readonly runner: string; readonly model: string | null; readonly usage: Usage };

/** The amount reserved for an attempt when it started; it counts as spent until the attempt reports its usage. */
export type Reserved = {
  readonly agent: string;
  readonly runner: string;
  readonly model: string | null;
  readonly usd: number;
  readonly tokens: number;
  /** The ticket it counts towards (ticketKey). */
  readonly ticket: string;
};

/** A limit as it is checked: with the raises of the run, and the key it counts under. */
export type KeyedLimit = BudgetLimit & { readonly scope: BudgetScope; readonly key: string };

/** Requested in the transaction that starts the attempt; refused as a whole when one limit has no room. */
export type Reservation = Reserved & {
  readonly stage: string;
  readonly attempt: number;
  readonly limits: readonly KeyedLimit[];
};

/** How far a limit is used. `used` includes reserved amounts. */
export type BudgetUse = {
  readonly scope: BudgetScope;
  readonly key: string;
  readonly unit: BudgetUnit;
  readonly used: number;
  readonly limit: number;
};

/** A limit without room for what an attempt needs. */
export type OverBudget = BudgetUse & { readonly needed: number };

/** The amount a person allowed on top of a limit, for one run. */
export type Raise = {
  readonly scope: BudgetScope;
  readonly key: string;
  readonly usd: number;
  readonly tokens: number;
};

/** The reported usage of a run, with the number of attempts that did not report. */
export type Spent = {
  readonly attempts: number;
  readonly usd: number;
  readonly unknownUsd: number;
  readonly tokens: number;
  readonly unknownTokens: number;
};

/** The keys by which spending can be grouped. Days are UTC days of the start. */
export const SPENDING_KEYS = ["agent", "stage", "flow", "day", "runner", "model", "run"] as const;
export type SpendingKey = (typeof SPENDING_KEYS)[number];

/** Passrail warns a person from this share of a limit on. */
export const WARNED_AT = 0.8;

/** A day is the UTC day on which the attempt started. */
export function dayOf(at: string): string {
  return at.slice(0, 10);
}

/** One entry per scope: the raise of a day ends with the day. */
export function withRaise(raised: readonly Raise[], { scope, key, usd, tokens }: Raise): readonly Raise[] {
  const before = raised.find((each) => each.scope === scope && each.key === key);
  const sum = { scope, key, usd: (before?.usd ?? 0) + usd, tokens: (before?.tokens ?? 0) + tokens };
  return [...raised.filter((each) => each.scope !== scope), sum];
}

/** Fewer attempts than this do not predict an agent's cost. */
const ENOUGH = 3;
const PERCENTILE = 0.9;
/** The number of settled attempts to look at. */
export const HISTORY = 20;

/** The amount to reserve: the 90th percentile of this agent's attempts, or the runner's default while there is little history. */
export function estimate(history: readonly Usage[], { reserveUsd, reserveTokens }: Metered): BudgetAmounts {
  return {
    usd: percentile(history.map(({ usd }) => usd)) ?? reserveUsd,
    tokens: percentile(history.map(tokensOf)) ?? reserveTokens,
  };
}

export type BudgetAmounts = { readonly usd: number; readonly tokens: number };

function percentile(values: readonly (number | null)[]): number | undefined {
  const known = values.filter((value) => value !== null).sort((a, b) => a - b);
  return known.length < ENOUGH ? undefined : known[Math.ceil(known.length * PERCENTILE) - 1];
}

/** Far above anything real; a larger number is an error of the program that reported it. */
const USD_AT_MOST = 1_000_000;
const TOKENS_AT_MOST = 100_000_000_000;

/** Checks a vendor's numbers: a missing, negative or absurd one counts as unknown. */
export function soundUsage({ usd, inputTokens, outputTokens, cachedTokens }: Usage): Usage {
  const sound = (value: number | null, most: number): number | null =>
    typeof value === "number" && Number.isFinite(value) && value >= 0 && value <= most ? value : null;
  const whole = (value: number | null): number | null => {
    const known = sound(value, TOKENS_AT_MOST);
    return known === null ? null : Math.round(known);
  };
  return {
    usd: toUsd(toMicros(sound(usd, USD_AT_MOST))),
    inputTokens: whole(inputTokens),
    outputTokens: whole(outputTokens),
    cachedTokens: whole(cachedTokens),
  };
}

/** The totals of a run after one more attempt has reported its usage. */
export function addSpent(spent: Spent | undefined, usage: Usage): Spent {
  const before = spent ?? { attempts: 0, usd: 0, unknownUsd: 0, tokens: 0, unknownTokens: 0 };
  const tokens = tokensOf(usage);
  return {
    attempts: before.attempts + 1,
    usd: toUsd((toMicros(before.usd) ?? 0) + (toMicros(usage.usd) ?? 0)) ?? 0,
    unknownUsd: before.unknownUsd + (usage.usd === null ? 1 : 0),
    tokens: before.tokens + (tokens ?? 0),
    unknownTokens: before.unknownTokens + (tokens === null ? 1 : 0),
  };
}

/** Adds money in millionths of a dollar, so that sums are exact. */
export function toMicros(usd: number): number;
export function toMicros(usd: number | null): number | null;
export function toMicros(usd: number | null): number | null {
  return usd === null ? null : Math.round(usd * 1e6);
}

export function toUsd(micros: number): number;
export function toUsd(micros: number | null): number | null;
export function toUsd(micros: number | null): number | null {
  return micros === null ? null : micros / 1e6;
}

/** Reads `5`, `5 usd`, `$5`, `200000 tokens`; an empty text means `size` once more. Undefined: unreadable, or in another unit. */
export function readRaise(text: string, unit: BudgetUnit, size: number): number | undefined {
  const said = text.trim().toLowerCase();
  const most = unit === "usd" ? USD_AT_MOST : TOKENS_AT_MOST;
  if (said === "") return size > 0 && size <= most ? size : undefined;
  const [, dollar, amount, word] = /^(\$?)([0-9]{1,12}(?:\.[0-9]{1,6})?) ?(usd|tokens?)?$/u.exec(said) ?? [];
  if (amount === undefined) return undefined;
  const named = dollar === "$" || word === "usd" ? "usd" : word === undefined ? unit : "tokens";
  if (named !== unit || (dollar === "$" && word !== undefined && word !== "usd")) return undefined;
  const value = unit === "usd" ? Number(amount) : Math.round(Number(amount));
  return value > 0 && value <= most ? value : undefined;
}

/** For people: `$1.25`, `$0.004`, `200,000 tokens`. */
export function amountText(unit: BudgetUnit, value: number): string {
  if (unit === "tokens") return `${Math.round(value).toLocaleString("en-US")} tokens`;
  return `$${value > 0 && value < 0.01 ? value.toPrecision(1) : value.toFixed(2)}`;
}

/** `the run's budget`, `the day's budget (2026-11-15 UTC)`. */
export function scopeText(scope: BudgetScope, key: string): string {
  return scope === "day" ? `the day's budget (${key} UTC)` : `the ${scope}'s budget`;
}

/** `the run's budget of $5.00 has $0.40 left, about $1.20 is needed`. */
export function overText({ scope, key, unit, used, limit, needed }: OverBudget): string {
  const left = amountText(unit, Math.max(0, limit - used));
  return `${scopeText(scope, key)} of ${amountText(unit, limit)} has ${left} left, about ${amountText(unit, needed)} is needed`;
}
