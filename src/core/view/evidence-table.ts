// The evidence of a run in one table: run by Passrail, reported by agents, or missing. The gate's page, the pull
// request, the command line and the API show exactly these rows.

import { type CheckResult, checkLine } from "../flow/check-result.ts";
import type { EvidenceRow } from "../flow/outcome.ts";
import type { Json, JsonObject } from "../json.ts";

export type EvidenceState = EvidenceRow["state"];

export type EvidenceLine = {
  readonly stage: string;
  readonly attempt: number;
  readonly what: string;
  readonly state: EvidenceState;
  /** Null if no report says whether it is met. */
  readonly isGood: boolean | null;
  readonly evidence: string;
};

export const EVIDENCE_WORDS: Readonly<Record<EvidenceState, string>> = {
  run: "run by Passrail",
  reported: "reported",
  missing: "missing",
};

/** The columns of an attempt that this view needs. Oldest first. */
type JudgedAttempt = {
  readonly stage: string;
  readonly attempt: number;
  readonly status: string;
  readonly outcome: JsonObject | null;
};

const ROWS_AT_MOST = 200;

/** Of the last attempt of each stage that has ended. */
export function evidenceTable(attempts: readonly JudgedAttempt[]): readonly EvidenceLine[] {
  const done = attempts.filter(({ status }) => status === "done");
  const last = done.filter((each, index) => !done.slice(index + 1).some(({ stage }) => stage === each.stage));
  return last.flatMap(linesOf).slice(0, ROWS_AT_MOST);
}

function linesOf({ stage, attempt, outcome }: JudgedAttempt): readonly EvidenceLine[] {
  const base = { stage, attempt };
  const checks = outcome?.["checks"];
  const payload = outcome?.["payload"];
  return [
    ...(Array.isArray(checks) ? checkLines(base, checks) : []),
    ...countLines(base, isObject(payload) ? payload["dod_counts"] : undefined),
    ...rowsOf(outcome?.["evidence"]).map((row) => criterionLine(base, row as unknown as EvidenceRow)),
    ...rowsOf(isObject(payload) ? payload["gates"] : undefined).map(({ name, line, clean }) => ({
      ...base,
      what: textOf(name),
      state: "reported" as const,
      isGood: clean === true,
      evidence: textOf(line),
    })),
  ];
}

/** The rows of the Definition of Done in numbers; a row of the task that the report leaves out is among the missing ones. */
function countLines(base: OfAttempt, counts: Json | undefined): readonly EvidenceLine[] {
  if (!isObject(counts)) return [];
  const of = (name: string): number => (typeof counts[name] === "number" ? counts[name] : 0);
  const [met, missing, tester, other] = [of("met"), of("missing"), of("tester"), of("other")];
  const evidence = `${met} ✓, ${missing} ✗, ${tester} ⚠️ Tester scope, ${other} ⚠️`;
  return [{ ...base, what: "DoD coverage", state: "reported", isGood: missing === 0, evidence }];
}

type OfAttempt = Pick<EvidenceLine, "stage" | "attempt">;

function checkLines(base: OfAttempt, checks: readonly CheckResult[]): readonly EvidenceLine[] {
  if (checks.length === 0)
    return [{ ...base, what: "checks", state: "missing", isGood: null, evidence: "not run: no check is defined" }];
  return checks.map((check) => {
    const tree = check.tree === null ? "on files that are no commit" : `on tree ${check.tree.slice(0, 12)}`;
    const isGood = check.state === "passed";
    return { ...base, what: check.name, state: "run", isGood, evidence: `${checkLine(check)} ${tree}` };
  });
}

function criterionLine(base: OfAttempt, { what, isMet, state, evidence, why }: EvidenceRow): EvidenceLine {
  const said = [evidence, why].filter((text) => text !== "").join("; ");
  return { ...base, what, state, isGood: isMet === true && state === "missing" ? false : isMet, evidence: said };
}

function rowsOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter(isObject) : [];
}

function isObject(value: Json | undefined): value is JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
