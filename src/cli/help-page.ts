// `passrail --help` of the built program: the build keeps the page, so that it need not register every command to print their names.
// From the source there is no such file, and commander prints the page.

import { readFileSync } from "node:fs";

export const HELP_FILE = "help.txt";

/** Commander's: narrower columns are not wrapped. */
const LEAST_COLUMN = 40;

export function helpPage(width: number): string | undefined {
  let page: string;
  try {
    page = readFileSync(new URL(HELP_FILE, import.meta.url), "utf8");
  } catch {
    return undefined;
  }
  const [head = "", ...examples] = page.split(/^(?=Examples:$)/mu);
  const lines = head.split("\n").map((line) => wrapped(line, width));
  return lines.join("\n") + examples.join("");
}

/** A long description continues below itself, indented by the width of the name. */
function wrapped(line: string, width: number): string {
  if (line.startsWith("Usage:")) return line;
  const indent = /^ {2}\S.*? {2,}(?=\S)/u.exec(line)?.[0].length ?? 0;
  if (width - indent < LEAST_COLUMN) return line;
  let text = "";
  let column = 0;
  for (const word of line.slice(indent).match(/\s*\S+/gu) ?? []) {
    const fits = column === 0 || column + word.length <= width - indent;
    const next = fits ? word : word.trimStart();
    text += fits ? next : `\n${" ".repeat(indent)}${next}`;
    column = (fits ? column : 0) + next.length;
  }
  return line.slice(0, indent) + text;
}
