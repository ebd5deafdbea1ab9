// One run with everything that is known of it: state, stages with their attempts, counters, open items, handoffs.

import { attemptFacts } from "../../../core/attempt-facts.ts";
import type { z } from "zod";
import type { attemptSchema, runDetailSchema, stageSchema } from "../../contract/schemas/run.ts";
import type { ResolvedFlow } from "../../../core/flow/agent.ts";
import { type Flow, MAIN_TRACK, type Stage } from "../../../core/flow/flow.ts";
import type { Outcome } from "../../../core/flow/outcome.ts";
import { openItems, type Run } from "../../../core/run/run.ts";
import { isWork, stagesOf } from "../../../core/run/sequence.ts";
import { countersOf } from "../../../core/run/simulate.ts";
import { waysOf } from "../../../core/run/targets.ts";
import type { AttemptRecord, HandoffRecord, RunSummary } from "../../../store/store.ts";
import { showItem } from "./inbox.ts";

type Shown = z.input<typeof runDetailSchema>;
type ShownStage = z.input<typeof stageSchema>;
type ShownAttempt = z.input<typeof attemptSchema>;

export type RunFacts = {
  readonly run: Run;
  readonly version: number;
  readonly itemVersion: string;
  readonly summary: RunSummary;
  readonly resolved: ResolvedFlow;
  readonly attempts: readonly AttemptRecord[];
  readonly handoffs: readonly HandoffRecord[];
};

export function showRun({ run, version, itemVersion, summary, resolved, attempts, handoffs }: RunFacts): Shown {
  const { flow } = resolved;
  return {
    ...summary,
    subject: run.subject,
    version,
    flowHash: run.flowHash,
    paused: run.paused,
    reason: run.status === "stopped" || run.status === "canceled" ? run.reason : null,
    endedAt: run.status === "completed" || run.status === "canceled" ? run.endedAt : null,
    resumesAt: resumesAt(run),
    counters: showCounters(flow, run),
    spent: run.spent ?? null,
    stages: showStages(flow, run, attempts),
    items: openItems(run).map((item) =>
      showItem({ run, runNumber: summary.number, resolved, version: itemVersion }, item),
    ),
    handoffs: handoffs.map((handoff) => ({ ...handoff })),
  };
}

export function showCounters(flow: Flow, run: Run): Shown["counters"] {
  return Object.entries(countersOf(flow, run)).map(([key, loops]) => {
    const name = key in flow.counters ? key : key.slice(key.indexOf(".") + 1);
    return { key, loops, max: flow.counters[name]?.maxLoops ?? null };
  });
}

/** The first of the times that stages wait for. */
function resumesAt(run: Run): string | null {
  if (run.status !== "running" || run.paused) return null;
  const times = Object.values(run.tracks).flatMap((track) =>
    track.at === "ready" && track.notBefore !== undefined ? [track.notBefore] : [],
  );
  return times.toSorted()[0] ?? null;
}

function showStages(flow: Flow, run: Run, attempts: readonly AttemptRecord[]): ShownStage[] {
  const listed = listStages(stagesOf(flow, run, MAIN_TRACK));
  const reached = listed.findLastIndex(({ stage }) => attempts.some((record) => record.stage === stage.id));
  return listed.map(({ track, stage }, index) => {
    const own = attempts.filter((record) => record.stage === stage.id);
    return {
      track,
      id: stage.id,
      kind: stage.kind,
      who: whoOf(stage),
      state: stateOf(run, track, stage, own, index < reached),
      ways: waysOf(flow, run, track, stage).map((way) => ({ ...way, to: [...way.to] })),
      attempts: own.map(showAttempt),
    };
  });
}

/** Stages in the order of the flow, those of tracks beside their track's name. What a router has not chosen yet is left out. */
export function listStages(stages: readonly Stage[]): readonly { readonly track: string; readonly stage: Stage }[] {
  return stages.flatMap((stage): { track: string; stage: Stage }[] => {
    if (stage.kind === "dynamic") return [];
    if (stage.kind !== "parallel") return [{ track: MAIN_TRACK, stage }];
    return Object.entries(stage.tracks).flatMap(([track, plan]) =>
      plan.stages.map((inner) => ({ track, stage: inner })),
    );
  });
}

export function whoOf(stage: Stage): string {
  if (isWork(stage)) return stage.shownAgent;
  return stage.kind === "gate" ? stage.who : "";
}

/** `passed`: something further on has been at work, so a gate here was answered. */
function stateOf(
  run: Run,
  track: string,
  stage: Stage,
  attempts: readonly AttemptRecord[],
  passed: boolean,
): ShownStage["state"] {
  const at = run.tracks[track];
  if (at !== undefined && "stage" in at && at.stage === stage.id && at.at !== "forked") return at.at;
  const last = attempts.at(-1);
  if (last === undefined) return stage.kind === "gate" && (passed || run.status === "completed") ? "done" : "open";
  const { verdict, health } = showAttempt(last);
  return last.status === "done" && health === "complete" && (verdict ?? "pass") === "pass" ? "done" : "failed";
}

function showAttempt({ outcome: stored, ...record }: AttemptRecord): ShownAttempt {
  const outcome = stored as unknown as Outcome | null;
  const { from, to, exitCode, branch, workspace, runner, model, usage } = attemptFacts(record);
  return {
    stage: record.stage,
    attempt: record.attempt,
    track: record.track,
    status: record.status,
    readyAt: record.readyAt,
    startedAt: record.startedAt,
    endedAt: record.endedAt,
    health: outcome?.health ?? null,
    verdict: outcome?.verdict ?? null,
    word: outcome?.word ?? null,
    score: outcome?.score ?? null,
    summary: outcome?.summary ?? null,
    reason: outcome?.reason ?? outcome?.cause ?? null,
    issues: [...(outcome?.issues ?? [])],
    questions: [...(outcome?.questions ?? [])],
    exitCode,
    commits: from !== null && to !== null && from !== to ? { from, to } : null,
    branch,
    workspace,
    runner,
    model,
    usage,
  };
}
