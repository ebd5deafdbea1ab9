// `--idempotency-key`: scripts repeat a command that was cut off, and it takes effect once.

import { usageError } from "./errors.ts";

export const KEY_HELP = "a name for this call: repeating it with the same key has no second effect";

/** As the API takes it. */
export function requireKey(key: string): string {
  if (!/^[\x21-\x7e]{1,200}$/u.test(key))
    throw usageError("invalid_idempotency_key", "--idempotency-key: 1 to 200 visible ASCII characters.");
  return key;
}
