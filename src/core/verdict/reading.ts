// Shared by all readers of verdicts: the two ways a reading can end, and the limits on an agent's text.
// A reader is pure and linear; it never repairs or guesses, and takes exactly one candidate or none.

import type { Report } from "../flow/outcome.ts";
import { err, type Result } from "../result.ts";

/** Why there is no usable verdict. `message` can be sent to the agent unchanged (the repair round). */
export type Unreadable = {
  readonly code:
    | "verdict_missing"
    /** A verdict was given, but without this attempt's nonce. */
    | "verdict_unsigned"
    | "verdict_ambiguous"
    | "verdict_unknown"
    | "verdict_invalid_json"
    | "verdict_wrong_subject"
    | "verdict_too_large"
    | "verdict_field_invalid"
    | "verdict_stale"
    /** A pass that says itself what is missing. */
    | "verdict_contradicted"
    /** A section that the flow says the stage produces. */
    | "section_missing"
    /** The flow's file has no health, or one that the flow does not know. */
    | "status_missing"
    | "status_unknown"
    /** A verdict came by another channel, but the file that the flow names is not there. */
    | "handoff_missing";
  readonly message: string;
};

export type Reading = Result<Report, Unreadable>;

/** Handoff and review files above this size are not read (characters). */
export const FILE_CHARS = 1024 * 1024;
export const WORD_CHARS = 80;
export const ITEM_CHARS = 4096;
export const SUMMARY_CHARS = 16_384;
export const MAX_ISSUES = 200;

/** How a text shows that it belongs to this attempt and to no other. */
export type Signing = {
  readonly nonce: string;
  readonly required: boolean;
  /** Whether a block of the text was there before the attempt said anything: it is in the prompt, so it is no verdict. */
  readonly isQuoted?: (block: string) => boolean;
};

/** A longer text is not searched for JSON (characters): a part of it would prove nothing. */
export const TEXT_CHARS = 1024 * 1024;

export const TOO_LONG: Unreadable = {
  code: "verdict_too_large",
  message: "The output is too long to see whether it holds exactly one verdict. Print less, or write the verdict file.",
};

/** More blocks than this are not examined one by one. */
export const MAX_BLOCKS = 100;

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

/** The text without the line that signs it: the nonce is no finding, no question and no answer. A line that begins with other words stays. */
export function withoutNonce(text: string, nonce: string): string {
  const at = nonce === "" ? -1 : text.indexOf(nonce);
  if (at === -1) return text;
  const start = text.lastIndexOf("\n", at) + 1;
  const newline = text.indexOf("\n", at);
  const before = text.slice(start, at);
  if (/[\p{L}\p{N}]/u.test(before) && !SIGNING_LABEL.test(before)) return text;
  return text.slice(0, start) + (newline === -1 ? "" : text.slice(newline + 1));
}

const SIGNING_LABEL = /^[^\p{L}\p{N}]{0,20}(?:nonce|signed|signature)\b/iu;
