// Removes secrets from text: known values in every usual form, and texts shaped like a key, also in base64. A byte that cannot begin a
// secret costs one table look-up; deep-scan.ts repeats the pass for what readers decode. It prevents accidents and is no boundary against an attacker.

import { base64Shapes } from "./base64-shapes.ts";
import { createDeepScan } from "./deep-scan.ts";
import { breakAt } from "./line-break.ts";
import type { Scan } from "./scan.ts";
import { formsOf } from "./secret-forms.ts";
import { MORE, NONE, SHAPES } from "./secret-shapes.ts";

export { LOOK_BEHIND } from "./secret-shapes.ts";

export type Secret = { readonly name: string; readonly value: string };

export type Redaction = {
  /** The text without secrets; the same string where there are none. */
  readonly text: (value: string) => string;
  /** Finds secrets in bytes, also in a stream that arrives in chunks. */
  readonly scan: Scan;
};

export function createRedaction(secrets: readonly Secret[]): Redaction {
  const scan = createDeepScan(
    createScan(secrets.flatMap(({ name, value }) => formsOf(value).map((form) => ({ ...form, kind: kindOf(name) })))),
  );
  return { scan, text: (value) => redactText(scan, value) };
}

/** The replacement for a secret. Safe in JSON, in a URL's path and on a terminal. */
export function marker(kind: string): string {
  return `[REDACTED:${kind}]`;
}

function kindOf(name: string): string {
  return name
    .slice(0, 60)
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]/gu, "_");
}

function redactText(scan: Scan, value: string): string {
  const bytes = new TextEncoder().encode(value);
  let out = "";
  let done = 0;
  const indexOf = createIndex(value, bytes.length);
  scan(bytes, 0, true, ({ start, end, kind }) => {
    out += value.slice(done, indexOf(start)) + marker(kind);
    done = indexOf(end);
  });
  return done === 0 ? value : out + value.slice(done);
}

/** Converts an offset in UTF-8 to one in the string; called from left to right, so it walks the string at most once. */
function createIndex(value: string, byteLength: number): (byte: number) => number {
  if (byteLength === value.length) return (byte) => byte;
  let index = 0;
  let bytes = 0;
  return (byte) => {
    while (bytes < byte) {
      const code = value.charCodeAt(index);
      index += 1;
      if (code < 0x80) bytes += 1;
      else if (code < 0x800) bytes += 2;
      else if ((value.codePointAt(index - 1) ?? 0) < 0x1_0000) bytes += 3;
      else {
        bytes += 4;
        index += 1;
      }
    }
    return index;
  };
}

const BASE64_SHAPES = base64Shapes(SHAPES);

type Literal = { readonly bytes: Uint8Array; readonly wraps: boolean };

type Pattern = {
  readonly kind: string;
  /** A known value is removed wherever it is, also inside another text. */
  readonly known: boolean;
  readonly literal: Literal;
  /** The byte to compare first: keys of one vendor begin alike. */
  readonly probe: number;
  /** For shapes, whose literal is only their beginning. */
  readonly measure: ((bytes: Uint8Array, at: number, final: boolean) => number) | undefined;
};

const HASH_BITS = 16;

/** Over the first three bytes of a secret. */
function hash(first: number, second: number, third: number): number {
  return ((first << 10) ^ (second << 5) ^ third) & ((1 << HASH_BITS) - 1);
}

function hashAt(bytes: Uint8Array, at: number): number {
  return hash(bytes[at] ?? 0, bytes[at + 1] ?? 0, bytes[at + 2] ?? 0);
}

function createScan(values: readonly (Literal & { readonly kind: string })[]): Scan {
  const patterns: readonly Pattern[] = [
    ...values.map(({ kind, ...literal }) => patternOf(kind, literal, undefined)),
    ...[...SHAPES, ...BASE64_SHAPES].map(({ kind, prefix, measure }) =>
      patternOf(kind, { bytes: new TextEncoder().encode(prefix), wraps: false }, measure),
    ),
  ];
  // For most texts the scan reads only this table: 0 means that no secret begins this way.
  const table = new Uint16Array(1 << HASH_BITS);
  const groups: Pattern[][] = [[]];
  const heads = new Set<number>();
  for (const pattern of patterns) {
    const { bytes } = pattern.literal;
    heads.add(headOf(bytes, 0, 1)).add(headOf(bytes, 0, 2));
    const slot = hashAt(bytes, 0);
    const group = table[slot] ?? 0;
    if (group === 0) table[slot] = groups.push([pattern]) - 1;
    else groups[group]?.push(pattern);
  }

  return (bytes, from, final, onFound) => {
    // Secrets may overlap: one that begins inside another extends the range, so that both are removed whole.
    let start = 0;
    let end = 0;
    let kind = "";
    const close = (): void => {
      if (end > start) onFound({ start, end, kind });
      start = end;
    };
    const last = bytes.length - 2;
    for (let at = nextHit(table, bytes, from, last); at < last; at = nextHit(table, bytes, at + 1, last)) {
      if (at >= end) close();
      const isInside = at < end;
      const found = longestAt(groups[table[hashAt(bytes, at)] ?? 0] ?? [], bytes, at, final, isInside);
      if (found === undefined) continue;
      if (found === MORE) return isInside ? start : at;
      if (!isInside) {
        start = at;
        kind = found.kind;
      }
      end = Math.max(end, at + found.length);
    }
    for (let at = Math.max(from, last); at < bytes.length && !final; at += 1) {
      if (!heads.has(headOf(bytes, at, bytes.length - at))) continue;
      if (at < end) return start;
      close();
      return at;
    }
    close();
    return bytes.length;
  };
}

function patternOf(kind: string, literal: Literal, measure: Pattern["measure"]): Pattern {
  const last = literal.bytes.length - 1;
  const probe = literal.wraps ? Math.min(last, BEFORE_BREAK - 1) : last;
  return { kind, known: measure === undefined, literal, probe, measure };
}

/** One or two bytes as a number. */
function headOf(bytes: Uint8Array, at: number, length: number): number {
  return length === 1 ? (bytes[at] ?? 0) : 0x1_0000 + (bytes[at] ?? 0) * 256 + (bytes[at + 1] ?? 0);
}

/** The first offset from `from` on with a table entry. Kept small: every byte of output passes here. */
function nextHit(table: Uint16Array, bytes: Uint8Array, from: number, last: number): number {
  if (from >= last) return last;
  let first = bytes[from] ?? 0;
  let second = bytes[from + 1] ?? 0;
  for (let at = from; at < last; at += 1) {
    const third = bytes[at + 2] ?? 0;
    if (table[hash(first, second, third)] !== 0) return at;
    first = second;
    second = third;
  }
  return last;
}

type Longest = { readonly length: number; readonly kind: string };

/** The longest match sets the end; a known value sets the name. */
function longestAt(
  group: readonly Pattern[],
  bytes: Uint8Array,
  at: number,
  final: boolean,
  isInside: boolean,
): Longest | typeof MORE | undefined {
  let length = NONE;
  let named: { readonly pattern: Pattern; readonly length: number } | undefined;
  for (let index = 0; index < group.length; index += 1) {
    const pattern = group[index] as Pattern;
    const { literal, probe } = pattern;
    if (at + probe < bytes.length && bytes[at + probe] !== literal.bytes[probe]) continue;
    // A key shape inside a secret is part of it; measuring it would cost time and change nothing.
    if (isInside && !pattern.known) continue;
    const begun = measureLiteral(literal, bytes, at, final);
    const found = begun > 0 && pattern.measure !== undefined ? pattern.measure(bytes, at, final) : begun;
    if (found === MORE) return MORE;
    if (found === NONE) continue;
    length = Math.max(length, found);
    if (named === undefined || (pattern.known === named.pattern.known ? found > named.length : pattern.known))
      named = { pattern, length: found };
  }
  return named === undefined ? undefined : { length, kind: named.pattern.kind };
}

function measureLiteral(literal: Literal, bytes: Uint8Array, at: number, final: boolean): number {
  if (literal.wraps) return measureWrapped(literal.bytes, bytes, at, final);
  const wanted = literal.bytes;
  const { length } = wanted;
  const room = Math.min(length, bytes.length - at);
  for (let index = 0; index < room; index += 1) if (bytes[at + index] !== wanted[index]) return NONE;
  if (room === length) return length;
  return final ? NONE : MORE;
}

/** This much of an encoded value before a line break is no accident. */
const BEFORE_BREAK = 12;

function measureWrapped(wanted: Uint8Array, bytes: Uint8Array, at: number, final: boolean): number {
  let here = at;
  for (let index = 0; index < wanted.length; index += 1, here += 1) {
    const width = index < BEFORE_BREAK ? 0 : breakAt(bytes, here, final);
    if (width === MORE) return MORE;
    here += width;
    if (here >= bytes.length) return final ? NONE : MORE;
    if (bytes[here] !== wanted[index]) return NONE;
  }
  return here - at;
}
