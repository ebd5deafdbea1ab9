// The flag `--since` as people type it.

import { durationMs } from "../core/flow/duration.ts";
import { usageError } from "./errors.ts";

/** `yesterday` and `today` begin at midnight here; `7d`, `12h`, a day, or a time; as ISO 8601. */
export function sinceOf(text: string): string {
  if (/^[0-9]{1,6}[mhd]$/u.test(text)) return new Date(Date.now() - durationMs(text)).toISOString();
  if (text === "today" || text === "yesterday") {
    const midnight = new Date();
    midnight.setHours(text === "today" ? 0 : -24, 0, 0, 0);
    return midnight.toISOString();
  }
  const at = /^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9:.]{5,12}Z)?$/u.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(at)) return new Date(at).toISOString();
  throw usageError("since_invalid", `--since ${text}: expected yesterday, 7d, 12h, 30m or a day such as 2026-01-31.`);
}
