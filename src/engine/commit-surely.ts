// A commit whose answer is lost may be stored all the same. Then the store itself has the answer: the run is the planned one, in the version
// that the change leads to.

import type { Change, CommitResult, Store } from "../store/store.ts";

/** The number of its last event is not known where the answer was lost. */
export type SureResult =
  | Exclude<CommitResult, { readonly type: "ok" }>
  | Omit<CommitResult & { readonly type: "ok" }, "seq">;

/** Throws the store's error if the change is not stored, or if the store cannot be asked either. */
export async function commitSurely(store: Pick<Store, "commit" | "loadRun">, change: Change): Promise<SureResult> {
  try {
    return await store.commit(change);
  } catch (error) {
    const { runId, run, expectedVersion, events } = change;
    const stored = await store.loadRun(runId).catch(() => undefined);
    const version = expectedVersion + events.length;
    const isStored = stored?.version === version && JSON.stringify(stored.run) === JSON.stringify(run);
    if (!isStored) throw error;
    return { type: "ok", version };
  }
}
