// The parts of a Markdown text by its headings, with their lines. Code, comments and quotes hold no headings.

import { asciiLower, headingLevel, headingText, markdownLines, plain } from "../verdict/markdown.ts";

export type MarkdownSection = {
  readonly title: string;
  readonly level: number;
  /** From 1; the heading itself. */
  readonly line: number;
  /** The last line before the next heading of any level. */
  readonly lastLine: number;
  readonly text: string;
};

/** More headings than this are not looked at. */
const SECTIONS_AT_MOST = 200;

export function sectionsIn(text: string): readonly MarkdownSection[] {
  const lines = markdownLines(text);
  const starts = lines
    .flatMap(({ text: line, kind }, index) => (kind === "text" && headingLevel(line) > 0 ? [index] : []))
    .slice(0, SECTIONS_AT_MOST);
  return starts.map((start, index) => {
    const end = starts[index + 1] ?? lines.length;
    const own = lines.slice(start, end).map((line) => line.text);
    const heading = own[0] ?? "";
    return {
      title: plain(headingText(heading)).slice(0, 200),
      level: headingLevel(heading),
      line: start + 1,
      lastLine: end,
      text: own.join("\n").trimEnd(),
    };
  });
}

/** The sections that a text refers to: by the words of their heading, or by its anchor (`plan.md#data-model`). */
export function namedIn(sections: readonly MarkdownSection[], text: string): readonly MarkdownSection[] {
  const searched = asciiLower(plain(text));
  return sections.filter(({ title, level }) => {
    if (level === 1) return false;
    const name = asciiLower(title);
    return (name.length >= NAME_CHARS && searched.includes(name)) || searched.includes(`#${slugOf(name)}`);
  });
}

/** A shorter heading ("API", "Data") is a word that any text has. */
const NAME_CHARS = 6;

function slugOf(name: string): string {
  return name
    .replaceAll(/[^\p{L}\p{N}\s-]/gu, "")
    .trim()
    .replaceAll(/\s+/gu, "-");
}
