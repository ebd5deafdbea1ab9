// An attempt that may start, with the slot and the locks that it needs.

import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { WorkStage } from "../core/flow/flow.ts";
import { attemptKey } from "../core/run/attempt-key.ts";
import { branchOf } from "../core/run/branch.ts";
import { isOutside } from "../core/run/outside.ts";
import { projectOf, workspaceMode } from "../core/run/run-settings.ts";
import type { Run } from "../core/run/run.ts";
import { findWork } from "../core/run/sequence.ts";
import type { StartableAttempt } from "../core/run/startable.ts";
import { type LabelRules, placeWish } from "../core/worker/place-wish.ts";
import type { SlotRequest } from "./slots.ts";

export type ReadyAttempt = {
  /** run/stage/attempt */
  readonly key: string;
  readonly runId: string;
  readonly track: string;
  readonly stage: string;
  readonly attempt: number;
  /** True for the first stage of a run, and for flows that return to the pool between stages. */
  readonly first: boolean;
  readonly slot: SlotRequest;
};

export type SlotRules = {
  readonly agentLimits: Readonly<Record<string, number>>;
  /** The runners of a stage, one per rung of its ladder. */
  readonly runnersOf: (resolved: ResolvedFlow, run: Run, stage: WorkStage) => readonly string[];
  readonly labels?: LabelRules;
};

/** Undefined for a stage that people or programs outside carry out: the engine starts nothing for it. */
export function readyAttempt(
  resolved: ResolvedFlow,
  run: Run,
  { track, stage: id, attempt }: Pick<StartableAttempt, "track" | "stage" | "attempt">,
  { agentLimits, runnersOf, labels = {} }: SlotRules,
): ReadyAttempt | undefined {
  const stage = findWork(resolved.flow, run, track, id);
  if (stage === undefined || isOutside(resolved, run, stage)) return undefined;
  // The operator knows the machine and the account: that word decides over the flow's.
  const agentLimit = agentLimits[stage.agent] ?? stage.concurrency ?? null;
  const project = projectOf(run);
  const isInPlace = workspaceMode(resolved, run) === "in-place";
  const locks = [isInPlace ? `dir:${project}` : `branch:${project}:${branchOf(resolved.flow, run)}`];
  const key = attemptKey(run.id, stage.id, attempt);
  const place = placeWish(resolved, run, { stage, attempt }, labels);
  return {
    key,
    runId: run.id,
    track,
    stage: stage.id,
    attempt,
    first: Object.keys(run.stages).length <= 1 || stage.yields,
    slot: { runId: run.id, agent: stage.agent, agentLimit, locks, runners: runnersOf(resolved, run, stage), place },
  };
}
