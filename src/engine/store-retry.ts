// A full disk or a locked file passes. The engine retries until the store takes the signal: a lost report would need a restart.

import { setTimeout as delay } from "node:timers/promises";
import { StoreError } from "../store/store.ts";

const RETRY_MS = 1000;

/** Repeating the same is safe: a signal's id is applied once. */
const PASSING_FAULTS: ReadonlySet<StoreError["code"]> = new Set(["disk_full", "store_busy", "store_io"]);

export type RetryHooks = {
  /** Called once, with the first failure. */
  readonly onFailure: (error: unknown) => void;
  /** Whether the engine is closed; then the failure is thrown. */
  readonly isStopped: () => boolean;
};

export async function retryStore<T>(write: () => Promise<T>, { onFailure, isStopped }: RetryHooks): Promise<T> {
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await write();
    } catch (error) {
      const passes = error instanceof StoreError && PASSING_FAULTS.has(error.code);
      if (!passes || isStopped()) throw error;
      if (isFirst) onFailure(error);
      await delay(RETRY_MS);
    }
  }
}
