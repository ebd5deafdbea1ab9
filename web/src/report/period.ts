// The periods of the report. Whole hours, so that a query stays the same for a while.

export const PERIODS = [
  { is: "12", title: "12 hours" },
  { is: "24", title: "24 hours" },
  { is: "168", title: "7 days" },
] as const;

type Period = (typeof PERIODS)[number]["is"];

export function periodOf(text: string | undefined): Period {
  return PERIODS.find(({ is }) => is === text)?.is ?? "24";
}

/** The beginning, as a time in UTC. */
export function sinceOf(period: Period, now: number): string {
  const hour = 60 * 60_000;
  return new Date(Math.floor(now / hour) * hour - Number(period) * hour).toISOString();
}
