// Reads a value that a plan states for people: `## Complexity: simple`, `**Complexity:** simple`, `| Complexity | simple |`, or a heading
// with the word below it. The place may have any of these forms; the value must be one of the known words, said once.

import type { StatedFact } from "../flow/flow.ts";
import { err, ok, type Result } from "../result.ts";
import { asciiLower, isNone, type Line, markdownLines, markerLength } from "../verdict/markdown.ts";

const SHOWN_CHARS = 80;
/** A label is near the start of its line. */
const LABEL_CHARS = 120;

/** Undefined if the text states nothing under these labels; the error is a sentence. */
export function readStated(text: string, { labels, oneOf }: StatedFact): Result<string | boolean | undefined, string> {
  const [label = ""] = labels;
  const found = [...new Set(saidUnder(text, labels))];
  const values: (string | boolean)[] = [];
  for (const said of found) {
    const value = oneOf === "yes-no" ? yesOrNo(said) : oneOfThese(said, oneOf);
    if (value === undefined) return err(`says "${label}: ${shown(said)}"; it must be ${allowed(oneOf)}`);
    if (!values.includes(value)) values.push(value);
  }
  if (values.length > 1)
    return err(`says two things under ${label}: ${values.map(wordOf).join(" and ")}; it must say one of them`);
  return ok(values[0]);
}

/** The allowed words in a sentence: `simple, standard or complex`. */
export function allowed(oneOf: StatedFact["oneOf"]): string {
  const words = oneOf === "yes-no" ? ["yes", "no"] : oneOf;
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1) ?? ""}`;
}

/** The same rule for a value that a person gives: undefined if it does not count. */
export function givenValue(value: unknown, { oneOf }: StatedFact): string | boolean | undefined {
  if (oneOf === "yes-no") return typeof value === "boolean" ? value : undefined;
  return typeof value === "string" && oneOf.includes(value) ? value : undefined;
}

const wordOf = (value: string | boolean): string => (typeof value === "string" ? value : value ? "yes" : "no");

function saidUnder(text: string, labels: readonly string[]): readonly string[] {
  const names = new Set(labels.map(nameOf));
  const lines = markdownLines(text).filter(({ kind }) => kind === "text");
  const found: string[] = [];
  for (const [index, line] of lines.entries()) {
    const said = saidIn(line, names) ?? saidBelow(lines, index, names);
    if (said !== undefined) found.push(said);
  }
  return found;
}

/** `Complexity: simple`, also as a heading, as a list item, in bold, and as a row of a table. */
function saidIn({ text }: Line, names: ReadonlySet<string>): string | undefined {
  const solid = bare(text);
  if (solid.startsWith("|")) {
    const [, name = "", value = ""] = solid.split("|", 4);
    return names.has(nameOf(name)) ? value.trim() : undefined;
  }
  const at = solid.slice(0, LABEL_CHARS).indexOf(":");
  if (at < 1 || !names.has(nameOf(solid.slice(0, at)))) return undefined;
  const value = solid.slice(at + 1).trim();
  return value === "" ? undefined : value;
}

/** `## Complexity` or `Complexity:`, and the value in the next line that is not empty. */
function saidBelow(lines: readonly Line[], index: number, names: ReadonlySet<string>): string | undefined {
  const text = lines[index]?.text ?? "";
  const solid = bare(text);
  const isHeading = text.trimStart().startsWith("#");
  if (!isHeading && !solid.endsWith(":")) return undefined;
  if (!names.has(nameOf(solid.endsWith(":") ? solid.slice(0, -1) : solid))) return undefined;
  const below = lines.slice(index + 1).find((line) => line.text.trim() !== "")?.text;
  // Another heading follows: the section is empty, which is an unreadable statement.
  return below === undefined || below.trimStart().startsWith("#") ? "" : bare(below);
}

/** Without heading marks, list marker, emphasis and code marks. */
function bare(text: string): string {
  const cut = text.slice(0, 2000).trim();
  const heading = cut.startsWith("#") ? cut.replace(/^#{1,6}/u, "").replace(/#{1,6}$/u, "") : cut;
  return heading
    .slice(markerLength(heading))
    .replaceAll(/[`*]|__/gu, "")
    .trim();
}

function nameOf(label: string): string {
  return asciiLower(
    label
      .slice(0, LABEL_CHARS)
      .replaceAll(/[`*]|__/gu, "")
      .replaceAll("-", " ")
      .trim(),
  )
    .split(/\s+/u)
    .join(" ");
}

/** The word alone, or followed by a remark that names no other of the words: `standard (two modules)`. */
function oneOfThese(said: string, words: readonly string[]): string | undefined {
  const [first = "", ...rest] = asciiLower(said).split(/[^\p{L}\p{N}_-]+/u);
  const word = words.find((each) => asciiLower(each) === first);
  if (word === undefined) return undefined;
  const after = said.slice(said.search(/\S/u) + first.length).trimStart();
  const isRemark = after === "" || /^[.,;:()[\]–—-]/u.test(after);
  return isRemark && !words.some((each) => rest.includes(asciiLower(each))) ? word : undefined;
}

const YES = ["yes", "true", "y"];
const NO = ["no", "false", "n", "none"];

function yesOrNo(said: string): boolean | undefined {
  if (isNone(said) && said.trim() !== "") return false;
  const word = oneOfThese(said, [...YES, ...NO]);
  return word === undefined ? undefined : YES.includes(word);
}

function shown(said: string): string {
  const line = said.replaceAll(/[\p{Cc}\s]+/gu, " ");
  return line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS)}…` : line;
}
