// Counts the runs of tickets that use a slot or would use one at once: not those that wait for a time, for a person or for work outside.

import { isOutside } from "../../core/run/outside.ts";
import type { Run } from "../../core/run/run.ts";
import { findWork } from "../../core/run/sequence.ts";
import type { Store } from "../../store/store.ts";

/** `now`: ISO 8601. */
export async function countInLine(store: Store, runs: Iterable<Run>, now: string): Promise<number> {
  let number = 0;
  for (const run of runs) if (await isInLine(store, run, now)) number += 1;
  return number;
}

async function isInLine(store: Store, run: Run, now: string): Promise<boolean> {
  if (run.status !== "running" || run.paused) return false;
  const flow = await store.loadFlow(run.flowHash);
  return Object.entries(run.tracks).some(([name, track]) => {
    if (track.at === "running") return track.outside !== true;
    if (track.at !== "ready") return false;
    if (track.notBefore !== undefined && track.notBefore > now) return false;
    const stage = flow === undefined ? undefined : findWork(flow.flow, run, name, track.stage);
    return flow !== undefined && stage !== undefined && !isOutside(flow, run, stage);
  });
}
