// The stages of a run in order, each with its state and its attempts: the list that `runs show`, the live view, the dashboard and
// the demo draw.

import { type Flow, MAIN_TRACK, type Stage } from "../flow/flow.ts";
import type { Run } from "../run/run.ts";
import { isWork, stagesOf } from "../run/sequence.ts";
import { type AttemptRow, attemptRow, type RecordedAttempt } from "./attempt-row.ts";

export type StageState = "done" | "failed" | "running" | "ready" | "waiting" | "taken" | "stopped" | "open";

export type StageRow = {
  readonly track: string;
  readonly id: string;
  readonly kind: Stage["kind"];
  /** The agent that works there, or the person who decides; empty for neither. */
  readonly who: string;
  readonly state: StageState;
  readonly attempts: readonly AttemptRow[];
};

export type ListedStage = { readonly track: string; readonly stage: Stage };

/** `now` in milliseconds: the end of attempts that are still running. */
export function stageRows(
  flow: Flow,
  run: Run,
  attempts: readonly RecordedAttempt[],
  now: number,
): readonly StageRow[] {
  const byStage = Map.groupBy(
    attempts.map((record) => attemptRow(record, now)),
    ({ stage }) => stage,
  );
  const rowsOf = (id: string): readonly AttemptRow[] => byStage.get(id) ?? [];
  return stageStates(flow, run, (id) => endOf(rowsOf(id).at(-1))).map(({ track, stage, state }) => ({
    track,
    id: stage.id,
    kind: stage.kind,
    who: whoOf(stage),
    state,
    attempts: rowsOf(stage.id),
  }));
}

/** How the last attempt of a stage ended; undefined if there was none. */
export type LastEnd = "passed" | "failed" | undefined;

/** Every stage with its state. `lastEnd` answers for one stage, from stored attempts or from the run's memory. */
export function stageStates(
  flow: Flow,
  run: Run,
  lastEnd: (stageId: string) => LastEnd,
): readonly (ListedStage & { readonly state: StageState })[] {
  const listed = listStages(stagesOf(flow, run, MAIN_TRACK)).map((each) => ({ ...each, end: lastEnd(each.stage.id) }));
  const reached = listed.findLastIndex(({ end }) => end !== undefined);
  return listed.map(({ track, stage, end }, index) => {
    const current = run.tracks[track];
    const isHere = current !== undefined && "stage" in current && current.stage === stage.id;
    // A later stage has worked, so a gate here was answered.
    const isPassedGate = stage.kind === "gate" && (index < reached || run.status === "completed");
    const past = end === undefined ? (isPassedGate ? "done" : "open") : end === "passed" ? "done" : "failed";
    return { track, stage, state: isHere && current.at !== "forked" ? current.at : past };
  });
}

/** Stages in the order of the flow, the stages of a track under its name, without stages that a router has not chosen yet. */
export function listStages(stages: readonly Stage[]): readonly ListedStage[] {
  return stages.flatMap((stage): ListedStage[] => {
    if (stage.kind === "dynamic") return [];
    if (stage.kind !== "parallel") return [{ track: MAIN_TRACK, stage }];
    return Object.entries(stage.tracks).flatMap(([track, plan]) =>
      plan.stages.map((inner) => ({ track, stage: inner })),
    );
  });
}

/** The agent that works in a stage, or the person who decides there; empty for neither. */
export function whoOf(stage: Stage): string {
  if (isWork(stage)) return stage.shownAgent;
  return stage.kind === "gate" ? stage.who : "";
}

function endOf(last: AttemptRow | undefined): LastEnd {
  if (last === undefined) return undefined;
  return last.status === "done" && last.canonical === "pass" ? "passed" : "failed";
}
