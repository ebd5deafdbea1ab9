// The choice between this machine and a worker on another one for an attempt.

import type { ResolvedFlow } from "../flow/agent.ts";
import type { WorkStage } from "../flow/flow.ts";
import { runnerChoiceOf } from "../flow/runner-choice.ts";
import { attemptKey } from "../run/attempt-key.ts";
import { jointOf } from "../run/joint.ts";
import { workspaceMode } from "../run/run-settings.ts";
import type { Run } from "../run/run.ts";

export type PlaceWish = {
  /** run/stage/attempt */
  readonly key: string;
  readonly runId: string;
  readonly stage: string;
  /** The labels that its worker needs; not empty: never here. */
  readonly labels: readonly string[];
  /** Whether another machine can carry it out at all. */
  readonly mayMove: boolean;
};

/** By stage or agent: the labels that a worker needs for these attempts, which never run here. */
export type LabelRules = Readonly<Record<string, readonly string[]>>;

export function placeWish(
  resolved: ResolvedFlow,
  run: Run,
  { stage, attempt }: { readonly stage: WorkStage; readonly attempt: number },
  labels: LabelRules,
): PlaceWish {
  return {
    key: attemptKey(run.id, stage.id, attempt),
    runId: run.id,
    stage: stage.id,
    labels: labels[stage.id] ?? labels[stage.agent] ?? [],
    // The user's own folder and a joint repository are on this machine, and what Passrail itself does stays with the engine.
    mayMove:
      workspaceMode(resolved, run) !== "in-place" &&
      stage.kind !== "builtin" &&
      jointOf(run) === null &&
      runnerChoiceOf(resolved, run.facts, stage) !== undefined,
  };
}
