// Limits how often the same kind of entry is recorded: a burst, then one a minute, with the number of skipped ones.

const BURST = 60;
const REFILL_MS = 60_000;

/** `now`: milliseconds since 1970. A call requests one entry and returns the number skipped before it, or that it is skipped too. */
export function createRateLimit(now: () => number): () => number | "leave out" {
  let left = BURST;
  let since = now();
  let leftOut = 0;

  return () => {
    const due = Math.max(0, Math.floor((now() - since) / REFILL_MS));
    if (due > 0) {
      left = Math.min(BURST, left + due);
      since += due * REFILL_MS;
    }
    if (left === 0) {
      leftOut++;
      return "leave out";
    }
    left--;
    const count = leftOut;
    leftOut = 0;
    return count;
  };
}
