// The rows of `## DoD coverage`: `- <mark> <row text> — <evidence>` (R-002-15). Other code matches rows to the task's own list.

import type { JsonObject } from "../json.ts";
import { itemsOf, type Line } from "./markdown.ts";
import { clip, ITEM_CHARS } from "./reading.ts";

export type DodMark = "✓" | "✗" | "⚠️ Tester scope" | "⚠️";
export type DodRow = JsonObject & { readonly mark: DodMark; readonly row: string; readonly evidence: string };

export type DodCoverage = {
  readonly rows: readonly DodRow[];
  readonly counts: JsonObject & {
    readonly met: number;
    readonly missing: number;
    readonly tester: number;
    readonly other: number;
  };
  /** Rows without a readable mark; they count as missing. */
  readonly unreadable: number;
};

/** As people may type them: the variation selector of the warning sign is optional, and the longer mark comes first. */
const MARKS: readonly (readonly [string, DodMark])[] = [
  ["✓", "✓"],
  ["✗", "✗"],
  ["⚠️ Tester scope", "⚠️ Tester scope"],
  ["⚠ Tester scope", "⚠️ Tester scope"],
  ["⚠️", "⚠️"],
  ["⚠", "⚠️"],
];

export function dodRows(lines: readonly Line[]): DodCoverage {
  const rows: DodRow[] = [];
  let withoutMark = 0;
  for (const { text, under } of itemsOf(lines)) {
    const item = /^\[[ xX]\] /.test(text) ? text.slice(4) : text;
    const found = MARKS.find(([typed]) => item.startsWith(typed));
    if (!found) withoutMark += 1;
    const rest = found ? item.slice(found[0].length) : item;
    // Also "⚠️ Tester scope: row" and "⚠️ Tester scope — row".
    const said = rest.replace(/^\s{0,9}[—:]?\s{1,9}/, "");
    const dash = said.indexOf(" — ");
    rows.push({
      mark: found ? found[1] : "✗",
      row: clip((dash === -1 ? said : said.slice(0, dash)).trim(), ITEM_CHARS),
      evidence: clip(dash === -1 ? "" : said.slice(dash + 3).trim(), ITEM_CHARS),
      ...(under === undefined ? {} : { scope: clip(under, 200) }),
    });
  }
  const count = (mark: DodMark) => rows.filter((row) => row.mark === mark).length;
  const counts = { met: count("✓"), missing: count("✗"), tester: count("⚠️ Tester scope"), other: count("⚠️") };
  return { rows, counts, unreadable: withoutMark };
}
