// The file that a flow names, written from a submission: for an agent that may only look. It has the sections that its reader reads, and no
// text of the agent becomes a heading.

import { type FindingNote, type Issue, issueText, type Report } from "../flow/outcome.ts";
import type { Json, JsonObject } from "../json.ts";

export type RenderedFor = {
  /** The attempt's number for `## Iteration`. */
  readonly iteration: number;
  readonly nonce: string;
};

/** Source 002's handoff. A section without a content is left out, so that a stage that must produce it is still asked for it. */
export function renderHandoff(report: Report, { iteration, nonce }: RenderedFor): string {
  const { payload = {} } = report;
  const rows = (key: string): readonly JsonObject[] => objectsOf(payload[key]);
  const gates = rows("gates").map(({ line }) => textOf(line));
  const dod = rows("dod").map(({ mark, row, evidence }) => `${textOf(mark)} ${textOf(row)} — ${textOf(evidence)}`);
  return [
    section("Status", report.health ?? "complete"),
    section("Status reason", report.reason ?? ""),
    section(
      "Abstract",
      `outcome: ${firstLine(report.summary)}\nverdict: ${report.verdict ?? "n/a"}\nopen_questions: ${(report.questions ?? []).length}\nnonce: ${nonce}`,
    ),
    section("Iteration", `iter ${iteration}`),
    ...(gates.length === 0 ? [] : [section("Quality-Gate Results", listed(gates))]),
    ...(dod.length === 0 ? [] : [section("DoD coverage", listed(dod))]),
    section("For the Next Agent", quoted(report.summary ?? "None")),
    section("Open Questions", listed(report.questions ?? [])),
    section("Findings", findings([...(report.findings ?? []).map(noteText), ...(report.issues ?? [])])),
  ].join("\n");
}

/** Source 001's review. */
export function renderReview(report: Report, { nonce }: RenderedFor): string {
  const score = report.score === undefined ? [] : [`Score: ${report.score}`];
  const issues = report.issues ?? [];
  return [
    `Verdict: ${report.verdict ?? ""}`,
    ...score,
    `Nonce: ${nonce}`,
    "",
    quoted(report.summary ?? ""),
    ...(issues.length === 0 ? [] : ["", quoted(listed(issues.map(issueText)))]),
    "",
  ].join("\n");
}

function noteText({ id, state, said }: FindingNote): string {
  return `${id}: ${state ?? said}${state === undefined || said === "" ? "" : ` — ${said}`}`;
}

function section(name: string, text: string): string {
  return `## ${name}\n\n${text}\n`;
}

function findings(issues: readonly Issue[]): string {
  if (issues.length === 0) return "None";
  const severityOf = (issue: Issue): string => (typeof issue === "string" ? "" : (issue.severity ?? ""));
  const plain = issues.filter((issue) => !GRADES.includes(severityOf(issue).toLowerCase()));
  const graded = GRADES.flatMap((grade) => {
    const own = issues.filter((issue) => severityOf(issue).toLowerCase() === grade);
    const head = `### ${grade[0]?.toUpperCase()}${grade.slice(1)}`;
    return own.length === 0 ? [] : [`${head}\n\n${listed(own.map(withoutSeverity))}`];
  });
  return [...(plain.length === 0 ? [] : [listed(plain.map(issueText))]), ...graded].join("\n\n");
}

const GRADES = ["critical", "major", "minor", "nit"];

function withoutSeverity(issue: Issue): string {
  if (typeof issue === "string") return issue;
  const { severity: _grade, ...rest } = issue;
  return issueText(rest);
}

function listed(items: readonly string[]): string {
  return items.length === 0 ? "None" : items.map((item) => `- ${safe(item).replaceAll("\n", "\n  ")}`).join("\n");
}

/** A quote is no statement to any reader. */
function quoted(text: string): string {
  return safe(text)
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n");
}

/** Neither headings nor fences nor comments: they would change what the reader takes for a section. */
function safe(text: string): string {
  return text.replaceAll("\r", "").replace(/^([ \t]{0,20})(#|```|~~~|<!--)/gmu, String.raw`$1\$2`);
}

function firstLine(text: string | undefined): string {
  return JSON.stringify((text ?? "").split("\n", 1)[0]?.slice(0, 300) ?? "");
}

function objectsOf(value: Json | undefined): readonly JsonObject[] {
  if (!Array.isArray(value)) return [];
  return (value as readonly Json[]).filter(
    (each): each is JsonObject => each !== null && typeof each === "object" && !Array.isArray(each),
  );
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value.replaceAll("\n", " ") : "";
}
