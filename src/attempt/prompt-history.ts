// What a stage is told of its own past in the run: its earlier conclusions, and what changed since. Read from the records of its attempts.

import { attemptFacts } from "../core/attempt-facts.ts";
import type { Issue } from "../core/flow/outcome.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { diffStat } from "../core/prompt/diff-stat.ts";
import type { History, OwnVerdict } from "../core/prompt/history.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { EarlierAttempt } from "./earlier-attempt.ts";
import type { AttemptJob, AttemptPorts } from "./job.ts";

const SUMMARY_CHARS = 1000;
const MAX_ISSUES = 50;

/** `head`: the commit that this attempt starts from; null without git. */
export async function historyOf(
  { stage }: AttemptJob,
  { workspaces, runners }: AttemptPorts,
  workspace: Workspace,
  attempts: readonly EarlierAttempt[],
  head: string | null,
): Promise<History> {
  const base = attempts.map(attemptFacts).find(({ from }) => from !== null)?.from ?? null;
  const own = ownVerdicts(attempts, stage.id);
  const last = attempts.findLast((each) => hasEnded(each, stage.id));
  const commit = last === undefined ? null : attemptFacts(last).to;
  if (head === null || last === undefined || commit === null)
    return { base: head === null ? null : base, since: null, own };
  const stat = runners.redact(diffStat(await workspaces.diff(workspace, commit)));
  return { base, since: { attempt: last.attempt, commit, stat }, own };
}

export function ownVerdicts(attempts: readonly EndedAttempt[], stageId: string): readonly OwnVerdict[] {
  return attempts.filter((each) => hasEnded(each, stageId)).map(verdictOf);
}

type EndedAttempt = Pick<EarlierAttempt, "stage" | "attempt" | "status" | "outcome">;

function hasEnded({ stage, status, outcome }: EndedAttempt, stageId: string): boolean {
  return stage === stageId && status === "done" && outcome !== null;
}

function verdictOf({ attempt, outcome }: EndedAttempt): OwnVerdict {
  const text = (key: string): string => (typeof outcome?.[key] === "string" ? outcome[key] : "");
  const word = text("word") || text("verdict") || text("health");
  return { attempt, word, summary: text("summary").slice(0, SUMMARY_CHARS), issues: issuesOf(outcome?.["issues"]) };
}

function issuesOf(value: Json | undefined): readonly Issue[] {
  if (!Array.isArray(value)) return [];
  return (value as readonly Json[]).slice(0, MAX_ISSUES).flatMap((issue): readonly Issue[] => {
    if (typeof issue === "string") return [issue];
    if (issue === null || typeof issue !== "object" || Array.isArray(issue)) return [];
    const { severity, description, file, line } = issue as JsonObject;
    if (typeof description !== "string") return [];
    return [
      {
        description,
        ...(typeof severity === "string" ? { severity } : {}),
        ...(typeof file === "string" ? { file } : {}),
        ...(typeof line === "number" ? { line } : {}),
      },
    ];
  });
}
