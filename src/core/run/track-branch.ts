// Where the tracks of a flow work. A parallel stage that is followed by the builtin `join` gives each track a worktree and a branch of its
// own; the join merges them into the run's branch. Without a join the tracks share the run's workspace.

import { type Flow, MAIN_TRACK, type ParallelStage, type WorkStage } from "../flow/flow.ts";
import { branchOf } from "./branch.ts";
import type { Run } from "./run.ts";

export const JOIN = "join";

/** The parallel stage before each join. */
export function joinedBefore(flow: Pick<Flow, "stages">, joinId: string): ParallelStage | undefined {
  const at = flow.stages.findIndex(({ id }) => id === joinId);
  const [stage, before] = [flow.stages[at], flow.stages[at - 1]];
  return stage !== undefined && isJoin(stage) && before?.kind === "parallel" ? before : undefined;
}

/** The join that follows the parallel stage of a track; undefined for the main track and for tracks that share a workspace. */
export function joinOf(flow: Pick<Flow, "stages">, track: string): WorkStage | undefined {
  if (track === MAIN_TRACK) return undefined;
  const at = flow.stages.findIndex((stage) => stage.kind === "parallel" && Object.hasOwn(stage.tracks, track));
  const next = at < 0 ? undefined : flow.stages[at + 1];
  return next !== undefined && isJoin(next) ? next : undefined;
}

export function trackBranch(flow: Flow, run: Run, track: string): string {
  const own = branchOf(flow, run);
  return joinOf(flow, track) === undefined ? own : `${own}-${track.toLowerCase()}`;
}

function isJoin(stage: Flow["stages"][number]): stage is WorkStage {
  return stage.kind === "builtin" && stage.agent === JOIN;
}
