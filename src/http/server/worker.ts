// This process as a worker. Only one process at a time executes attempts, so everything that the store shows as running runs here.

import { findWork } from "../../core/run/sequence.ts";
import type { Store } from "../../store/store.ts";
import { flowOf } from "../../store/flow-of.ts";
import type { WorkerInfo } from "./deps.ts";

export type WorkerOptions = {
  readonly store: Store;
  readonly slots: number;
  readonly version: string;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
};

export async function describeWorker({ store, slots, version, startedAt }: WorkerOptions): Promise<WorkerInfo> {
  const attempts: WorkerInfo["attempts"][number][] = [];
  for (const runId of await store.activeRuns()) {
    const stored = await store.loadRun(runId);
    if (stored === undefined) continue;
    const { run } = stored;
    for (const [name, track] of Object.entries(run.tracks)) {
      // Stages played outside run elsewhere.
      if (track.at !== "running" || track.outside === true) continue;
      const { stage, attempt, since } = track;
      const { flow } = await flowOf(store, run);
      attempts.push({ runId, stage, attempt, agent: findWork(flow, run, name, stage)?.shownAgent ?? stage, since });
    }
  }
  return { name: "local", pid: process.pid, version, startedAt, slots, attempts };
}
