// The criteria that a report says it meets, and whether their evidence holds: a cited file is in the commit, a cited command is a check that
// Passrail ran with that result. A criterion without evidence is not met, whatever mark it has.

import type { CheckResult } from "../flow/check-result.ts";
import type { EvidenceRow } from "../flow/outcome.ts";
import type { Json, JsonObject } from "../json.ts";
import { type Cited, citedIn } from "./cited.ts";

type Criterion = {
  readonly what: string;
  /** Null: another stage's matter. */
  readonly isMet: boolean | null;
  readonly evidence: string;
  readonly cited: Cited;
};

const ROWS_AT_MOST = 200;
const TEXT_CHARS = 500;

/** The rows of `## DoD coverage`, and acceptance criteria of a structured report. */
export function criteriaIn(payload: JsonObject | undefined): readonly Criterion[] {
  const rows = [...listOf(payload?.["dod"]).map(dodCriterion), ...listOf(payload?.["criteria"]).map(namedCriterion)];
  return rows.slice(0, ROWS_AT_MOST);
}

function dodCriterion(row: JsonObject): Criterion {
  const mark = textOf(row["mark"]);
  const isMet = mark === "✓" ? true : mark === "✗" ? false : null;
  return criterion(textOf(row["row"]), isMet, row["evidence"]);
}

function namedCriterion(row: JsonObject): Criterion {
  return criterion(textOf(row["criterion"]), typeof row["met"] === "boolean" ? row["met"] : null, row["evidence"]);
}

function criterion(what: string, isMet: boolean | null, said: Json | undefined): Criterion {
  const evidence = isObject(said) ? structuredText(said) : textOf(said);
  return { what: what.slice(0, TEXT_CHARS), isMet, evidence: evidence.slice(0, TEXT_CHARS), cited: citedIn(evidence) };
}

/** `{ command, exit_code, path, line, commit }` in the words of the other form. */
function structuredText({ command, exit_code: exitCode, path, line, commit }: JsonObject): string {
  const parts = [
    ...(typeof command === "string" ? [`\`${command.replaceAll("`", "'")}\``] : []),
    ...(typeof exitCode === "number" ? [`exit ${exitCode}`] : []),
    ...(typeof path === "string" ? [typeof line === "number" ? `${path}:${line}` : path] : []),
    ...(typeof commit === "string" ? [`commit ${commit}`] : []),
  ];
  return parts.join(", ");
}

/** Paths to look up in the commit. */
export function citedPaths(criteria: readonly Criterion[]): readonly string[] {
  return [...new Set(criteria.flatMap(({ cited }) => cited.paths.map(({ path }) => path)))];
}

export type LookedUp = {
  /** The number of lines of a file of the commit; null for a path that is no file there. Undefined if the file could not be read. */
  readonly linesOf: (path: string) => number | null | undefined;
  readonly checks: readonly CheckResult[];
  readonly commit: string | null;
};

export function verified(criteria: readonly Criterion[], known: LookedUp): readonly EvidenceRow[] {
  return criteria.map((each): EvidenceRow => {
    const { what, isMet, evidence } = each;
    const row = { what, isMet, evidence };
    if (isMet !== true)
      return { ...row, state: "reported", why: isMet === false ? "not met" : "left to another stage" };
    const problems = [...pathProblems(each, known), ...commandProblems(each, known), ...commitProblems(each, known)];
    const [problem] = problems;
    if (problem !== undefined) return { ...row, state: "missing", why: problems.join("; ") };
    const ran = each.cited.commands.flatMap((command) => checkNamed(command, known));
    if (ran.length > 0) return { ...row, state: "run", why: `Passrail ran ${ran.map(({ name }) => name).join(", ")}` };
    const isBare = each.cited.paths.length + each.cited.commands.length === 0;
    if (isBare)
      return { ...row, state: "missing", why: evidence === "" ? "no evidence" : "it cites no file and no command" };
    const isSeen = each.cited.paths.length > 0 && known.commit !== null;
    return { ...row, state: "reported", why: isSeen ? "what it cites is in the commit" : "" };
  });
}

/** Rows as an outcome has stored them. */
export function evidenceRows(stored: Json | undefined): readonly EvidenceRow[] {
  return listOf(stored) as unknown as readonly EvidenceRow[];
}

/** Whether a row that claims to be met has no valid evidence. */
export function isGap({ isMet, state }: EvidenceRow): boolean {
  return isMet === true && state === "missing";
}

function pathProblems({ cited }: Criterion, { linesOf }: LookedUp): readonly string[] {
  return cited.paths.flatMap(({ path, line }) => {
    const lines = linesOf(path);
    if (lines === undefined) return [];
    if (lines === null) return [`${path} is not in the commit`];
    return line !== null && (line < 1 || line > lines) ? [`${path} has ${lines} lines, not ${line}`] : [];
  });
}

/** A command that Passrail ran too must have ended as the row says. */
function commandProblems({ cited }: Criterion, known: LookedUp): readonly string[] {
  const said = cited.exitCode ?? 0;
  return cited.commands
    .flatMap((command) => checkNamed(command, known))
    .filter(({ state, exitCode }) => exitCode !== said || (said === 0 && state !== "passed"))
    .map(({ name, exitCode }) => `Passrail ran ${name} itself, and it ended with ${exitCode ?? "no exit code"}`);
}

function commitProblems({ cited }: Criterion, { commit }: LookedUp): readonly string[] {
  if (cited.commit === null || commit === null || commit.startsWith(cited.commit)) return [];
  return [`it is about commit ${cited.commit}, and the work is ${commit.slice(0, 12)}`];
}

function checkNamed(command: string, { checks }: LookedUp): readonly CheckResult[] {
  return checks.filter((check) => check.command === command || check.name === command);
}

function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter(isObject) : [];
}

function isObject(value: Json | undefined): value is JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
