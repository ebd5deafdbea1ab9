// The rows of a DoD coverage beside the rows of the task's own list (R-002-15): matched by their text, and a row of the task that the coverage
// does not have counts as ✗. Also whether a checker has accounted for every row that was marked as met (R-002-11).

import { matchRow, normalRow } from "../finding/row.ts";
import type { WorkStage } from "../flow/flow.ts";
import type { Report } from "../flow/outcome.ts";
import type { Json, JsonObject } from "../json.ts";
import type { DodMark } from "./dod-coverage.ts";
import { asciiLower } from "./markdown.ts";
import { clip, type Unreadable } from "./reading.ts";
import { type TaskRow, taskRowsUnder } from "./task-rows.ts";

const SHOWN_CHARS = 200;

/** The rows of the task that a stage accounts for, in their order. */
export function coveredRows({ covers }: Pick<WorkStage, "covers">, task: string): readonly string[] {
  if (covers === undefined) return [];
  const left = covers === "all" ? [] : covers.except.map(asciiLower);
  const isLeft = ({ under = "" }: TaskRow): boolean => left.some((word) => asciiLower(under).includes(word));
  return taskRowsUnder(task)
    .filter((row) => !isLeft(row))
    .map(({ text }) => text);
}

/** The report with the rows that its coverage leaves out. A report without any coverage is left as it is: the flow asks for the section. */
export function withCoverage(rows: readonly string[], report: Report): Report {
  const given = report.payload?.["dod"];
  if (rows.length === 0 || !Array.isArray(given)) return report;
  const written = (given as readonly Json[]).filter(isObject).map((row) => asInTask(row, rows));
  const found = new Set(written.map((row) => normalRow(textOf(row["row"]))));
  const absent = rows
    .filter((row) => !found.has(normalRow(row)))
    .map((row): JsonObject => ({ mark: "✗" satisfies DodMark, row, evidence: "", absent: true }));
  const all = [...written, ...absent];
  return { ...report, payload: { ...report.payload, dod: all, dod_counts: countsOf(all) } };
}

/** A dash in the task's own text is no beginning of the evidence. */
function asInTask(row: JsonObject, rows: readonly string[]): JsonObject {
  const [text, evidence] = [textOf(row["row"]), textOf(row["evidence"])];
  const said = evidence === "" ? text : `${text} — ${evidence}`;
  const found = matchRow(said, rows);
  const whole = rows.find((each) => normalRow(each) === found);
  if (whole === undefined || normalRow(text) === found) return row;
  // By its own length, if the text has it word for word; otherwise the agent's cut stays.
  const rest = said.startsWith(whole) ? said.slice(whole.length).replace(/^\s{0,9}[—:]?\s{0,9}/u, "") : evidence;
  return { ...row, row: whole, evidence: rest };
}

function countsOf(rows: readonly JsonObject[]): JsonObject {
  const count = (mark: DodMark): number => rows.filter((row) => row["mark"] === mark).length;
  return { met: count("✓"), missing: count("✗"), tester: count("⚠️ Tester scope"), other: count("⚠️") };
}

/** The rows that a report marks as met. */
export function metRows(payload: Json | undefined): readonly string[] {
  const rows = isObject(payload) ? payload["dod"] : undefined;
  if (!Array.isArray(rows)) return [];
  return (rows as readonly Json[]).filter(isObject).flatMap((row) => (row["mark"] === "✓" ? [textOf(row["row"])] : []));
}

/** Of a pass: a met row of the builder that the checker neither verified nor reports as a gap. */
export function unverifiedRows(met: readonly string[], report: Report): Unreadable | undefined {
  if (met.length === 0) return undefined;
  const verified = report.payload?.["verified"];
  const said = [
    ...metRows(report.payload),
    ...(Array.isArray(verified) ? (verified as readonly Json[]).map(textOf) : []),
  ];
  const found = new Set(said.flatMap((text) => matchRow(text, met) ?? []));
  const left = met.filter((row) => !found.has(normalRow(row)));
  const [first] = left;
  if (first === undefined) return undefined;
  const more = left.length > 1 ? `, and ${left.length - 1} more` : "";
  const message = `The report passes, and does not account for a row that is marked as met: "${clip(first, SHOWN_CHARS)}"${more}. List each under "## Verified rows" with what you saw there (in the tool: \`dod\`), or as a gap.`;
  return { code: "section_missing", message };
}

function isObject(value: Json | undefined): value is JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
