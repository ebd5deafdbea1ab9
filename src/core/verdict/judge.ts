// Turns an attempt's report into exactly one health and, if healthy, exactly one verdict. Fail closed: anything missing, unknown or
// contradictory becomes the flow's `unknown_…` or the worse of two readings, never a pass by default.

import { areRed } from "../flow/check-result.ts";
import type { WorkStage, Words } from "../flow/flow.ts";
import type { Health, Outcome, Report, Verdict } from "../flow/outcome.ts";
import { HEALTHS, VERDICTS } from "../flow/outcome.ts";
import { optional } from "../optional.ts";
import { contradictionOf } from "./contradiction.ts";
import { isGap } from "./criteria.ts";

/** Ordered from good to bad; the worse of two readings wins. */
const SEVERITY: Readonly<Record<Verdict, number>> = { pass: 0, revise: 1, redesign: 2, exhausted: 3, reject: 4 };

export function judge(words: Words, stage: WorkStage, report: Report): Outcome {
  const facts = kept(report);
  if (report.cause !== undefined) return { ...facts, health: "failed", cause: report.cause };
  if (report.asked === true) return { ...facts, health: "blocked", asked: true };
  const health = judgeHealth(words, stage, report);
  if (health !== "complete") {
    return { ...facts, health, ...optional({ word: report.health }) };
  }
  if (stage.kind === "router" && (report.stages === undefined || report.stages.length === 0)) {
    return { ...facts, health: "failed", cause: "route_missing", reason: "the router named no agents" };
  }
  const verdict = judgeVerdict(words, stage, report);
  switch (verdict.type) {
    case "failed":
      return { ...facts, health: "failed", cause: verdict.cause, reason: verdict.reason, ...wordOf(report) };
    case "given": {
      const contradiction = verdict.verdict === "pass" ? contradictionOf(stage, report) : undefined;
      if (contradiction !== undefined)
        return { ...facts, health: "failed", cause: "verdict_contradicted", reason: contradiction, ...wordOf(report) };
      const warnings = [...facts.warnings, ...verdict.warnings];
      if (verdict.verdict === "pass" && isContradicted(stage, report))
        return contradicted(report, { ...facts, warnings });
      return { ...facts, health: "complete", verdict: verdict.verdict, ...wordOf(report), warnings };
    }
  }
}

function isContradicted({ evidence: wanted }: WorkStage, { checks, evidence }: Report): boolean {
  return areRed(checks) || (wanted === "required" && evidence?.some(isGap) === true);
}

/** Passrail's own checks are red, or the evidence does not hold: whatever the agent says, its work has to be revised. */
function contradicted(report: Report, facts: Omit<Outcome, "health">): Outcome {
  const red = (report.checks ?? []).filter(({ state }) => state !== "passed").map(({ name }) => name);
  const gaps = (report.evidence ?? []).filter(isGap).length;
  const said = wordOf(report).word;
  const why =
    red.length > 0
      ? `${red.join(", ")} did not pass`
      : `${gaps} met ${gaps === 1 ? "row has" : "rows have"} no evidence that holds`;
  const reason = `${why}${said === undefined ? "" : `; the agent said ${said}`}`;
  const issues = [...(report.checkIssues ?? []), ...facts.issues];
  return { ...facts, health: "complete", verdict: "revise", contradicted: true, reason, issues };
}

function judgeHealth(words: Words, stage: WorkStage, report: Report): Health {
  if (report.health === undefined) return report.structured === true ? "complete" : words.unknownHealth;
  const known = Object.hasOwn(words.health, report.health) ? words.health[report.health] : undefined;
  if (known !== undefined) return known;
  if (report.structured === true && isOneOf(HEALTHS, report.health)) return report.health;
  // A flow whose agents use words of their own need not give exit codes a meaning.
  if (stage.result.from === "exit-code" && report.health === "0") return "complete";
  return words.unknownHealth === "complete" ? "failed" : words.unknownHealth;
}

type VerdictReading =
  | { readonly type: "given"; readonly verdict: Verdict; readonly warnings: readonly string[] }
  | { readonly type: "failed"; readonly cause: string; readonly reason: string };

function judgeVerdict(words: Words, stage: WorkStage, report: Report): VerdictReading {
  const allowed = stage.verdicts ?? Object.keys(words.verdict);
  if (report.verdict === undefined) {
    if (!stage.expectsVerdict) return { type: "given", verdict: "pass", warnings: [] };
    return unknown(words, "verdict_missing", `no verdict was given; expected one of ${allowed.join(", ")}`);
  }
  const verdict = meaningOf(words, stage, report.verdict, report.structured === true);
  if (verdict === undefined) {
    return unknown(
      words,
      "verdict_unknown",
      `"${report.verdict}" is not a verdict of this stage; allowed: ${allowed.join(", ")}`,
    );
  }
  return crossCheckScore(words, verdict, report.score);
}

/** A word counts only if the flow knows it and this stage may use it. Canonical words count on structured channels. */
function meaningOf(words: Words, stage: WorkStage, word: string, structured: boolean): Verdict | undefined {
  const verdict = Object.hasOwn(words.verdict, word) ? words.verdict[word] : undefined;
  if (verdict !== undefined && (stage.verdicts === undefined || stage.verdicts.includes(word))) return verdict;
  if (!structured || !isOneOf(VERDICTS, word)) return undefined;
  const meanings = stage.verdicts?.map((allowed) => words.verdict[allowed]);
  return meanings === undefined || meanings.includes(word) ? word : undefined;
}

function unknown(words: Words, cause: string, reason: string): VerdictReading {
  if (words.unknownVerdict === "revise")
    return { type: "given", verdict: "revise", warnings: [`${cause}: ${reason}; counted as revise`] };
  return { type: "failed", cause, reason };
}

function crossCheckScore(words: Words, verdict: Verdict, score: number | undefined): VerdictReading {
  if (score === undefined) return { type: "given", verdict, warnings: [] };
  const byScore = verdictOf(words.score, score);
  if (byScore === undefined) {
    const warnings =
      Object.keys(words.score).length === 0 ? [] : [`score_out_of_range: ${score} is in no range and was ignored`];
    return { type: "given", verdict, warnings };
  }
  if (byScore === verdict) return { type: "given", verdict, warnings: [] };
  const worse = SEVERITY[byScore] > SEVERITY[verdict] ? byScore : verdict;
  return {
    type: "given",
    verdict: worse,
    warnings: [
      `score_disagrees: the word says ${verdict}, the score ${score} says ${byScore}; the worse (${worse}) counts`,
    ],
  };
}

/** The range that holds the score; between two ranges the worse one, outside all of them none. */
function verdictOf(ranges: Words["score"], score: number): Verdict | undefined {
  const holds = ([low, high]: readonly [number, number]) => score >= low && score <= high;
  const inside = VERDICTS.find((verdict) => ranges[verdict] !== undefined && holds(ranges[verdict]));
  if (inside !== undefined) return inside;
  const below = VERDICTS.filter((verdict) => (ranges[verdict]?.[1] ?? Number.POSITIVE_INFINITY) < score);
  const isBetween = VERDICTS.some((verdict) => (ranges[verdict]?.[0] ?? Number.NEGATIVE_INFINITY) > score);
  return isBetween ? below.sort((a, b) => SEVERITY[a] - SEVERITY[b])[0] : undefined;
}

function kept(report: Report): Omit<Outcome, "health"> {
  const { findings } = report;
  const { score, reason, summary, stages, blame, payload, path, claimed, heard, checks, evidence, undone, reused } =
    report;
  return {
    ...optional({ score, reason, summary }),
    issues: report.issues ?? [],
    ...optional({ findings }),
    questions: report.questions ?? [],
    ...optional({ stages, blame, payload, path, claimed, heard, checks, evidence, undone, reused }),
    warnings: report.warnings ?? [],
  };
}

function wordOf(report: Report): { word?: string } {
  const word = report.word ?? report.verdict ?? report.health;
  return word === undefined ? {} : { word };
}

function isOneOf<T extends string>(list: readonly T[], value: string): value is T {
  return (list as readonly string[]).includes(value);
}
