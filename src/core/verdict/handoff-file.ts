// Source 002's handoff file: Markdown with `## Status` first, then sections that the engine reads as data.
// A file without `## Status` gives a report without health, which the flow treats as failed.

import type { JsonObject } from "../json.ts";
import type { ResultSpec } from "../flow/flow.ts";
import { type Issue, issueText } from "../flow/outcome.ts";
import { ok } from "../result.ts";
import { type DodCoverage, dodRows } from "./dod-coverage.ts";
import { abstractWarnings, readAbstract } from "./handoff-abstract.ts";
import {
  asciiLower,
  isNone,
  itemsOf,
  type Line,
  markdownLines,
  markerLength,
  plain,
  type Section,
  sectionsOf,
  sectionUnder,
} from "./markdown.ts";
import { isCleanGateLine } from "./quality-gate.ts";
import {
  clip,
  FILE_CHARS,
  ITEM_CHARS,
  MAX_ISSUES,
  present,
  type Reading,
  SUMMARY_CHARS,
  unreadable,
  WORD_CHARS,
} from "./reading.ts";

const MAX_ROWS = 1000;
const ISSUE_SECTIONS = new Set(["findings", "gaps", "failures"]);
const SEVERITIES = new Set(["critical", "major", "minor", "nit"]);
const FILE_SECTIONS = ["created", "modified", "deleted"] as const;

/** The headings of the sections that decide, if a flow names its own. */
export type HandoffHeadings = Pick<ResultSpec, "health" | "reason" | "questions">;

export function readHandoffFile(text: string, headings: HandoffHeadings = {}): Reading {
  if (text.length > FILE_CHARS)
    return unreadable("verdict_too_large", `The handoff file is longer than ${FILE_CHARS} characters.`);
  const sections = sectionsOf(markdownLines(text));
  const linesOf = (name: string): readonly Line[] => sections.find((section) => section.name === name)?.lines ?? [];
  const allOf = (name: string): readonly Section[] => sections.filter((section) => section.name === name);
  const textsOf = (name: string) => itemsOf(linesOf(name)).map((item) => item.text);

  const { abstract, verdicts } = readAbstract(linesOf("abstract"));
  const words = [
    ...verdicts,
    ...allOf("abstract")
      .slice(1)
      .flatMap(({ lines }) => readAbstract(lines).verdicts),
    ...allOf("verdict").flatMap(({ lines }) => verdictLine(firstLine(lines))),
  ];
  const isContradicted = words.some((word) => spelling(word) !== spelling(words[0] ?? ""));
  const statuses = allOf(sectionUnder(headings.health ?? "## Status")).map(({ lines }) => statusWord(firstLine(lines)));
  const [health] = statuses;
  // As with verdicts: another status can take "complete" away, but it cannot mend a worse one.
  if (health === "complete" && statuses.some((status) => status !== health)) {
    const named = statuses.map((status) => status ?? "nothing").join(", ");
    return unreadable("verdict_ambiguous", `The handoff file says different statuses: ${clip(named, 200)}.`);
  }
  // A status other than complete decides alone, so a contradiction does not weaken it.
  if (isContradicted && health === "complete") {
    return unreadable("verdict_ambiguous", `The handoff file says different verdicts: ${clip(words.join(", "), 200)}.`);
  }
  const reason = reasonOf(linesOf(sectionUnder(headings.reason ?? "## Status reason")));
  const questions = textsOf(sectionUnder(headings.questions ?? "## Open Questions"));
  const issues = issuesOf(sections);
  const gates = gatesOf(linesOf("quality gate results"));
  const dod = dodRows(linesOf("dod coverage"));
  const verified = textsOf("verified rows").map((text) => clip(text, ITEM_CHARS));
  const files = Object.fromEntries(FILE_SECTIONS.map((kind) => [kind, textsOf(`files ${kind}`).map(filePath)]));
  const iteration = iterationOf(firstLine(linesOf("iteration")));

  const rows = [gates.length, dod.rows.length, verified.length, ...Object.values(files).map((paths) => paths.length)];
  const tooMany = overLimit(issues, questions, rows);
  if (tooMany) return unreadable("verdict_field_invalid", tooMany);

  const warnings = [
    ...(health !== undefined && health !== "complete" && reason === undefined
      ? [`no reason given for status ${clip(health, WORD_CHARS)}`]
      : []),
    ...(isContradicted ? ["the file says different verdicts; none was taken"] : []),
    ...abstractWarnings(abstract, questions.length, files),
    ...(dod.unreadable > 0 ? [`${dod.unreadable} DoD rows have no readable mark and count as missing (✗)`] : []),
  ];
  const hasFiles = sections.some(({ name }) => FILE_SECTIONS.some((kind) => name === `files ${kind}`));
  const payload: JsonObject = present({
    abstract: abstract.size > 0 ? Object.fromEntries(abstract) : undefined,
    iteration,
    gates: gates.length > 0 ? gates : undefined,
    ...rowsPayload(dod, verified),
    ...openCounts(sections),
    files: hasFiles ? files : undefined,
  });
  const claimed = present({
    // Iteration 1 is the first try; a loop is a re-run.
    loop: iteration === undefined ? undefined : iteration - 1,
    next: abstract.get("next_phase"),
  });
  const blame = blamed(abstract.get("blame"), textsOf("blame"));
  const outcome = abstract.get("outcome");
  return ok(
    present({
      health,
      verdict: isContradicted || words[0] === undefined ? undefined : clip(words[0], WORD_CHARS),
      reason,
      summary: outcome === undefined ? undefined : clip(outcome, SUMMARY_CHARS),
      issues: issues.length > 0 ? issues : undefined,
      questions: questions.length > 0 ? questions : undefined,
      blame: blame.length > 0 ? blame : undefined,
      payload: Object.keys(payload).length > 0 ? payload : undefined,
      claimed: Object.keys(claimed).length > 0 ? claimed : undefined,
      warnings: warnings.length > 0 ? warnings : undefined,
    }),
  );
}

/**
 * R-002-44: the first non-empty line outside code, without marks, "Status:" and a final dot. Further words stay, so that the status counts
 * as unknown.
 */
function statusWord(line: string | undefined): string | undefined {
  if (line === undefined) return undefined;
  const bare = asciiLower(plain(line));
  const word = (bare.startsWith("status:") ? bare.slice("status:".length) : bare).trim();
  return clip((word.endsWith(".") ? word.slice(0, -1) : word).trim(), 200);
}

function firstLine(lines: readonly Line[]): string | undefined {
  return lines.find(({ text, kind }) => (kind === "text" || kind === "quote") && text.trim() !== "")?.text;
}

function reasonOf(lines: readonly Line[]): string | undefined {
  const said = lines.filter(({ kind }) => kind !== "comment").map(({ text }) => text);
  const reason = said.join("\n").trim();
  return isNone(reason) ? undefined : clip(reason, ITEM_CHARS);
}

/** The first line under `## Verdict`, without marks, "Verdict:" and a final dot. */
function verdictLine(line: string | undefined): readonly string[] {
  const bare = line === undefined ? "" : plain(line.slice(markerLength(line)));
  const word = asciiLower(bare.slice(0, 8)) === "verdict:" ? bare.slice(8).trim() : bare;
  return word === "" ? [] : [word.endsWith(".") ? word.slice(0, -1) : word];
}

/** REQUEST_CHANGES and "Request changes" are one word in two spellings. */
function spelling(word: string): string {
  return asciiLower(word).replaceAll(" ", "_").replaceAll("-", "_");
}

function issuesOf(sections: readonly Section[]): readonly Issue[] {
  return sections
    .filter(({ name }) => ISSUE_SECTIONS.has(name))
    .flatMap(({ lines }) => itemsOf(lines))
    .map(({ text, under }) => {
      const severity = under === undefined ? "" : asciiLower(under);
      return SEVERITIES.has(severity) ? { severity, description: text } : text;
    });
}

function rowsPayload({ rows, counts }: DodCoverage, verified: readonly string[]): JsonObject {
  return {
    ...(rows.length > 0 ? { dod: rows, dod_counts: counts } : {}),
    ...(verified.length > 0 ? { verified } : {}),
  };
}

/** Gaps and failures are open by being listed; a finding may be a remark. */
function openCounts(sections: readonly Section[]): { open_gaps?: number; open_failures?: number } {
  const count = (wanted: string) =>
    sections.filter(({ name }) => name === wanted).flatMap(({ lines }) => itemsOf(lines)).length;
  const [gaps, failures] = [count("gaps"), count("failures")];
  return { ...(gaps > 0 ? { open_gaps: gaps } : {}), ...(failures > 0 ? { open_failures: failures } : {}) };
}

function gatesOf(lines: readonly Line[]): readonly JsonObject[] {
  return lines
    .filter(({ kind }) => kind === "text" || kind === "code")
    .map(({ text }) => text.slice(markerLength(text)).trim())
    .filter((line) => !isNone(line))
    .map((line) => {
      const colon = line.indexOf(":");
      const name = plain(colon > 0 ? line.slice(0, colon) : line);
      return { name: clip(name, WORD_CHARS), line: clip(line, ITEM_CHARS), clean: colon > 0 && isCleanGateLine(line) };
    });
}

/** The path of a file-list entry: the text in backticks, else the first word. */
function filePath(item: string): string {
  const end = item.startsWith("`") ? item.indexOf("`", 1) : -1;
  return clip(end > 1 ? item.slice(1, end) : (item.slice(0, 1100).split(/\s/, 1)[0] ?? ""), 1024);
}

function iterationOf(line: string | undefined): number | undefined {
  const found = /(?:^|[^0-9])([1-9][0-9]{0,2})(?![0-9])/.exec(plain(line ?? "").slice(0, 100));
  return found ? Number(found[1]) : undefined;
}

function blamed(inAbstract: string | undefined, items: readonly string[]): readonly string[] {
  const names = [inAbstract ?? "", ...items].flatMap((text) =>
    clip(text, ITEM_CHARS)
      .replace(/[[\]]/g, " ")
      .split(/[\s,]+/),
  );
  return [...new Set(names.map(plain).filter((name) => !isNone(name)))].slice(0, 20);
}

/** Nothing is dropped silently: a list longer than a person could read is refused. */
function overLimit(
  issues: readonly Issue[],
  questions: readonly string[],
  rows: readonly number[],
): string | undefined {
  if (issues.length > MAX_ISSUES)
    return `The handoff file has ${issues.length} issues; at most ${MAX_ISSUES} are allowed.`;
  if (Math.max(questions.length, ...rows) > MAX_ROWS)
    return `A section of the handoff file has more than ${MAX_ROWS} rows.`;
  const isLong = [...issues.map(issueText), ...questions].some((text) => text.length > ITEM_CHARS);
  return isLong ? `An issue or question in the handoff file is longer than ${ITEM_CHARS} characters.` : undefined;
}
