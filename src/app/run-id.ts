// The one rule for run ids: random, or derived from the start's key. The same key gives the same id, so a start that is repeated after a
// crash finds its first run.

import { createHash, randomBytes } from "node:crypto";

const DIGITS = 10;

/** `key` names the occasion of the start: a trigger's occurrence, a ticket and its count, an idempotency key. */
export function runIdOf(key?: string): string {
  const digits = key === undefined ? randomBytes(DIGITS / 2).toString("hex") : digestOf(key).slice(0, DIGITS);
  return `r${digits}`;
}

/** A key that is a digest already is not hashed again. */
function digestOf(key: string): string {
  return /^[0-9a-f]{64}$/.test(key) ? key : createHash("sha256").update(key).digest("hex");
}
