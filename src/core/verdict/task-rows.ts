// The rows of a task's own `## Definition of Done`: gaps are identified by them, and coverages are compared with them.

import { itemsOf, markdownLines, type MarkdownItem, sectionsOf } from "./markdown.ts";
import { clip, ITEM_CHARS } from "./reading.ts";
import { optional } from "../optional.ts";

const MAX_ROWS = 1000;
const BOX = /^\[[ xX]\]\s{1,9}/u;

/** `under`: the ### heading above it. */
export type TaskRow = { readonly text: string; readonly under?: string };

/** In the order of the file; text that is no list gives none. */
export function taskRows(text: string): readonly string[] {
  return dodItems(text).map((item) => clip(item.text, ITEM_CHARS));
}

/** The rows to tick (`- [ ] …`), without their boxes; all rows of a list that has no box at all. */
export function taskRowsUnder(text: string): readonly TaskRow[] {
  const items = dodItems(text);
  const boxed = items.filter((item) => BOX.test(item.text));
  return (boxed.length === 0 ? items : boxed).map((item) => ({
    text: clip(item.text.replace(BOX, "").trim(), ITEM_CHARS),
    ...optional({ under: item.under }),
  }));
}

function dodItems(text: string): readonly MarkdownItem[] {
  return sectionsOf(markdownLines(text))
    .filter(({ name }) => name === "definition of done" || name === "dod")
    .flatMap(({ lines }) => itemsOf(lines))
    .slice(0, MAX_ROWS);
}
