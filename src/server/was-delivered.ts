// Whether a run has had a signal. Asked by a change that cannot happen: the run is there, and the change is for a run that is not. The
// store then only says whether it knows the signal's id, and stores nothing.

import type { Run } from "../core/run.ts";
import type { Store } from "../store/store.ts";

export async function wasDelivered(store: Pick<Store, "commit">, run: Run, signalId: string): Promise<boolean> {
  const { type } = await store.commit({
    runId: run.id,
    expectedVersion: 0,
    signalIds: [signalId],
    events: [
      { type: "signal.ignored", signal: signalId, reason: "asked for only", at: run.createdAt, actor: "engine" },
    ],
    run,
    enqueue: [],
  });
  return type === "duplicate";
}
