// The days (UTC) that sums of spending are kept by.

const DAY_LENGTH = "2026-01-31".length;
const MIDNIGHT = "T00:00:00.000Z";

export function dayOf(time: string): string {
  return time.slice(0, DAY_LENGTH);
}

/** No time of its day is before it. Times are compared as texts, so a midnight without milliseconds is a later one. */
export function isMidnight(time: string): boolean {
  return time.slice(DAY_LENGTH) <= MIDNIGHT;
}
