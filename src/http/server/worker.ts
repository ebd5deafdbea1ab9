// Who executes attempts: this process, and the workers that have joined it. The store says what runs, the board who runs it.

import { attemptKey } from "../../core/run/attempt-key.ts";
import { findWork } from "../../core/run/sequence.ts";
import type { Store } from "../../store/store.ts";
import { flowOf } from "../../store/flow-of.ts";
import type { QueueLimits } from "../../app/list-queue.ts";
import type { ServerDeps, WorkerInfo, WorkerNode } from "./deps.ts";

export type WorkerOptions = {
  readonly store: Store;
  readonly slots: number;
  readonly version: string;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly node: WorkerNode | undefined;
};

/** The limits of starts in this process. */
export function queueLimits({ config, node }: Pick<ServerDeps, "config" | "node">): QueueLimits {
  const { slots, workers } = config;
  return { slots: slots.value, workers, ...(node === undefined ? {} : { joined: node.board.list() }) };
}

type RunningWork = WorkerInfo["attempts"][number] & { readonly key: string };

export async function describeWorkers(options: WorkerOptions): Promise<readonly WorkerInfo[]> {
  const { store, slots, version, startedAt, node } = options;
  const running = await runningWork(store);
  const joined = node?.board.list() ?? [];
  const elsewhere = new Set(joined.flatMap(({ attempts }) => attempts));
  const shown = (of: (key: string) => boolean): WorkerInfo["attempts"] =>
    running.flatMap(({ key, ...work }) => (of(key) ? [work] : []));
  const here: WorkerInfo = {
    name: "local",
    pid: process.pid,
    version,
    startedAt,
    slots,
    labels: [],
    state: "open",
    heardAt: null,
    attempts: shown((key) => !elsewhere.has(key)),
  };
  const others = joined.map(
    ({ attempts, ...worker }): WorkerInfo => ({
      ...worker,
      pid: null,
      attempts: shown((key) => attempts.includes(key)),
    }),
  );
  return [here, ...others];
}

async function runningWork(store: Store): Promise<readonly RunningWork[]> {
  const attempts: RunningWork[] = [];
  for (const runId of await store.activeRuns()) {
    const stored = await store.loadRun(runId);
    if (stored === undefined) continue;
    const { run } = stored;
    for (const [name, track] of Object.entries(run.tracks)) {
      // Stages played outside run elsewhere.
      if (track.at !== "running" || track.outside === true) continue;
      const { stage, attempt, since } = track;
      const { flow } = await flowOf(store, run);
      const agent = findWork(flow, run, name, stage)?.shownAgent ?? stage;
      attempts.push({ key: attemptKey(runId, stage, attempt), runId, stage, attempt, agent, since });
    }
  }
  return attempts;
}
