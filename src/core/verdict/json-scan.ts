// Finds the JSON values of a whole text, between prose, fences and code: a window could begin inside a value and promote what is nested in it.
// Linear on hostile text: a failed try costs as much as it read, and at most `maxDepth` tries per string phase are open over one character.
// A value inside a malformed one never counts: that would turn a quoted example into a verdict.

import type { Json } from "../json.ts";
import { type JsonFault, readJsonAt } from "./json-text.ts";

export type FoundJson = { readonly start: number; readonly end: number; readonly value: Json };
export type BrokenJson = { readonly start: number; readonly fault: JsonFault };
/** In text order; positions are those of the whole text. */
export type JsonScan = { readonly found: readonly FoundJson[]; readonly broken: readonly BrokenJson[] };

/** All top-level objects of the text, and the malformed ones that hold `key`. */
export function findJsonObjects(text: string, key: string): JsonScan {
  return scan(text, "{", key);
}

/** All top-level arrays of the text, and the malformed ones that hold `key`. */
export function findJsonArrays(text: string, key: string): JsonScan {
  return scan(text, "[", key);
}

type Opening = { readonly start: number; readonly fault: JsonFault; closed: boolean; hasKey: boolean };
type Nested = FoundJson & { readonly inside: Opening | undefined; readonly tainted: boolean };

function scan(text: string, open: "{" | "[", key: string): JsonScan {
  const found: Nested[] = [];
  const broken: BrokenJson[] = [];
  const openings: Opening[] = [];
  const close = open === "{" ? "}" : "]";
  let keyed = 0;
  let inString = false;
  let lineStart: string | undefined;
  let lastSolid = "";
  const markKey = (isThere: boolean) => {
    const opening = openings.at(-1);
    if (!isThere || !opening || opening.hasKey) return;
    opening.hasKey = true;
    keyed += 1;
    broken.push(opening);
  };

  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? "";
    if (char === "\n") {
      // A JSON string cannot hold a raw line break, so a stray quote in prose ends with its line.
      inString = false;
      lineStart = undefined;
      continue;
    }
    if (char === " " || char === "\t" || char === "\r") continue;
    lineStart ??= char;
    const quotedLine = lineStart === ">";

    if (char === "{" || char === "[") {
      const read = readJsonAt(text, at);
      if (read.ok) {
        if (char !== open) markKey(holdsKey(read.value, key));
        else if (!quotedLine) {
          found.push({ start: at, end: read.end, value: read.value, inside: openings.at(-1), tainted: keyed > 0 });
        }
        if (text.slice(at, read.end).includes("\n")) lineStart = "}";
        at = read.end - 1;
        lastSolid = "}";
        continue;
      }
      if (char === open && !quotedLine) openings.push({ start: at, fault: read.fault, closed: false, hasKey: false });
    } else if (char === close && !inString && !quotedLine) {
      const opening = openings.pop();
      if (opening) {
        opening.closed = true;
        if (opening.hasKey) keyed -= 1;
      }
    } else if (char === '"') {
      inString = !inString;
    } else if (char === "\\" && inString && text[at + 1] !== "\n") {
      at += 1;
    } else if (char === key[0] && !quotedLine && isKey(text, at, key, lastSolid)) {
      markKey(true);
    }
    lastSolid = char;
  }
  return sortOut(found, broken, key);
}

/** `key` as a key of an object: in either kind of quotes before a colon, or bare after a brace or comma, as malformed JSON has it. */
function isKey(text: string, at: number, key: string, before: string): boolean {
  if (!text.startsWith(key, at)) return false;
  let after = at + key.length;
  const quote = text[at - 1];
  if (quote === '"' || quote === "'") {
    if (after >= text.length) return true;
    if (text[after] !== quote) return false;
    after += 1;
  } else if (before !== "{" && before !== ",") return false;
  while (after < text.length && " \t\r\n".includes(text[after] ?? "x")) after += 1;
  return after >= text.length || text[after] === ":";
}

/** Brackets close in reverse order, so a value is inside a closed pair exactly when its nearest opening was closed. */
function sortOut(nested: readonly Nested[], keyed: readonly BrokenJson[], key: string): JsonScan {
  const found: FoundJson[] = [];
  const broken = [...keyed];
  for (const { start, end, value, inside, tainted } of nested) {
    if (!tainted && !inside?.closed) found.push({ start, end, value });
    else if (inside && !inside.hasKey && holdsKey(value, key)) broken.push(inside);
  }
  return { found, broken: broken.sort((a, b) => a.start - b.start) };
}

function holdsKey(value: Json, key: string): boolean {
  if (Array.isArray(value)) return value.some((item) => holdsKey(item, key));
  return typeof value === "object" && value !== null && Object.hasOwn(value, key);
}
