// The identity of a gap: the row of the Definition of Done that it is about. The words that say what is missing do not matter.

import type { Issue } from "../flow/outcome.ts";

/** The row that the reader of the task's list found for the gap; without one the text before the dash, as it was written. */
export function rowOf(issue: Issue): string {
  if (typeof issue !== "string" && issue.row !== undefined) return issue.row;
  return normalRow(beforeDash(typeof issue === "string" ? issue : issue.description));
}

/** The same gaps, each with the row of the task's list that it names. */
export function withRows(issues: readonly Issue[], taskRows: readonly string[]): readonly Issue[] {
  if (taskRows.length === 0) return issues;
  return issues.map((issue) => {
    const description = typeof issue === "string" ? issue : issue.description;
    const row = matchRow(description, taskRows);
    if (row === undefined) return issue;
    return typeof issue === "string" ? { description, row } : { ...issue, row };
  });
}

/** A gap names its row by the row's text at its beginning, or by the row's own id (`AC-3`, `DoD 2`, `2.`). The answer is a normal row. */
export function matchRow(gap: string, taskRows: readonly string[]): string | undefined {
  const said = normalRow(gap);
  const rows = taskRows.map((text) => ({ row: normalRow(text), id: idOf(text) })).filter(({ row }) => row !== "");
  const byText = rows.filter(({ row }) => said.startsWith(row) && !/^[\p{L}\p{N}_]/u.test(said.slice(row.length)));
  if (byText.length > 0) return byText.reduce((a, b) => (b.row.length > a.row.length ? b : a)).row;
  const id = idOf(gap);
  const byId = id === undefined ? [] : rows.filter((each) => each.id === id);
  return byId.length === 1 ? byId[0]?.row : undefined;
}

/** An id at the beginning of a row: letters and a number. */
function idOf(text: string): string | undefined {
  const found =
    /^(?:\[[ xX]\]\s{0,3})?[*`([]{0,3}([A-Za-z]{1,10}[-_ ]?[0-9]{1,4}(?:\.[0-9]{1,4}){0,3})[*`)\]]{0,3}(?=[\s:.—–-]|$)/u.exec(
      unmarked(text.trim()),
    );
  return found?.[1]?.toLowerCase().replaceAll(/[-_ ]/gu, "-");
}

function beforeDash(text: string): string {
  const dash = text.indexOf(" — ");
  return dash === -1 ? text : text.slice(0, dash);
}

/** Without marks, emphasis, case and repeated white space: the same row as two people type it. Nothing is dropped that means something. */
export function normalRow(text: string): string {
  return unmarked(text.trim())
    .replaceAll(/[`*]/gu, "")
    .replaceAll(/\s+/gu, " ")
    .trim()
    .toLowerCase()
    .replace(/[.:;,]$/u, "")
    .slice(0, 500);
}

function unmarked(text: string): string {
  return text.replace(/^(?:\[[ xX]\]\s{0,3})?(?:(?:✓|✗|⚠️?)\s{0,3})?/u, "");
}
