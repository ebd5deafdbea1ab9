// The engine: signals come in, runs.ts decides and commits, follow-run.ts brings attempts and outbox in line, work-attempt.ts carries out
// attempts. machines.ts puts them together. Any process may deliver signals; only the one that performs starts attempts.

import { cleanFacts } from "../attempt/clean-facts.ts";
import { failpoint } from "../attempt/failpoint.ts";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { JsonObject } from "../core/json.ts";
import { optional } from "../core/optional.ts";
import type { Actor } from "../core/run/event.ts";
import type { Subject } from "../core/run/run.ts";
import type { RunWorkspaces } from "./workspaces-of-run.ts";
import type { SignalBody } from "../core/run/signal.ts";
import { writePinned } from "../file/pinned-copy.ts";
import type { TokenHolder } from "./attempts.ts";
import { checkOutside, type OutsideDeps } from "./check-outside.ts";
import type { EnginePhase } from "./follow-run.ts";
import { createMachines } from "./machines.ts";
import type { EngineOptions } from "./options.ts";
import { readyAttempt } from "./ready-attempt.ts";
import { interruptId } from "./reconcile.ts";
import { interruptedUsage } from "../attempt/interrupted-usage.ts";
import { recover, type Recovery } from "./recover.ts";
import { liftHolds } from "./release-waiting.ts";
import type { Delivered, Runs } from "./runs.ts";

export type RunRequest = {
  readonly runId: string;
  readonly resolved: ResolvedFlow;
  readonly subject: Subject;
  readonly facts: JsonObject;
  readonly actor: Actor;
  /** A person has paused everything: the run begins paused. */
  readonly paused?: { readonly by: Actor; readonly reason: string };
  /** Texts that the facts name by their hashes; the run keeps copies. */
  readonly texts?: readonly string[];
};

export type Engine = {
  startRun(request: RunRequest): Promise<Delivered>;
  /** Delivers one signal; repeating it with the same id changes nothing. `ifVersion`: only while the run has this version. */
  deliver(runId: string, body: SignalBody, actor: Actor, signalId?: string, ifVersion?: number): Promise<Delivered>;
  /** Recovers the attempts of a dead engine, then starts ready attempts. Needs the engine lock. */
  perform(): Promise<void>;
  /** Resolves when nothing runs and nothing can start. With a run: alarms of other runs are left out, they may take hours. */
  idle(runId?: string): Promise<void>;
  /** The attempt that holds this token, until its verdict is in or its program is gone. */
  attemptOf(token: string): TokenHolder | undefined;
  /** Lifts the holds of a runner, for one account or for all, and lets go what waits for it. How many runs were let go; null without a hold. */
  liftHold(lift: { readonly runner: string; readonly account?: string }, actor: Actor): Promise<number | null>;
  /** Resolves when no agent is about to begin, and after a while in any case: for work that nobody waits for. */
  calm(): Promise<void>;
  /** A worker has a free slot: starts what waits for one. */
  wake(): void;
  /** Looks for changes that other processes stored. */
  catchUp(): Promise<void>;
  /** Starts nothing more; resolves when the attempts at work have ended. The next engine starts those that became ready. */
  drain(): Promise<void>;
  /**
   * Stops starting, and ends every attempt; the next engine repeats those that were running. `leave`: attempts with a process of their own
   * work on, and the next engine adopts them.
   */
  close(how?: "end" | "leave"): Promise<void>;
};

/** Before the run exists: a copy without a run harms nobody, a run without its copies could not work. */
async function keepTexts({ home, copies }: EngineOptions, runId: string, texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    const written = writePinned(home, runId, text);
    if (!written.ok) throw new Error(written.error.message);
  }
  await copies?.keepTexts(runId, texts);
}

function bringerOf({ copies }: EngineOptions, flowOf: (hash: string) => Promise<ResolvedFlow>): Recovery["bring"] {
  return async (run) => copies?.bring(await flowOf(run.flowHash), run);
}

function requested({ runId, resolved, subject, facts, paused }: Omit<RunRequest, "actor" | "texts">): SignalBody {
  return { type: "run.requested", runId, flowHash: resolved.hash, subject, facts, ...optional({ paused }) };
}

/** On a busy machine an agent is always about to begin, and free slots wait for tickets. */
const CALM_MS = 500;

export function createEngine(options: EngineOptions): Engine {
  let phase: EnginePhase = "delivering";
  const machines = createMachines(options, () => phase);
  const closing = new AbortController();
  const outside = outsideOf(options, machines, () => phase, closing.signal);
  const { activity, attempts, catchUp, flows, follower, holds, outbox, runs, runWorkspaces, schedule, work } = machines;

  return {
    async startRun({ texts = [], actor, ...request }) {
      const { runId, resolved } = request;
      await keepTexts(options, runId, texts);
      await flows.save(resolved);
      const delivered = await runs.deliver(runId, requested(request), actor, "run.requested");
      failpoint("run-committed");
      return delivered;
    },
    async deliver(runId, body, ...more) {
      const seen = await checkOutside(outside, runId, await attempts.checked(runId, body));
      return runs.deliver(runId, seen, ...more);
    },
    async perform() {
      if (phase === "delivering") phase = "performing";
      await catchUp.begin();
      await recover({
        ...options,
        isStopped: () => phase === "closed",
        interrupt: (runId, stage, attempt, cause) => {
          const body: SignalBody = { type: "attempt.interrupted", stage, attempt, cause };
          return runs.deliver(runId, body, "engine", interruptId({ stage, attempt }));
        },
        recoverWorkspaces: async (run) => runWorkspaces.recover(await flows.of(run.flowHash), run),
        recoverWorkspace: async (run, at) => runWorkspaces.recoverOne(await flows.of(run.flowHash), run, at),
        follow: async (run) => follower.follow(await flows.of(run.flowHash), run),
        bring: bringerOf(options, (hash) => flows.of(hash)),
        adopt: async (run, at, found) => {
          const resolved = await flows.of(run.flowHash);
          const ready = readyAttempt(resolved, run, at, machines.slotRules);
          if (ready === undefined) throw new Error(`${at.stage} of ${run.id} is not carried out here`);
          await work.adopt(resolved, run, ready, found);
        },
        usedBy: async (run, record) => interruptedUsage(options, await flows.of(run.flowHash), run, record),
        note: noteCleaned(options),
        spent: deliverSpent(runs),
      });
      follower.startReady();
      follower.performCommands();
      activity.add(tidyUp(runWorkspaces, options.onError));
    },
    idle: (runId) => activity.idle(runId),
    calm: () => machines.rightOfWay.free(CALM_MS),
    wake: () => follower.startReady(),
    attemptOf: (token) => attempts.holderOf(token),
    liftHold: (lift, actor) => liftHolds({ ...options, runs, holds }, lift, actor),
    async catchUp() {
      if (phase === "delivering" || phase === "closed") return;
      follower.startDue();
      await catchUp.look();
    },
    async drain() {
      if (phase === "performing") phase = "draining";
      await attempts.allGone();
    },
    async close(how = "end") {
      phase = "closed";
      closing.abort("engine stopped");
      schedule.stop();
      outbox.stop();
      attempts[how === "leave" ? "leaveAll" : "endAll"]("engine stopped");
      await attempts.allGone();
      await runs.settled();
      // Notices and worktree removals under way end before the caller closes the store.
      await activity.ended().then(() => machines.preparation.close());
    },
  };
}

function outsideOf(
  options: EngineOptions,
  { runs, flows }: ReturnType<typeof createMachines>,
  phase: () => EnginePhase,
  signal: AbortSignal,
): OutsideDeps {
  return {
    options,
    load: (runId) => runs.load(runId),
    flowOf: (hash) => flows.of(hash),
    performs: () => phase() === "performing" || phase() === "draining",
    signal,
  };
}

async function tidyUp(
  workspaces: Pick<RunWorkspaces, "reportOrphans" | "sweepAll">,
  onError: EngineOptions["onError"],
): Promise<void> {
  try {
    await workspaces.reportOrphans();
    await workspaces.sweepAll();
  } catch (error) {
    onError(null, error);
  }
}

function noteCleaned({ store, runners }: EngineOptions): Recovery["note"] {
  return (runId, stage, attempt, facts) => store.noteAttempt(runId, stage, attempt, cleanFacts(facts, runners.redact));
}

function deliverSpent(runs: Pick<Runs, "deliver">): Recovery["spent"] {
  return (runId, stage, attempt, reported) => {
    const body: SignalBody = { type: "attempt.spent", stage, attempt, reported };
    return runs.deliver(runId, body, "engine", `spent:${stage}:${attempt}`);
  };
}
