// Whether a person has paused everything.

import { type PausedAll, pausedAllOf } from "../core/run/pause-all.ts";
import type { Store } from "../store/store.ts";

/** Null while everything may run. */
export async function lookAtPause(store: Pick<Store, "holds">): Promise<PausedAll | null> {
  return pausedAllOf(await store.holds());
}
