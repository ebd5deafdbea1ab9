// Runs in memory: all that are running, and the latest of those that wait or have ended, because answers, notices and cleanup follow soon.
// Every other run is read from the store.

import type { StoredRun } from "../store/store.ts";

export type RunCache = {
  get(runId: string): StoredRun | undefined;
  put(stored: StoredRun): void;
  drop(runId: string): void;
};

/** Maximum number of runs that are not running. */
const MAX_QUIET = 500;

export function createRunCache(): RunCache {
  const runs = new Map<string, StoredRun>();
  const quiet = new Set<string>();
  return {
    get: (runId) => runs.get(runId),
    put(stored) {
      const { id, status } = stored.run;
      runs.set(id, stored);
      quiet.delete(id);
      if (status === "running") return;
      quiet.add(id);
      const [oldest] = quiet;
      if (quiet.size <= MAX_QUIET || oldest === undefined) return;
      quiet.delete(oldest);
      runs.delete(oldest);
    },
    drop: (runId) => runs.delete(runId),
  };
}
