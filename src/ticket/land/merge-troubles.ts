// Runs whose pull request could not be checked: when to retry, with a back-off, and the reported reason, so that it is reported once.

export type MergeTroubles = {
  isPutOff(runId: string): boolean;
  /** Reports the reason and waits longer after each failure in a row. */
  putOff(runId: string, why: string): void;
  recovered(runId: string): void;
  report(runId: string, text: string): void;
  /** Ask about all runs at the next look. */
  forgetWaits(): void;
  /** Forgets the runs that do not wait for a merge any more. */
  keepOnly(runIds: ReadonlySet<string>): void;
};

const LONGEST_WAIT_MS = 30 * 60_000;

export function createMergeTroubles({
  monotonicMs,
  pollMs,
  onProblem,
}: {
  readonly monotonicMs: () => number;
  readonly pollMs: number;
  readonly onProblem: (runId: string, error: unknown) => void;
}): MergeTroubles {
  const failing = new Map<string, { readonly times: number; readonly until: number }>();
  const reported = new Map<string, string>();
  const report = (runId: string, text: string): void => {
    if (reported.get(runId) === text) return;
    reported.set(runId, text);
    onProblem(runId, new Error(text));
  };
  return {
    isPutOff: (runId) => (failing.get(runId)?.until ?? 0) > monotonicMs(),
    putOff(runId, why) {
      const times = (failing.get(runId)?.times ?? 0) + 1;
      const waitMs = Math.min(pollMs * 2 ** Math.min(times, 16), Math.max(LONGEST_WAIT_MS, pollMs));
      failing.set(runId, { times, until: monotonicMs() + waitMs });
      report(runId, `its pull request could not be looked at: ${why}`);
    },
    recovered: (runId) => void failing.delete(runId),
    report,
    forgetWaits: () => failing.clear(),
    keepOnly(runIds) {
      for (const known of [failing, reported])
        for (const runId of known.keys()) if (!runIds.has(runId)) known.delete(runId);
    },
  };
}
