// The title and the text of a pull request. Text from agents and tickets is quoted: it cannot close an issue, mention people, or pass for
// one of our headings.

import { attemptFacts } from "../../core/attempt-facts.ts";
import type { Run } from "../../core/run/run.ts";
import { type FindingRow, knownIssues } from "../../core/view/findings.ts";
import { EVIDENCE_WORDS, type EvidenceLine, evidenceTable } from "../../core/view/evidence-table.ts";
import type { MarkedChange } from "../../core/view/marked-changes.ts";
import type { EarlierAttempt } from "../../attempt/earlier-attempt.ts";

const TITLE_CHARS = 120;
const SUMMARY_CHARS = 6000;
const BODY_CHARS = 30_000;
const STAGES_AT_MOST = 40;
const MARKED_AT_MOST = 50;
const EVIDENCE_AT_MOST = 40;
const EVIDENCE_CHARS = 160;
const PATH_CHARS = 300;
const FINDINGS_AT_MOST = 50;
const FINDING_CHARS = 300;

export type Description = { readonly title: string; readonly body: string };

export function describeWork(
  run: Run,
  attempts: readonly EarlierAttempt[],
  {
    checks,
    marked = [],
    url,
    redact,
  }: {
    readonly checks: readonly string[];
    /** Changes that a reviewer should look at first. */
    readonly marked?: readonly MarkedChange[];
    readonly url: string;
    readonly redact: (text: string) => string;
  },
): Description {
  const clean = (text: string): string => harmless(redact(text));
  const done = attempts.filter(({ status }) => status === "done");
  const summary = done.map(({ outcome }) => outcome?.["summary"]).findLast((text) => typeof text === "string");
  const lines = [
    `Ticket **${oneLine(clean(run.subject.id))}**: ${oneLine(clean(run.subject.title))}`,
    "",
    "| stage | attempt | result | cost |",
    "|---|---|---|---|",
    ...done.slice(-STAGES_AT_MOST).map((attempt) => rowOf(attempt, clean)),
    "",
    checks.length === 0
      ? "No checks are set for the merged tree."
      : `Checks on the merged tree: ${checks.map((check) => `\`${cell(clean(check))}\``).join(", ")}`,
    "",
    ...evidenceLines(evidenceTable(attempts), clean),
    ...markedLines(marked, clean),
    ...findingLines(knownIssues(run), clean),
    ...(typeof summary === "string"
      ? ["What the last stage reported:", "", quoted(clean(summary).slice(0, SUMMARY_CHARS)), ""]
      : []),
    `Run ${run.id}${url === "" ? "" : `: ${url}/runs/${run.id}`}`,
  ];
  const title = oneLine(clean(`${run.subject.id}: ${run.subject.title}`));
  return { title: title.slice(0, TITLE_CHARS), body: lines.join("\n").slice(0, BODY_CHARS) };
}

/** Agents' words stay in cells of the table, and each row says who knows it. */
function evidenceLines(lines: readonly EvidenceLine[], clean: (text: string) => string): readonly string[] {
  if (lines.length === 0) return [];
  const rows = lines.slice(0, EVIDENCE_AT_MOST).map(({ stage, what, state, isGood, evidence }) => {
    const good = isGood === null ? "" : isGood ? "✓" : "✗";
    const [subject, proof] = [what, evidence].map((text) => cell(oneLine(clean(text)), EVIDENCE_CHARS));
    return `| ${cell(clean(stage))} | ${subject} | ${good} | ${EVIDENCE_WORDS[state]} | ${proof} |`;
  });
  const left = lines.length - rows.length;
  return [
    "| stage | what | | how known | evidence |",
    "|---|---|---|---|---|",
    ...rows,
    ...(left > 0 ? [`| | ${left} more rows | | | |`] : []),
    "",
  ];
}

function markedLines(marked: readonly MarkedChange[], clean: (text: string) => string): readonly string[] {
  if (marked.length === 0) return [];
  const shown = marked.slice(0, MARKED_AT_MOST);
  const left = marked.length - shown.length;
  return [
    "**Look at these changes first:**",
    "",
    ...shown.map(({ path, why }) => `- ${oneLine(clean(path)).slice(0, PATH_CHARS)} ${why}`),
    ...(left > 0 ? [`- ${left} more such files`] : []),
    "",
  ];
}

/** Findings that the work goes out with, and those that their reviewer took back. */
function findingLines(rows: readonly FindingRow[], clean: (text: string) => string): readonly string[] {
  if (rows.length === 0) return [];
  const shown = rows.slice(0, FINDINGS_AT_MOST).map((row) => {
    const state =
      row.acceptedBy === null ? row.state : `accepted by ${row.acceptedBy.replace(/^human:/u, "")}, still open`;
    const why = row.state === "withdrawn" ? row.history.findLast(({ said }) => said === "withdrawn")?.text : undefined;
    const head = [row.severity, row.where].filter((part) => part !== null).join(", ");
    const text = oneLine(clean(`${head === "" ? "" : `${head}: `}${row.text}`)).slice(0, FINDING_CHARS);
    return `- **${row.id}** (${oneLine(clean(state))}) ${text}${why === undefined ? "" : ` — ${oneLine(clean(why))}`}`;
  });
  const left = rows.length - shown.length;
  return ["**Known findings:**", "", ...shown, ...(left > 0 ? [`- ${left} more`] : []), ""];
}

function rowOf({ stage, attempt, outcome, ...record }: EarlierAttempt, clean: (text: string) => string): string {
  const word = [outcome?.["word"], outcome?.["verdict"], outcome?.["health"]].find((text) => typeof text === "string");
  const usd = attemptFacts(record).usage?.usd ?? null;
  const cost = usd === null ? "unknown" : `$${usd.toFixed(2)}`;
  return `| ${cell(clean(stage))} | ${attempt} | ${cell(clean(word ?? ""))} | ${cost} |`;
}

/** Breaks mentions and references with a zero-width character, so that they read the same and have no effect. */
function harmless(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}]/gu, (char) => (char === "\n" || char === "\t" ? char : ""))
    .replace(/@(?=[A-Za-z0-9])/gu, "@\u200b")
    .replace(/#(?=[0-9])/gu, "#\u200b")
    .replace(/\bGH-(?=[0-9])/giu, "GH-\u200b")
    .replace(/\b(https?):\/\//giu, "$1:\u200b//");
}

/** In a block whose fence is longer than any in the text. */
function quoted(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/gu)].map(([fence]) => fence.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${text.trim()}\n${fence}`;
}

function oneLine(text: string): string {
  return text
    .replace(/\s+/gu, " ")
    .replace(/[<>[\]!*_`\\|~]/gu, (sign) => `\\${sign}`)
    .trim();
}

function cell(text: string, chars = 60): string {
  return text
    .replace(/[|`\s]+/gu, " ")
    .trim()
    .slice(0, chars);
}
