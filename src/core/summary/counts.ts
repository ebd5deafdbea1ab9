// Numbers from a text of others: never negative, never more than a person could read.

import type { CheckCounts } from "../flow/check-result.ts";

const LARGEST = 1_000_000_000;

export function countsOf(said: Partial<CheckCounts>): CheckCounts {
  const { passed = 0, failed = 0, skipped = 0, errors = 0, warnings = 0 } = said;
  return { passed, failed, skipped, errors, warnings };
}

export function toCount(digits: string | undefined): number {
  return Math.min(Number.parseInt(digits ?? "0", 10) || 0, LARGEST);
}

/** `1 failed, 2 passed` or `1 failed | 2 passed` -> word -> number. A part that has another form is left out. */
export function countsByWord(text: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const part of text.split(/[,|;]/u)) {
    const read = /^\s{0,20}(\d{1,12}) ([a-z]{1,20})\b/u.exec(part);
    if (read?.[2] !== undefined) found.set(read[2], (found.get(read[2]) ?? 0) + toCount(read[1]));
  }
  return found;
}
