// The evidence for a decision: Passrail's measurements of each stage's last attempt, the checks that Passrail ran, and the checks that an
// agent reports. The three are never mixed: a reported check stays a report.

import { attemptFacts } from "../../../core/attempt-facts.ts";
import type { z } from "zod";
import type { evidenceSchema } from "../../contract/schemas/inbox.ts";
import type { ResolvedFlow } from "../../../core/flow/agent.ts";
import { MAIN_TRACK } from "../../../core/flow/flow.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import type { Run } from "../../../core/run/run.ts";
import { isWork, stagesOf } from "../../../core/run/sequence.ts";
import type { AttemptRecord } from "../../../store/store.ts";
import { containmentOf } from "../../../core/view/containment.ts";
import { rungText } from "../../../core/view/rung-text.ts";
import { evidenceTable } from "../../../core/view/evidence-table.ts";
import { whoRan } from "../../../core/view/who-ran.ts";
import type { MarkedChange } from "../../../core/view/marked-changes.ts";
import { listStages, whoOf } from "../../../core/view/stage-list.ts";

type Evidence = z.input<typeof evidenceSchema>;
type StageEvidence = Evidence["stages"][number];

const ROWS_AT_MOST = 50;
const MARKS_AT_MOST = 200;
const PATH_CHARS = 400;
const NAME_CHARS = 200;
const LINE_CHARS = 1000;

export function evidenceOf(
  resolved: ResolvedFlow,
  run: Run,
  attempts: readonly AttemptRecord[],
  marked: readonly MarkedChange[],
): Evidence {
  const stages = listStages(stagesOf(resolved.flow, run, MAIN_TRACK)).flatMap(({ stage }): StageEvidence[] => {
    const last = attempts.findLast((each) => each.stage === stage.id && each.status === "done");
    if (last === undefined || !isWork(stage)) return [];
    const { by, replaced } = whoRan(resolved, run, stage, last);
    const { warnings, ...rest } = measured(last);
    return [
      {
        ...rest,
        warnings: replaced === null ? warnings : [replacedWarning(stage.id, replaced), ...warnings],
        stage: stage.id,
        agent: whoOf(stage),
        attempt: last.attempt,
        by,
        replaced,
      },
    ];
  });
  const marks = marked
    .slice(0, MARKS_AT_MOST)
    .map(({ path, kind, why }) => ({ path: cut(path, PATH_CHARS), kind, why }));
  const table = evidenceTable(attempts).map((line) => ({
    ...line,
    what: cut(line.what, LINE_CHARS),
    evidence: cut(line.evidence, LINE_CHARS),
  }));
  return { stages, table, marked: marks };
}

function measured(record: AttemptRecord): Omit<StageEvidence, "stage" | "agent" | "attempt" | "by" | "replaced"> {
  const facts = attemptFacts(record);
  const { from, to, exitCode, runner, command, files, repaired, trust } = facts;
  const { outcome } = record;
  const payload = outcome?.["payload"];
  return {
    runner: runner === null ? null : cut(runner, NAME_CHARS),
    rung: facts.rung === null ? null : cut(rungText(runner ?? "", facts.rung), LINE_CHARS),
    containment: containmentOf(facts),
    command: command === null ? null : cut(command, LINE_CHARS),
    exitCode,
    commits: from !== null && to !== null && from !== to ? { from, to } : null,
    files: textsOf(files, NAME_CHARS),
    warnings: textsOf(outcome?.["warnings"], LINE_CHARS),
    isRepaired: repaired,
    reported: rowsOf(isObject(payload) ? payload["gates"] : undefined).flatMap(({ name, line, clean }) =>
      typeof name === "string"
        ? [{ name: cut(name, NAME_CHARS), line: cut(textOf(line), LINE_CHARS), isClean: clean === true }]
        : [],
    ),
    trust: trust.slice(0, ROWS_AT_MOST).map(({ stage, iteration, trusted, reasons }) => ({
      stage: cut(stage, NAME_CHARS),
      iteration,
      isTrusted: trusted,
      reasons: textsOf(reasons, LINE_CHARS),
    })),
  };
}

function replacedWarning(stage: string, command: string): string {
  return `check_replaced: ${stage} did not run the flow's own command (${command}); the run was started with another program for it`;
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function textsOf(value: Json | undefined, chars: number): string[] {
  if (!Array.isArray(value)) return [];
  const texts = (value as readonly Json[]).filter((each) => typeof each === "string");
  return texts.slice(0, ROWS_AT_MOST).map((text) => cut(text, chars));
}

function rowsOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter(isObject).slice(0, ROWS_AT_MOST) : [];
}

function isObject(value: Json | undefined): value is JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function cut(text: string, chars: number): string {
  return text.length > chars ? `${text.slice(0, chars)}…` : text;
}
