// Signals become stored changes here: load the run, plan the change, commit it, cache the run. One signal at a time per run, so that
// concurrent ones do not compete for the version.

import type { BudgetUse } from "../core/budget/budget.ts";
import { optional } from "../core/optional.ts";
import type { Command } from "../core/run/command.ts";
import type { Actor } from "../core/run/event.ts";
import type { Run } from "../core/run/run.ts";
import type { Signal, SignalBody } from "../core/run/signal.ts";
import type { Change, Store } from "../store/store.ts";
import type { Attempts } from "./attempts.ts";
import type { Clock } from "./clock.ts";
import { commitSurely, type SureResult } from "./commit-surely.ts";
import { planChange, type PlannedChange, type PlanDeps } from "./plan-change.ts";
import type { ReadyAttempt } from "./ready-attempt.ts";
import { createRunCache } from "./run-cache.ts";
import type { Refusals } from "./schedule/metering.ts";
import { createRunTurns } from "./turns.ts";

/** The result of a signal. `ignored` says why it changed nothing; `duplicate`: the store has it already. */
export type Delivered = { readonly run: Run; readonly ignored?: string; readonly duplicate: boolean };

/** Why a signal was ignored that was meant for another version of the run. */
export const CHANGED_SINCE = "the run has changed since";

/** A change that the store has. */
export type StoredChange = PlannedChange & {
  /** Limits that are nearly used up. */
  readonly near: readonly BudgetUse[];
};

export type Runs = {
  /**
   * Repeating a signal with the same id changes nothing. With `ifVersion` it counts only while the run has this version; otherwise it is
   * ignored as CHANGED_SINCE and leaves no trace.
   */
  deliver(runId: string, body: SignalBody, actor: Actor, signalId?: string, ifVersion?: number): Promise<Delivered>;
  load(runId: string): Promise<Run | undefined>;
  /** The run as another process stored it; undefined when this process knows it already. */
  reload(runId: string): Promise<Run | undefined>;
  /** Looks at the stored run between two signals, so that none of them changes it meanwhile. Undefined if there is no such run. */
  look<T>(runId: string, see: (run: Run) => T): Promise<T | undefined>;
  readonly isBusy: boolean;
  /** Resolves when the signals at hand are decided. */
  settled(): Promise<void>;
};

export type RunsDeps = PlanDeps & {
  readonly store: Pick<Store, "commit" | "loadRun">;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly attempts: Pick<Attempts, "giveUp">;
  /** Removes secrets from what programs say, before anything is decided or stored. */
  readonly clean: (body: SignalBody) => SignalBody;
  /** Whether a command is stored; notices that have no receiver are not. */
  readonly isKept: (command: Command) => boolean;
  readonly onStored: (change: StoredChange) => void;
  readonly onTurnEnded: () => void;
  /** A change of this run may have been stored without our knowledge. */
  readonly onUnsure: (runId: string) => void;
};

export function createRuns(deps: RunsDeps): Runs {
  const { store } = deps;
  const cache = createRunCache();
  const turns = createRunTurns(deps.onTurnEnded);

  return {
    deliver: (runId, body, actor, signalId = deps.newId(), ifVersion) =>
      turns.take(runId, () =>
        decide(runId, { ...deps.clean(body), id: signalId, at: deps.clock.now(), actor }, ifVersion),
      ),
    look: (runId, see) =>
      turns.take(runId, async () => {
        const stored = await store.loadRun(runId);
        cache.drop(runId);
        return stored === undefined ? undefined : see(stored.run);
      }),
    load: async (runId) => (cache.get(runId) ?? (await store.loadRun(runId)))?.run,
    async reload(runId) {
      await turns.ended(runId);
      const stored = await store.loadRun(runId);
      if (stored === undefined || (cache.get(runId)?.version ?? -1) >= stored.version) return undefined;
      cache.drop(runId);
      return stored.run;
    },
    get isBusy() {
      return turns.isBusy;
    },
    settled: () => turns.settled(),
  };

  async function decide(runId: string, asked: Signal, ifVersion: number | undefined): Promise<Delivered> {
    const refused: Refusals = new Map();
    for (;;) {
      const known = cache.get(runId);
      // Where another process performs, what this one remembers may be old: only the store can say that the run has changed.
      const isCurrent = known !== undefined && known.version === (ifVersion ?? known.version);
      const stored = isCurrent ? known : await store.loadRun(runId);
      if (stored !== undefined && stored.version !== (ifVersion ?? stored.version))
        return { run: stored.run, duplicate: false, ignored: CHANGED_SINCE };
      const plan = await planChange(deps, runId, stored, asked, refused);
      const { signal, step, starting, reserve, ignored } = plan;
      if (plan.isSuperseded) return { run: step.run, duplicate: false, ...optional({ ignored }) };
      const expectedVersion = stored?.version ?? 0;
      const { events, run } = step;
      const enqueue = step.commands.filter(deps.isKept);
      const reserved = reserve.length === 0 ? {} : { reserve };
      const change = { runId, expectedVersion, signalIds: [signal.id], events, run, enqueue, ...reserved };
      const result = await commit(change, starting);
      switch (result.type) {
        case "ok":
          cache.put({ run, version: result.version });
          deps.onStored({ ...plan, near: result.near ?? [] });
          return { run, duplicate: false, ...optional({ ignored }) };
        case "over_budget":
          refused.set(`${result.stage}/${result.attempt}`, result);
          break;
        case "conflict":
          refused.clear();
          break;
        case "duplicate":
          return { run: await requireRun(store, runId), duplicate: true };
      }
    }
  }

  /** Attempts that were about to start do not, unless the change is stored. */
  async function commit(change: Change, starting: readonly ReadyAttempt[]): Promise<SureResult> {
    let result: SureResult | undefined;
    try {
      result = await commitSurely(store, change);
      return result;
    } finally {
      if (result?.type !== "ok") for (const ready of starting) deps.attempts.giveUp(ready);
      // After a failure, too: only the store knows whether the change was written.
      if (result?.type !== "ok" && result?.type !== "over_budget") cache.drop(change.runId);
      // A duplicate may be our own earlier change, whose answer was lost.
      if (result === undefined || result.type === "duplicate") deps.onUnsure(change.runId);
    }
  }
}

async function requireRun(store: Pick<Store, "loadRun">, runId: string): Promise<Run> {
  const stored = await store.loadRun(runId);
  if (stored === undefined) throw new Error(`there is no run ${runId}`);
  return stored.run;
}
