// The retry schedule of a message, after Standard Webhooks. Pure: the caller passes time and chance.

import type { SendOutcome } from "./send.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Before the first try, the second, and so on. */
export const DELAYS_MS: readonly number[] = [
  0,
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];

/** Adds up to this part of a delay, so that many messages do not retry at the same moment. */
const JITTER = 0.2;
const MAX_DELAY_MS = 24 * HOUR;

export type Next =
  | { readonly type: "delivered" }
  | { readonly type: "again"; readonly inMs: number; readonly reason: string }
  | { readonly type: "give-up"; readonly reason: string }
  /** The receiver is gone for good: Passrail stops sending. */
  | { readonly type: "disable"; readonly reason: string };

/** `tries`: their number, including this one. `chance`: from 0 to 1. */
export function afterTry(outcome: SendOutcome, tries: number, chance: number): Next {
  const reason = reasonOf(outcome);
  if (outcome.type === "refused") return { type: "give-up", reason };
  if (outcome.type === "done") return { type: "delivered" };
  if (outcome.type === "answered" && outcome.status >= 200 && outcome.status < 300) return { type: "delivered" };
  if (outcome.type === "answered" && outcome.status === 410) return { type: "disable", reason };
  const delay = DELAYS_MS[tries];
  if (delay === undefined) return { type: "give-up", reason };
  const asked = outcome.type === "answered" ? (outcome.retryAfterMs ?? 0) : 0;
  const wait = Math.max(delay * (1 + JITTER * chance), Math.min(asked, MAX_DELAY_MS));
  return { type: "again", inMs: Math.round(wait), reason };
}

/** A redirect counts as a failure, like every status that is not a success. */
function reasonOf(outcome: SendOutcome): string {
  if (outcome.type === "done") return "done";
  return outcome.type === "answered" ? `answered ${outcome.status}` : outcome.reason;
}
