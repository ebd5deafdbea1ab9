// Time comes from outside, so that tests can move it. Wall time is for people and records; durations use the monotonic clock.

export type Clock = {
  /** ISO 8601 UTC with Z. */
  now(): string;
  monotonicMs(): number;
};

export const systemClock: Clock = {
  now: () => new Date().toISOString(),
  monotonicMs: () => performance.now(),
};
