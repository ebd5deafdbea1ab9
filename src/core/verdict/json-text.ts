// Strict JSON for verdicts: no duplicate keys, `__proto__`, deep nesting, huge values, infinite numbers, or text that no database stores
// (NUL, half surrogate pairs). Hand-written because JSON.parse silently keeps the last of two equal keys and does not report where a value
// ends.

import type { Json } from "../json.ts";
import { ok, type Result } from "../result.ts";
import { type Unreadable, unreadable } from "./reading.ts";

export type JsonLimits = { readonly maxBytes: number; readonly maxDepth: number };
export type JsonFault = {
  readonly code: "verdict_invalid_json" | "verdict_too_large";
  readonly at: number;
  readonly what: string;
};
export type JsonAt =
  | { readonly ok: true; readonly value: Json; readonly end: number }
  | { readonly ok: false; readonly fault: JsonFault };

export const JSON_LIMITS: JsonLimits = { maxBytes: 65_536, maxDepth: 8 };

/** The whole text as one JSON value; white space around it is allowed, anything else is not. */
export function parseStrictJson(text: string, limits: JsonLimits = JSON_LIMITS): Result<Json, Unreadable> {
  if (utf8Length(text, limits.maxBytes) > limits.maxBytes) {
    return unreadable("verdict_too_large", `The JSON is larger than ${limits.maxBytes} bytes.`);
  }
  const read = readJsonAt(text, 0, limits);
  if (!read.ok) return unreadable(read.fault.code, describeFault(text, read.fault));
  const rest = skipSpace(text, read.end, text.length);
  if (rest === text.length) return ok(read.value);
  const fault: JsonFault = { code: "verdict_invalid_json", at: rest, what: "something follows the end of the value" };
  return unreadable(fault.code, describeFault(text, fault));
}

/** The one JSON value that begins at `start`, and where it ends. The cost is the length of the readable part. */
export function readJsonAt(text: string, start: number, limits: JsonLimits = JSON_LIMITS): JsonAt {
  const end = Math.min(text.length, start + limits.maxBytes);
  const cursor: Cursor = { text, end, cut: end < text.length, limits, at: start };
  const value = readValue(cursor, 1);
  if (value === undefined) return { ok: false, fault: cursor.fault ?? faultAt(cursor, "no value") };
  if (utf8Length(text.slice(start, cursor.at), limits.maxBytes) > limits.maxBytes) {
    return { ok: false, fault: tooLarge(start, `the value is larger than ${limits.maxBytes} bytes`) };
  }
  return { ok: true, value, end: cursor.at };
}

/** The fault in words, with line and column of the text it was found in. */
export function describeFault(text: string, fault: JsonFault): string {
  let line = 1;
  let lineStart = 0;
  for (let next = text.indexOf("\n"); next !== -1 && next < fault.at; next = text.indexOf("\n", next + 1)) {
    line += 1;
    lineStart = next + 1;
  }
  return `The JSON cannot be read at line ${line}, column ${fault.at - lineStart + 1}: ${fault.what}.`;
}

type Cursor = {
  readonly text: string;
  readonly end: number;
  /** The text continues after `end`: reaching it means too large, not too short. */
  readonly cut: boolean;
  readonly limits: JsonLimits;
  at: number;
  fault?: JsonFault;
};

const QUOTE = 34;
const BACKSLASH = 92;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const LITERALS: readonly (readonly [string, Json])[] = [
  ["true", true],
  ["false", false],
  ["null", null],
];

function readValue(cursor: Cursor, depth: number): Json | undefined {
  cursor.at = skipSpace(cursor.text, cursor.at, cursor.end);
  if (cursor.at >= cursor.end) return fail(cursor, "the text ends before the value does");
  const first = cursor.text[cursor.at];
  if (first === "{" || first === "[") {
    if (depth > cursor.limits.maxDepth) {
      cursor.fault = tooLarge(cursor.at, `nested deeper than ${cursor.limits.maxDepth} levels`);
      return undefined;
    }
    return first === "{" ? readObject(cursor, depth) : readArray(cursor, depth);
  }
  if (first === '"') return readString(cursor);
  if (first === "-" || (first !== undefined && first >= "0" && first <= "9")) return readNumber(cursor);
  for (const [word, value] of LITERALS) {
    if (cursor.text.startsWith(word, cursor.at)) {
      cursor.at += word.length;
      return value;
    }
  }
  return fail(cursor, `a value cannot begin with ${JSON.stringify(first)}`);
}

function readObject(cursor: Cursor, depth: number): Json | undefined {
  const entries = new Map<string, Json>();
  cursor.at += 1;
  if (next(cursor) === "}") return close(cursor, {});
  for (;;) {
    if (next(cursor) !== '"') return fail(cursor, "a key in double quotes is expected");
    const keyAt = cursor.at;
    const key = readString(cursor);
    if (key === undefined) return undefined;
    if (key === "__proto__" || entries.has(key)) {
      cursor.at = keyAt;
      return fail(
        cursor,
        key === "__proto__" ? "the key __proto__ is not allowed" : `the key ${JSON.stringify(key)} comes twice`,
      );
    }
    if (next(cursor) !== ":") return fail(cursor, 'a ":" is expected after the key');
    cursor.at += 1;
    const value = readValue(cursor, depth + 1);
    if (value === undefined) return undefined;
    entries.set(key, value);
    const mark = next(cursor);
    if (mark === "}") return close(cursor, Object.fromEntries(entries));
    if (mark !== ",") return fail(cursor, 'a "," or "}" is expected');
    cursor.at += 1;
  }
}

function readArray(cursor: Cursor, depth: number): Json | undefined {
  const items: Json[] = [];
  cursor.at += 1;
  if (next(cursor) === "]") return close(cursor, items);
  for (;;) {
    const value = readValue(cursor, depth + 1);
    if (value === undefined) return undefined;
    items.push(value);
    const mark = next(cursor);
    if (mark === "]") return close(cursor, items);
    if (mark !== ",") return fail(cursor, 'a "," or "]" is expected');
    cursor.at += 1;
  }
}

function readString(cursor: Cursor): string | undefined {
  const { text, end } = cursor;
  const start = cursor.at;
  let escaped = false;
  for (let at = start + 1; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      cursor.at = at + 1;
      // Every escape was checked below, so JSON.parse only decodes here and cannot throw.
      const value = escaped ? (JSON.parse(text.slice(start, at + 1)) as string) : text.slice(start + 1, at);
      if (!value.includes("\0") && value.isWellFormed()) return value;
      cursor.at = start;
      return fail(cursor, "the string holds a NUL or half of a surrogate pair");
    }
    if (code < 32) {
      cursor.at = at;
      return fail(cursor, "a raw line break or control character inside a string");
    }
    if (code === BACKSLASH) {
      const length = escapeLength(text, at);
      if (length === 0) {
        cursor.at = at;
        return fail(cursor, at + 1 < end ? "an unknown escape in a string" : "the text ends inside a string");
      }
      escaped = true;
      at += length - 1;
    }
  }
  cursor.at = end;
  return fail(cursor, "the text ends inside a string");
}

function escapeLength(text: string, at: number): number {
  const letter = text[at + 1];
  if (letter === undefined) return 0;
  if (letter !== "u") return '"\\/bfnrt'.includes(letter) ? 2 : 0;
  return /^[0-9a-fA-F]{4}$/.test(text.slice(at + 2, at + 6)) ? 6 : 0;
}

function readNumber(cursor: Cursor): number | undefined {
  NUMBER.lastIndex = cursor.at;
  const found = NUMBER.exec(cursor.text)?.[0];
  if (found === undefined) return fail(cursor, "this is not a JSON number");
  const value = Number(found);
  if (!Number.isFinite(value)) return fail(cursor, "the number is too large");
  cursor.at += found.length;
  return value;
}

function next(cursor: Cursor): string | undefined {
  cursor.at = skipSpace(cursor.text, cursor.at, cursor.end);
  return cursor.at < cursor.end ? cursor.text[cursor.at] : undefined;
}

function close<T extends Json>(cursor: Cursor, value: T): T {
  cursor.at += 1;
  return value;
}

function fail(cursor: Cursor, what: string): undefined {
  cursor.fault ??= faultAt(cursor, what);
}

function faultAt(cursor: Cursor, what: string): JsonFault {
  if (cursor.at < cursor.end) return { code: "verdict_invalid_json", at: cursor.at, what };
  if (cursor.cut) return tooLarge(cursor.at, `the value is larger than ${cursor.limits.maxBytes} bytes`);
  return { code: "verdict_invalid_json", at: cursor.at, what: "the text ends before the value does" };
}

function tooLarge(at: number, what: string): JsonFault {
  return { code: "verdict_too_large", at, what };
}

function skipSpace(text: string, from: number, end: number): number {
  let at = from;
  while (at < end) {
    const code = text.charCodeAt(at);
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) break;
    at += 1;
  }
  return at;
}

/** Bytes of the text in UTF-8; counting stops soon after `enough`. */
function utf8Length(text: string, enough: number): number {
  if (text.length * 3 <= enough) return text.length;
  if (text.length > enough) return text.length;
  let bytes = 0;
  for (let at = 0; at < text.length && bytes <= enough; at += 1) {
    const code = text.charCodeAt(at);
    // A surrogate is half of a four-byte character.
    bytes += code < 0x80 ? 1 : code < 0x800 || (code >= 0xd800 && code <= 0xdfff) ? 2 : 3;
  }
  return bytes;
}
