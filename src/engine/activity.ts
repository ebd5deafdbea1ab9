// Counts the work beside the signals (starts, retries, the outbox), so that callers can wait until the engine is idle.

export type Activity = {
  /** Counts this work until it settles. The caller handles its errors. */
  add(work: Promise<unknown>): void;
  readonly isQuiet: boolean;
  /** Resolves when the engine is idle, for this run or for all. */
  idle(runId?: string): Promise<void>;
  /** Called when some work has ended: resolves the callers whose condition holds now. */
  check(): void;
  /** Resolves when no work is counted any more. */
  ended(): Promise<void>;
};

export function createActivity(isIdle: (runId: string | undefined) => boolean): Activity {
  const waiting = new Set<{ readonly runId: string | undefined; readonly resolve: () => void }>();
  let running = 0;

  function check(): void {
    if (waiting.size === 0) return;
    setImmediate(() => {
      for (const each of waiting) {
        if (!isIdle(each.runId)) continue;
        waiting.delete(each);
        each.resolve();
      }
    });
  }

  return {
    check,
    add(work) {
      running += 1;
      const end = (): void => {
        running -= 1;
        check();
      };
      work.then(end, end);
    },
    get isQuiet() {
      return running === 0;
    },
    idle: (runId) => (isIdle(runId) ? Promise.resolve() : new Promise((resolve) => waiting.add({ runId, resolve }))),
    async ended() {
      while (running > 0) await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
