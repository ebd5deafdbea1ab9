// Shared by all readers of verdicts: the two ways a reading can end, and the limits on an agent's text.
// A reader is pure and linear; it never repairs or guesses, and takes exactly one candidate or none.

import type { Report } from "../flow/outcome.ts";
import { err, type Result } from "../result.ts";

/** Why there is no usable verdict. `message` can be sent to the agent unchanged (the repair round). */
export type Unreadable = {
  readonly code:
    | "verdict_missing"
    | "verdict_ambiguous"
    | "verdict_unknown"
    | "verdict_invalid_json"
    | "verdict_wrong_subject"
    | "verdict_too_large"
    | "verdict_field_invalid"
    | "verdict_stale";
  readonly message: string;
};

export type Reading = Result<Report, Unreadable>;

/** Readers search only this much of the end of an agent's output for text forms (characters). */
export const TAIL_CHARS = 256 * 1024;
/** Handoff and review files above this size are not read (characters). */
export const FILE_CHARS = 1024 * 1024;
export const WORD_CHARS = 80;
export const ITEM_CHARS = 4096;
export const SUMMARY_CHARS = 16_384;
export const MAX_ISSUES = 200;

export function unreadable(code: Unreadable["code"], message: string): Result<never, Unreadable> {
  return err({ code, message });
}

/** The same object without its undefined properties, so that an optional field is absent instead of undefined. */
export function present<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept: { [K in keyof T]?: Exclude<T[K], undefined> } = {};
  for (const key of Object.keys(fields) as (keyof T)[]) {
    const value = fields[key];
    if (value !== undefined) kept[key] = value as Exclude<T[typeof key], undefined>;
  }
  return kept;
}

/** The first `max` characters, never half of a surrogate pair. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  return `${text.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max)}…`;
}
