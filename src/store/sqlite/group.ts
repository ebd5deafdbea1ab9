// Group commit: calls in the same turn of the event loop share one transaction and so one sync of the disk. Each caller
// is answered after the commit. One that throws is rejected alone: the others are repeated, each in its own
// transaction.

import { StoreError } from "../store.ts";

/** More than this in one transaction would keep the event loop busy for too long. */
const MAX_JOBS = 256;

type Job = {
  /** Runs inside the transaction; what it returns answers the caller, after the commit. */
  readonly perform: () => () => void;
  readonly reject: (error: unknown) => void;
};

export type Group = {
  add<T>(work: () => T): Promise<T>;
  /** Commits what waits, now. */
  flush(): void;
};

/** `transact` runs its argument in a transaction of its own, or throws and has changed nothing. */
export function openGroup(transact: (work: () => void) => void): Group {
  let waiting: Job[] = [];

  function flush(): void {
    while (waiting.length > 0) flushSome();
  }

  function flushSome(): void {
    const batch = waiting.slice(0, MAX_JOBS);
    waiting = waiting.slice(MAX_JOBS);
    if (waiting.length > 0) setImmediate(flushSome);
    if (batch.length === 0) return;
    const error = runBatch(batch);
    if (error === undefined) return;
    // A full disk or a lock concerns everybody; doing it again one by one would only take longer.
    const isCommon = error instanceof StoreError || batch.length === 1;
    for (const job of batch) {
      const own = isCommon ? error : runBatch([job]);
      if (own !== undefined) job.reject(own);
    }
  }

  function runBatch(batch: readonly Job[]): unknown {
    let answers: (() => void)[] = [];
    try {
      transact(() => {
        answers = batch.map((job) => job.perform());
      });
    } catch (error) {
      return error ?? new Error("the transaction failed");
    }
    for (const answer of answers) answer();
    return undefined;
  }

  return {
    add: (work) =>
      new Promise((resolve, reject) => {
        const perform = () => {
          const value = work();
          return () => resolve(value);
        };
        waiting.push({ perform, reject });
        if (waiting.length === 1) setImmediate(flushSome);
      }),
    flush,
  };
}
