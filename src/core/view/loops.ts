// The loops of a run as people count them: who judges, in which iteration of how many, and whom it sends the work back to.

import { type Flow, MAIN_TRACK, type WorkStage } from "../flow/flow.ts";
import { counterKey } from "../run/counting.ts";
import type { Run } from "../run/run.ts";
import { isWork, stagesOf } from "../run/sequence.ts";
import { listStages } from "./stage-list.ts";

export type LoopRow = {
  readonly stage: string;
  readonly track: string;
  /** Who judges there. */
  readonly role: string;
  readonly counter: string;
  /** 0 before the first one. A counter that was set back begins again at 1. */
  readonly iteration: number;
  /** Null without a limit. */
  readonly max: number | null;
  /** Where it sends the work. */
  readonly backTo: string;
};

/** In the order of the flow; every stage that can send work back and counts it. */
export function loopRows(flow: Flow, run: Run): readonly LoopRow[] {
  return listStages(stagesOf(flow, run, MAIN_TRACK)).flatMap(({ track, stage }) =>
    isWork(stage) ? countersOf(stage).map(([name, backTo]) => rowOf(flow, run, { track, stage, name, backTo })) : [],
  );
}

/** `iteration 2 of 3`. */
export function iterationText({ iteration, max }: Pick<LoopRow, "iteration" | "max">): string {
  if (iteration === 0) return "not yet";
  return max === null ? `${iteration}` : `${iteration} of ${max}`;
}

type Counting = {
  readonly track: string;
  readonly stage: WorkStage;
  readonly name: string;
  readonly backTo: string;
};

function rowOf(flow: Flow, run: Run, { track, stage, name, backTo }: Counting): LoopRow {
  const counter = flow.counters[name];
  const key = counter === undefined ? name : counterKey(counter, name, { track, stage: stage.id });
  const loops = run.counters[key]?.loops ?? 0;
  const hasWorked = (run.stages[stage.id]?.attempts ?? 0) > 0;
  const max = counter?.maxLoops ?? null;
  return {
    stage: stage.id,
    track,
    role: stage.shownAgent,
    counter: key,
    iteration: hasWorked ? loops + 1 : 0,
    max: max === null ? null : max + 1,
    backTo,
  };
}

/** One row per counter of the stage: several verdicts may share one. */
function countersOf({ route }: WorkStage): readonly (readonly [name: string, backTo: string])[] {
  const found = Object.values(route).flatMap(({ counter, goto }) =>
    counter === undefined ? [] : ([[counter, goto]] as const),
  );
  return [...new Map(found)];
}
