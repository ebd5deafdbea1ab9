// One piece of work at a time per run; work of different runs does not wait for each other.

export type RunTurns = {
  take<T>(runId: string, work: () => Promise<T>): Promise<T>;
  /** Resolves when the work at hand of this run has ended. */
  ended(runId: string): Promise<unknown>;
  readonly isBusy: boolean;
  /** Resolves when the work at hand of every run has ended. */
  settled(): Promise<void>;
};

export function createRunTurns(onEnded: () => void): RunTurns {
  const turns = new Map<string, Promise<unknown>>();
  const ended = (runId: string): Promise<unknown> => turns.get(runId) ?? Promise.resolve();
  return {
    take(runId, work) {
      const turn = ended(runId).then(work);
      const settled = turn.catch(() => undefined);
      turns.set(runId, settled);
      void settled.then(() => {
        if (turns.get(runId) === settled) turns.delete(runId);
        onEnded();
      });
      return turn;
    },
    ended,
    get isBusy() {
      return turns.size > 0;
    },
    settled: async () => void (await Promise.all(turns.values())),
  };
}
