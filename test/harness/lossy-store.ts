// The real store behind a connection that breaks: the change is stored, or is not, and the caller gets an error in either case.

import { type Change, type Store, StoreError } from "../../src/store/store.ts";

export type Loss =
  /** Stored; the answer is lost. */
  | "after"
  /** Not stored. */
  | "before"
  /** Stored; the answer is lost, and the next reads of the run fail, too. */
  | "after, then blind";

/** `lose` decides for each commit. */
export function lossyStore(store: Store, lose: (change: Change) => Loss | undefined): Store {
  let blindFor = 0;
  const broken = (): StoreError => new StoreError("store_io", "the connection broke", "try again");
  const seeing = <T>(read: () => Promise<T>): Promise<T> => (blindFor-- > 0 ? Promise.reject(broken()) : read());
  return {
    ...store,
    loadRun: (runId) => seeing(() => store.loadRun(runId)),
    hasSignal: (...asked) => seeing(() => store.hasSignal(...asked)),
    async commit(change) {
      const loss = lose(change);
      if (loss === "before") throw broken();
      const result = await store.commit(change);
      if (loss === undefined) return result;
      if (loss === "after, then blind") blindFor = 2;
      throw broken();
    },
  };
}
