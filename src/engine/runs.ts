// Signals become stored changes here: load the run, decide by the pure transition, commit, cache. One signal at a time per run, so that
// concurrent ones do not compete for the version.

import type { BudgetUse } from "../core/budget/budget.ts";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import { optional } from "../core/optional.ts";
import type { Command } from "../core/run/command.ts";
import type { Actor } from "../core/run/event.ts";
import type { Run } from "../core/run/run.ts";
import type { Signal, SignalBody } from "../core/run/signal.ts";
import { type Step, transition } from "../core/run/transition.ts";
import type { Change, CommitResult, Store, StoredRun } from "../store/store.ts";
import type { Attempts, LiveAttempt } from "./attempts.ts";
import type { Clock } from "./clock.ts";
import type { RunFlows } from "./flows.ts";
import type { ReadyAttempt } from "./ready-attempt.ts";
import { createRunCache } from "./run-cache.ts";
import type { MeteredStart, Metering, Refusals } from "./schedule/metering.ts";
import type { Schedule, DecisionWithStarts } from "./schedule/schedule.ts";

/** What came of a signal. `ignored` says why it changed nothing; `duplicate`: the store has it already. */
export type Delivered = { readonly run: Run; readonly ignored?: string; readonly duplicate: boolean };

/** A decision that the store has. */
export type StoredDecision = {
  readonly resolved: ResolvedFlow;
  readonly signal: Signal;
  readonly step: Step;
  /** Attempts that started with it. */
  readonly starting: readonly ReadyAttempt[];
  /** The attempt of ours whose verdict came from elsewhere with this signal. */
  readonly settled: LiveAttempt | undefined;
  /** Limits of which this change uses a great part. */
  readonly near: readonly BudgetUse[];
};

export type Runs = {
  /** Repeating a signal with the same id changes nothing. */
  deliver(runId: string, body: SignalBody, actor: Actor, signalId?: string): Promise<Delivered>;
  load(runId: string): Promise<Run | undefined>;
  /** The run as another process stored it; undefined when this process knows it already. */
  reload(runId: string): Promise<Run | undefined>;
  readonly isBusy: boolean;
  /** Resolves when the signals at hand are decided. */
  settled(): Promise<void>;
};

export type RunsParts = {
  readonly store: Pick<Store, "commit" | "loadRun">;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly flows: Pick<RunFlows, "of">;
  readonly attempts: Pick<Attempts, "settledBy" | "isSuperseded" | "giveUp">;
  readonly schedule: Pick<Schedule, "startable" | "startWithin">;
  readonly metering: Pick<Metering, "metersOf" | "meterSignal">;
  /** Whether attempts may start now. */
  readonly starts: () => boolean;
  /** Whether a command is stored; notices that have no receiver are not. */
  readonly isKept: (command: Command) => boolean;
  readonly onStored: (decision: StoredDecision) => void;
  readonly onTurnEnded: () => void;
};

export function createRuns(parts: RunsParts): Runs {
  const { store } = parts;
  const cache = createRunCache();
  const turns = new Map<string, Promise<unknown>>();

  return {
    deliver(runId, body, actor, signalId = parts.newId()) {
      const before = turns.get(runId) ?? Promise.resolve();
      const turn = before.then(() => decide(runId, { ...body, id: signalId, at: parts.clock.now(), actor }));
      const settled = turn.catch(() => undefined);
      turns.set(runId, settled);
      void settled.then(() => {
        if (turns.get(runId) === settled) turns.delete(runId);
        parts.onTurnEnded();
      });
      return turn;
    },
    load: async (runId) => (cache.get(runId) ?? (await store.loadRun(runId)))?.run,
    async reload(runId) {
      await (turns.get(runId) ?? Promise.resolve());
      const stored = await store.loadRun(runId);
      if (stored === undefined || (cache.get(runId)?.version ?? -1) >= stored.version) return undefined;
      cache.drop(runId);
      return stored.run;
    },
    get isBusy() {
      return turns.size > 0;
    },
    settled: async () => void (await Promise.all(turns.values())),
  };

  async function decide(runId: string, asked: Signal): Promise<Delivered> {
    const refused: Refusals = new Map();
    for (;;) {
      const stored = cache.get(runId) ?? (await store.loadRun(runId));
      const resolved = await parts.flows.of(flowHashOf(runId, stored, asked));
      const metered = meterAsked(resolved, stored, asked, refused);
      const { signal, reserved } = metered instanceof Promise ? await metered : metered;
      const decided = transition(resolved.flow, stored?.run, signal);
      const { ignored } = decided;
      // An attempt's own report after its verdict came from elsewhere leaves no trace.
      if (stored !== undefined && ignored !== undefined && parts.attempts.isSuperseded(runId, signal))
        return { run: stored.run, duplicate: false, ignored };
      const settled = ignored === undefined ? parts.attempts.settledBy(runId, signal) : undefined;
      const starts = startWith(resolved, decided, signal, refused, settled);
      const { step, starting, reservations } = starts instanceof Promise ? await starts : starts;
      const reserve = reserved === undefined || ignored !== undefined ? reservations : [reserved, ...reservations];
      const result = await commit(
        {
          runId,
          expectedVersion: stored?.version ?? 0,
          signalIds: [signal.id],
          events: step.events,
          run: step.run,
          enqueue: step.commands.filter(parts.isKept),
          ...(reserve.length === 0 ? {} : { reserve }),
        },
        starting,
      );
      switch (result.type) {
        case "ok":
          cache.put({ run: step.run, version: result.version });
          parts.onStored({ resolved, signal, step, starting, settled, near: result.near ?? [] });
          return { run: step.run, duplicate: false, ...optional({ ignored }) };
        case "over_budget":
          refused.set(`${result.stage}/${result.attempt}`, result);
          break;
        case "conflict":
          refused.clear();
          break;
        case "duplicate":
          return { run: (await requireRun(runId)).run, duplicate: true };
      }
    }
  }

  /** A start that the engine asks for by a signal of its own is metered like any other. */
  function meterAsked(
    resolved: ResolvedFlow,
    stored: StoredRun | undefined,
    asked: Signal,
    refused: Refusals,
  ): MeteredStart | Promise<MeteredStart> {
    return asked.type === "attempt.started" && asked.outside !== true && stored !== undefined
      ? parts.metering.meterSignal(resolved, stored.run, asked, refused)
      : { signal: asked };
  }

  /** Adds the starts that are possible at once. After a verdict from elsewhere nothing starts: the old program still runs. */
  function startWith(
    resolved: ResolvedFlow,
    decided: Step,
    { at }: Signal,
    refused: Refusals,
    settled: LiveAttempt | undefined,
  ): DecisionWithStarts | Promise<DecisionWithStarts> {
    const ready = settled === undefined && parts.starts() ? parts.schedule.startable(resolved, decided.run) : [];
    if (ready.length === 0) return { step: decided, starting: [], reservations: [] };
    const start = (meters: Awaited<ReturnType<Metering["metersOf"]>>): DecisionWithStarts =>
      parts.schedule.startWithin({ resolved, decided, ready, meters, refused, at });
    const meters = parts.metering.metersOf(resolved, decided.run, ready);
    return meters === undefined ? start(undefined) : meters.then(start);
  }

  /** Attempts that were about to start do not, unless the change is stored. */
  async function commit(change: Change, starting: readonly ReadyAttempt[]): Promise<CommitResult> {
    let result: CommitResult | undefined;
    try {
      result = await store.commit(change);
      return result;
    } finally {
      if (result?.type !== "ok") for (const ready of starting) parts.attempts.giveUp(ready);
      // After a failure, too: only the store knows whether the change was written.
      if (result?.type !== "ok" && result?.type !== "over_budget") cache.drop(change.runId);
    }
  }

  async function requireRun(runId: string): Promise<StoredRun> {
    const stored = await store.loadRun(runId);
    if (stored === undefined) throw new Error(`there is no run ${runId}`);
    return stored;
  }
}

function flowHashOf(runId: string, stored: StoredRun | undefined, asked: Signal): string {
  if (stored !== undefined) return stored.run.flowHash;
  if (asked.type !== "run.requested") throw new Error(`there is no run ${runId}`);
  return asked.flowHash;
}
