// The three kinds of vendors' limits: throttle (`rate_limit`: wait shortly), quota (wait until it is reset), billing (ask a person). Words
// alone do not tell them apart, because vendors say "quota" for a limit per minute; the time at which it ends does.

import type { Failure } from "./runner.ts";

/** A wait that a program may sleep through itself; a longer one is worth the slot that it occupies. */
export const LONGEST_SLEEP_MS = 30_000;
/** A limit that ends sooner than this is a throttle, whatever it is called; one that ends later than `QUOTA_MS` is none. */
const THROTTLE_MS = 2 * 60_000;
const QUOTA_MS = 10 * 60_000;

export function limitKind(kind: Failure["kind"], resetsAt: string | null, nowMs: number): Failure["kind"] {
  if (!isLimit(kind) || resetsAt === null) return kind;
  const wait = Date.parse(resetsAt) - nowMs;
  if (wait <= THROTTLE_MS) return "rate_limit";
  // What ends by itself needs no person.
  return kind === "rate_limit" && wait < QUOTA_MS ? kind : "quota";
}

export function isLimit(kind: Failure["kind"]): boolean {
  return kind === "rate_limit" || kind === "quota" || kind === "billing";
}
