// The `## Abstract` of a handoff file: `key: value` lines that sum it up. Its values are checked against the sections.

import { asciiLower, type Line, markerLength, plain } from "./markdown.ts";
import { clip, ITEM_CHARS, WORD_CHARS } from "./reading.ts";

export type Abstract = ReadonlyMap<string, string>;

const KEYS = new Set(["outcome", "verdict", "files", "next_phase", "open_questions", "blame"]);

/** The first value of each key; the block may be in a fence. A second verdict line is kept too, because it may differ. */
export function readAbstract(lines: readonly Line[]): {
  readonly abstract: Abstract;
  readonly verdicts: readonly string[];
} {
  const abstract = new Map<string, string>();
  const verdicts: string[] = [];
  for (const { text, kind } of lines) {
    if ((kind !== "text" && kind !== "code") || text.length > ITEM_CHARS) continue;
    const line = text.slice(markerLength(text));
    const colon = line.indexOf(":");
    const key = asciiLower(plain(line.slice(0, Math.max(0, colon))));
    const value = KEYS.has(key) ? scalar(line.slice(colon + 1)) : "";
    if (value === "") continue;
    if (key === "verdict") verdicts.push(value);
    if (!abstract.has(key)) abstract.set(key, value);
  }
  return { abstract, verdicts };
}

/** R-002-47: numbers that disagree with the sections give a warning. */
export function abstractWarnings(
  abstract: Abstract,
  questions: number,
  files: { readonly [kind: string]: readonly string[] },
): readonly string[] {
  const warnings: string[] = [];
  const claimed = abstract.get("open_questions");
  if (claimed !== undefined && claimed !== String(questions)) {
    warnings.push(`the Abstract says open_questions: ${clip(claimed, WORD_CHARS)}, the section has ${questions}`);
  }
  const counts = (abstract.get("files") ?? "").slice(0, 200);
  for (const [kind, listed] of Object.entries(files)) {
    const count = new RegExp(`([0-9]{1,6}) ${kind}`).exec(counts)?.[1];
    if (count === undefined || Number(count) === listed.length) continue;
    warnings.push(`the Abstract says ${count} files ${kind}, the section lists ${listed.length}`);
  }
  return warnings;
}

/** A one-line YAML value: quotes around it or a comment after it are not part of it. */
function scalar(raw: string): string {
  const value = plain(raw);
  const quote = value[0];
  const isQuoted =
    (quote === '"' || quote === "'") && value.length >= 2 && value.indexOf(quote, 1) === value.length - 1;
  if (isQuoted) return value.slice(1, -1).trim();
  const comment = value.indexOf(" #");
  return (comment === -1 ? value : value.slice(0, comment)).trim();
}
