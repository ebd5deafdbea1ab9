// Recovers the attempts of a dead engine: takes over those that work on, ends the processes of the others, marks them interrupted, and makes
// their stages ready again. Only attempts that this engine started or took over count as running. It never acts on a bare pid.

import { attemptKey } from "../core/run/attempt-key.ts";
import { attemptFacts } from "../core/attempt-facts.ts";
import type { ReportedUsage } from "../core/budget/budget.ts";
import { type Processes, wholeMarker } from "../runner/runner.ts";
import type { Run } from "../core/run/run.ts";
import { type RunningAttempt, runningAttempts } from "../core/run/startable.ts";
import type { Store } from "../store/store.ts";
import { dropChannels, markerOf } from "../attempt/attempt-files.ts";
import { failpoint } from "../attempt/failpoint.ts";
import { type Adoption, adoptCarried, type Kept } from "./adopt.ts";
import type { CutOffAttempt } from "../attempt/interrupted-usage.ts";
import { retryStore } from "./store-retry.ts";

export type Recovery = Adoption & {
  readonly store: Store;
  readonly processes: Processes;
  readonly home: string;
  readonly interrupt: (runId: string, stage: string, attempt: number, cause: string) => Promise<unknown>;
  /** Closes workspaces whose attempts are over, and makes those usable again in which programs were ended. */
  readonly recoverWorkspaces: (run: Run) => Promise<void>;
  /** The same for the workspace of one attempt, while others of the run work on. */
  readonly recoverWorkspace: (run: Run, at: RunningAttempt) => Promise<void>;
  /** Queues the attempts that the run has ready. */
  readonly follow: (run: Run) => Promise<void>;
  /** What an attempt that was cut off had used; undefined where nobody tells. */
  readonly usedBy: (run: Run, record: CutOffAttempt) => Promise<ReportedUsage | undefined>;
  /** Whether the engine was closed meanwhile. */
  readonly isStopped: () => boolean;
};

export async function recover(recovery: Recovery): Promise<void> {
  const { store, processes, storeId, home, onError } = recovery;
  const kept = await adoptCarried(recovery);
  for (const { marker } of processes.findMarked(`${storeId}/`))
    if (!kept.markers.has(wholeMarker(marker))) await processes.killLeftovers({ marker });
  processes.sweep?.();
  await dropChannels(home, kept.channels);
  for (const runId of await store.activeRuns()) {
    try {
      // Each step can be repeated, and a run that is left out would stay as it is until the next start.
      // A run that cannot be recovered must not stop the recovery of others.
      await retryStore(() => recoverRun(recovery, runId, kept), {
        onFailure: (error) => onError(runId, error),
        isStopped: recovery.isStopped,
      });
    } catch (error) {
      onError(runId, error);
    }
  }
}

async function recoverRun(
  { store, processes, interrupt, follow, recoverWorkspaces, recoverWorkspace, usedBy, spent, storeId }: Recovery,
  runId: string,
  kept: Kept,
): Promise<void> {
  const stored = await store.loadRun(runId);
  if (stored === undefined) return;
  const attempts = await store.attempts(runId);
  // Attempts that had their verdict while their program still ran: nothing else may start beside it.
  for (const record of attempts) {
    const { process: identity, ended } = attemptFacts(record);
    if (record.status === "done" && identity !== null && ended === null) await processes.killLeftovers(identity);
  }
  const isKept = ({ stage, attempt }: RunningAttempt): boolean => kept.keys.has(attemptKey(runId, stage, attempt));
  const running = runningAttempts(stored.run).filter((each) => !isKept(each));
  for (const { stage, attempt } of running) {
    const record = attempts.find((candidate) => candidate.stage === stage && candidate.attempt === attempt);
    const identity = record === undefined ? null : attemptFacts(record).process;
    await processes.killLeftovers(identity ?? { marker: markerOf(storeId, runId, stage, attempt) });
  }
  // Before anything can start: a branch is free only when the workspace of the dead attempt is gone.
  // Where another attempt of the run works on, its workspace is left alone.
  if (!kept.runs.has(runId)) await recoverWorkspaces(stored.run);
  else for (const each of running) await recoverWorkspace(stored.run, each);
  await follow(stored.run);
  for (const { stage, attempt } of running) {
    const record = attempts.find((candidate) => candidate.stage === stage && candidate.attempt === attempt);
    const used = record === undefined ? undefined : await usedBy(stored.run, record);
    // Before it counts as interrupted: the next start of the stage must find what is spent.
    if (used !== undefined) await spent(runId, stage, attempt, used);
    await interrupt(runId, stage, attempt, "the engine ended while this attempt was running");
    failpoint("interrupt-committed");
  }
}
