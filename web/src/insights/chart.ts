// Cost over time as bars: one per day, or per week where there are many days, beside the limit of that time. Pure, in units of the picture.

import type { CostRow } from "./bars.ts";

export type ChartBar = {
  /** The day, or the first day of the week. */
  readonly key: string;
  readonly usd: number;
  /** Attempts whose cost is not known: the bar is too short. */
  readonly unknown: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly isOver: boolean;
};

export type CostChart = {
  readonly by: "day" | "week";
  readonly bars: readonly ChartBar[];
  /** The top of the picture, in dollars. */
  readonly most: number;
  /** Where the limit is; null without one, or far above everything. */
  readonly limitY: number | null;
  readonly limit: number | null;
};

export const WIDTH = 600;
export const HEIGHT = 120;
const DAYS_AT_MOST = 31;
const GAP = 0.25;
const DAY_MS = 86_400_000;
/** A limit so far above the cost would press the bars flat. */
const FAR = 4;

/** `until`: today, as a date in UTC. `since`: the first day; null for the day of the first cost. */
export function costChart(
  rows: readonly CostRow[],
  period: { readonly since: string | null; readonly until: string; readonly dayLimit: number | null },
): CostChart {
  const days = new Map(rows.flatMap((row) => (row.key === null ? [] : [[row.key, row] as const])));
  const first = period.since ?? [...days.keys()].toSorted()[0] ?? period.until;
  const all = daysBetween(first, period.until);
  const by = all.length > DAYS_AT_MOST ? "week" : "day";
  const steps = by === "day" ? all.map((day) => [day]) : weeks(all);
  const limit = period.dayLimit === null ? null : period.dayLimit * (by === "week" ? 7 : 1);
  const sums = steps.map((step) => ({
    key: step[0] ?? first,
    usd: step.reduce((sum, day) => sum + (days.get(day)?.usd ?? 0), 0),
    unknown: step.reduce((sum, day) => sum + (days.get(day)?.unknownUsd ?? 0), 0),
  }));
  const highest = Math.max(0, ...sums.map(({ usd }) => usd));
  const most = limit !== null && limit <= highest * FAR ? Math.max(limit, highest) : highest || limit || 1;
  const slot = WIDTH / Math.max(1, sums.length);
  return {
    by,
    most,
    limit,
    limitY: limit !== null && limit <= most ? HEIGHT - (limit / most) * HEIGHT : null,
    bars: sums.map(({ key, usd, unknown }, index) => {
      const height = usd === 0 ? 0 : Math.max(2, (usd / most) * HEIGHT);
      const place = { x: (index + GAP / 2) * slot, y: HEIGHT - height, width: slot * (1 - GAP), height };
      return { key, usd, unknown, ...place, isOver: limit !== null && usd >= limit };
    }),
  };
}

function daysBetween(first: string, last: string): readonly string[] {
  const [from, to] = [Date.parse(`${first}T00:00:00Z`), Date.parse(`${last}T00:00:00Z`)];
  const count = Math.min(3660, Math.max(1, Math.round((to - from) / DAY_MS) + 1));
  return Array.from({ length: count }, (_, index) => new Date(from + index * DAY_MS).toISOString().slice(0, 10));
}

/** Seven days each, the last one to today. */
function weeks(days: readonly string[]): readonly (readonly string[])[] {
  const begin = days.length % 7;
  const rest = Array.from({ length: Math.floor(days.length / 7) }, (_, index) =>
    days.slice(begin + index * 7, begin + (index + 1) * 7),
  );
  return begin === 0 ? rest : [days.slice(0, begin), ...rest];
}
