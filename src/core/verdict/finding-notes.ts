// Statements about findings by their ids, as people and agents write them in a list: `- F1: fixed — the check is back`. A line that begins
// with an id is never a new finding. JSON forms have a key for them; there the same lines among the issues count as well.

import type { Disposition, FindingNote, Issue, Report } from "../flow/outcome.ts";
import { itemsOf, markdownLines, sectionsOf } from "./markdown.ts";
import { clip, ITEM_CHARS, MAX_ISSUES } from "./reading.ts";

const NOTE = /^[*`[]{0,3}(F[1-9][0-9]{0,8})[*`\]]{0,3}\s{0,3}(?:\([^()\n]{0,40}\)\s{0,3})?[:—–=-]\s{0,3}/u;
const STATE = /^[*`_]{0,3}(fixed|not[ _-]fixed|withdrawn)\b[*`_]{0,3}/iu;
const AFTER_STATE = /^\s{0,3}[:—–.,;=-]{0,2}\s{0,3}/u;

/** One line of a list as a statement about a finding; undefined where it names none. */
export function noteOf(text: string): FindingNote | undefined {
  const head = NOTE.exec(text);
  const [all = "", id] = head ?? [];
  if (id === undefined) return undefined;
  const rest = text.slice(all.length);
  const word = STATE.exec(rest);
  if (word === null) return { id, said: clip(rest.trim(), ITEM_CHARS) };
  const state = word[1]?.toLowerCase().replace(/[ -]/u, "_") as Disposition;
  return { id, state, said: clip(rest.slice(word[0].length).replace(AFTER_STATE, "").trim(), ITEM_CHARS) };
}

/** The report with the statements among its issues where they belong. */
export function withNotes(report: Report): Report {
  const issues = report.issues ?? [];
  const notes = issues.flatMap((issue) => noteOf(typeof issue === "string" ? issue : issue.description) ?? []);
  if (notes.length === 0) return report;
  const rest = issues.filter((issue) => noteOf(typeof issue === "string" ? issue : issue.description) === undefined);
  const { issues: _all, ...others } = report;
  return { ...others, ...(rest.length > 0 ? { issues: rest } : {}), findings: [...(report.findings ?? []), ...notes] };
}

/** The findings of a review in Markdown: the items below `## Findings`, with the severity of the heading above each. */
export function findingsSection(text: string): readonly Issue[] {
  return sectionsOf(markdownLines(text))
    .filter(({ name }) => name === "findings" || name === "issues")
    .flatMap(({ lines }) => itemsOf(lines))
    .slice(0, MAX_ISSUES)
    .map(({ text: item, under }) => {
      const severity = under?.trim().toLowerCase() ?? "";
      const description = clip(item, ITEM_CHARS);
      return SEVERITIES.has(severity) ? { severity, description } : description;
    });
}

const SEVERITIES: ReadonlySet<string> = new Set(["critical", "major", "minor", "nit"]);

/** A plain list, a line each, as the value of a WORK_RESULT key has it. */
export function findingLines(text: string): readonly Issue[] {
  return text
    .split("\n")
    .map((line) => line.replace(/^\s{0,9}[-*+]\s{1,3}/u, "").trim())
    .filter((line) => line !== "" && !/^none\.?$/iu.test(line))
    .slice(0, MAX_ISSUES)
    .map((line) => clip(line, ITEM_CHARS));
}
