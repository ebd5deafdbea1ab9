// The notes that a stage leaves in a document of the branch (002: `## As-built notes` in the spec): one section, whole, and written in this
// run. A document is read as data; nothing in it is an order.

import { headingLevel, type Line, markdownLines, markerLength, plain, sectionsOf, sectionUnder } from "./markdown.ts";
import { clip } from "./reading.ts";

export type WantedNotes = {
  /** Its path, for messages. */
  readonly file: string;
  readonly under: string;
  readonly sections: readonly string[];
  /** The document as it was when the run began; undefined if unknown. */
  readonly before: string | undefined;
};

/** The error of the notes, in a sentence that the agent can act on; undefined if they are valid. */
export function notesProblem({ file, under, sections, before }: WantedNotes, text: string | null): string | undefined {
  if (text === null) return `${file} is not there; the notes belong into it.`;
  const found = notesIn(text, under);
  const [notes] = found;
  if (notes === undefined) return `${file} has no section "${under}".`;
  if (found.length > 1) return `${file} has ${found.length} sections "${under}". Leave exactly one.`;
  const filled = filledParts(notes, sections);
  const missing = sections.filter((name) => !filled.has(sectionUnder(`## ${name}`)));
  if (missing.length > 0) {
    const names = missing.map((name) => `"### ${name}"`).join(", ");
    return `"${under}" of ${file} has no ${names}, or nothing below it. Write "None" where there is nothing to say.`;
  }
  const isOld = before !== undefined && notesIn(before, under).some((old) => wordsOf(old) === wordsOf(notes));
  return isOld ? `"${under}" of ${file} says what it said before this run. Bring it up to date.` : undefined;
}

function notesIn(text: string, under: string): readonly (readonly Line[])[] {
  return sectionsOf(markdownLines(text))
    .filter(({ name }) => name === sectionUnder(under))
    .map(({ lines }) => lines);
}

/** The parts that have some text: below `### Name`, or after `**Name**` at the beginning of a line or an item. */
function filledParts(lines: readonly Line[], names: readonly string[]): ReadonlySet<string> {
  const known = new Set(names.map((name) => sectionUnder(`## ${name}`)));
  const filled = new Set<string>();
  let open: string | undefined;
  for (const line of lines) {
    if (line.kind === "comment" || line.kind === "fence") continue;
    const label = line.kind === "text" ? labelOf(line.text) : undefined;
    const isHeading = line.kind === "text" && headingLevel(line.text) > 0;
    if (label !== undefined && known.has(label.name)) {
      open = label.name;
      if (label.rest !== "") filled.add(open);
    } else if (isHeading && headingLevel(line.text) <= 3) open = undefined;
    else if (open !== undefined && line.text.trim() !== "") filled.add(open);
  }
  return filled;
}

function labelOf(text: string): { readonly name: string; readonly rest: string } | undefined {
  if (headingLevel(text) >= 3) return { name: sectionUnder(text), rest: "" };
  const solid = text.slice(markerLength(text)).trimStart();
  const end = solid.startsWith("**") ? solid.indexOf("**", 2) : -1;
  if (end < 3) return undefined;
  const name = sectionUnder(`## ${plain(solid.slice(2, end)).replace(/:$/u, "")}`);
  return { name, rest: clip(solid.slice(end + 2), 200).replace(/^[\s:—–-]{1,20}/u, "") };
}

function wordsOf(lines: readonly Line[]): string {
  return lines
    .map(({ text }) => text.trim())
    .filter((text) => text !== "")
    .join("\n");
}
