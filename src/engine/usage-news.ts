// What working attempts have used so far, for whoever looks: kept with the attempt, and announced. At most once in a while per attempt, and
// not as an event of the run: the books are closed by its report.

import type { ReportedUsage } from "../core/budget/budget.ts";
import type { EngineOptions, ObservedAttempt } from "./options.ts";

export type UsageNews = {
  note(attempt: ObservedAttempt, reported: ReportedUsage): void;
  /** The attempt has ended: its own facts say the rest. */
  end(attempt: ObservedAttempt): void;
};

const EVERY_MS = 2000;

type Pending = { last: ReportedUsage | undefined; timer: NodeJS.Timeout };

export function createUsageNews({
  store,
  onUsage,
  onError,
}: Pick<EngineOptions, "store" | "onUsage" | "onError">): UsageNews {
  const pending = new Map<string, Pending>();
  const keyOf = ({ run, stage, attempt }: ObservedAttempt): string => JSON.stringify([run.id, stage, attempt]);

  function tell(observed: ObservedAttempt, { model, usage }: ReportedUsage): void {
    const { run, stage, attempt } = observed;
    void store
      .noteAttempt(run.id, stage, attempt, { usage: { ...usage }, ...(model === null ? {} : { model }) })
      .then(() => onUsage?.(observed, usage))
      .catch((error: unknown) => onError(run.id, error));
  }

  function wait(key: string, observed: ObservedAttempt): void {
    const timer = setTimeout(() => {
      const last = pending.get(key)?.last;
      pending.delete(key);
      if (last === undefined) return;
      tell(observed, last);
      wait(key, observed);
    }, EVERY_MS);
    pending.set(key, { last: undefined, timer });
  }

  return {
    note(observed, reported) {
      const key = keyOf(observed);
      const waiting = pending.get(key);
      if (waiting !== undefined) return void (waiting.last = reported);
      tell(observed, reported);
      wait(key, observed);
    },
    end(observed) {
      const key = keyOf(observed);
      clearTimeout(pending.get(key)?.timer);
      pending.delete(key);
    },
  };
}
