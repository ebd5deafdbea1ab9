// The periods of the insights page. Whole days, so that a query stays the same all day.

export const PERIODS = [
  { is: "1", title: "Today" },
  { is: "7", title: "7 days" },
  { is: "30", title: "30 days" },
  { is: "all", title: "Everything" },
] as const;

export type Period = (typeof PERIODS)[number]["is"];

export function periodOf(text: string | undefined): Period {
  return PERIODS.find(({ is }) => is === text)?.is ?? "7";
}

/** The first day of a period, as a date in UTC; null for everything. */
export function sinceOf(period: Period, now: number): string | null {
  if (period === "all") return null;
  const day = 24 * 60 * 60_000;
  return new Date(now - (Number(period) - 1) * day).toISOString().slice(0, 10);
}
