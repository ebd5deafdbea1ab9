// The port's own rules for a change.

import type { Change } from "./store.ts";

/** A change that breaks the port's own rules is a bug of the caller and must not reach the database. */
export function requireWellFormed(change: Change): void {
  const { runId, run, events, signalIds } = change;
  if (events.length === 0) throw new Error(`a change of run ${runId} has no events`);
  if (run.id !== runId) throw new Error(`a change of run ${runId} carries run ${run.id}`);
  if (runId !== runId.toWellFormed()) throw new Error("a run's id must be well-formed text");
  if (new Set(signalIds).size !== signalIds.length) throw new Error(`a change of run ${runId} repeats a signal id`);
}
