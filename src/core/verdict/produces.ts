// The sections that a flow says a stage produces: a heading that is missing, or that has nothing below it, was not produced.

import { markdownLines, sectionsOf, sectionUnder } from "./markdown.ts";

export function missingSections(text: string, headings: readonly string[]): readonly string[] {
  if (headings.length === 0) return [];
  const filled = new Set(
    sectionsOf(markdownLines(text)).flatMap(({ name, lines }) =>
      lines.some((line) => line.kind !== "comment" && line.text.trim() !== "") ? [name] : [],
    ),
  );
  return headings.filter((heading) => !filled.has(sectionUnder(heading)));
}
