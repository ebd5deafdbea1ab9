// The only place where things happen: a signal comes in, the pure transition decides, the store makes it durable, and then the run's
// attempts are brought in line with its state. Any process may deliver signals; only the one that performs starts attempts.

import { setTimeout as delay } from "node:timers/promises";
import type { Processes } from "../runner/runner.ts";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { BudgetUse, Reservation, ToldUsage } from "../core/budget/budget.ts";
import { type Command, isDurable } from "../core/run/command.ts";
import type { Actor, RunEvent } from "../core/run/event.ts";
import type { JsonObject } from "../core/json.ts";
import type { Report } from "../core/flow/outcome.ts";
import { playOf } from "../core/flow/runner-choice.ts";
import { messageOf, type Result } from "../core/result.ts";
import { isEnded, type Run, type Subject } from "../core/run/run.ts";
import { findWork } from "../core/run/sequence.ts";
import type { Signal, SignalBody } from "../core/run/signal.ts";
import { type Step, transition } from "../core/run/transition.ts";
import type { Notifier } from "../notify/notify.ts";
import { type CommitResult, type Store, StoreError, type StoredRun } from "../store/store.ts";
import type { Workspaces } from "../workspace/workspace.ts";
import type { WorkspaceMode } from "../core/flow/workspace-mode.ts";
import { createAlarms } from "./alarms.ts";
import { attemptFiles, markerOf } from "../attempt/attempt-files.ts";
import { type AttemptIdentity, createAttemptTokens } from "./attempt-tokens.ts";
import { branchOf } from "../core/run/branch.ts";
import type { Builtin } from "../attempt/builtins.ts";
import { type BudgetOptions, createBudgets, type Meter } from "./budgets.ts";
import type { Clock } from "./clock.ts";
import { failpoint } from "../attempt/failpoint.ts";
import { createHolds } from "./holds.ts";
import { createLingering } from "./lingering.ts";
import { createMetering, type Refusals, type StartSignal } from "./metering.ts";
import { createOutbox } from "./outbox.ts";
import { isOutside } from "../core/run/outside.ts";
import { createQueue, type ReadyAttempt } from "./queue.ts";
import { recover } from "./recover.ts";
import type { Players } from "../runner/runners.ts";
import { projectOf, repositorySettings, workspaceMode } from "../core/run/run-settings.ts";
import type { StageJob } from "../attempt/run-stage.ts";
import { createSlots, type SlotRequest } from "./slots.ts";
import { holdsBranch, isPerStage } from "../attempt/stage-workspace.ts";
import { createRunWorkspaces } from "./workspaces-of-run.ts";

export type EngineOptions = BudgetOptions & {
  readonly store: Store;
  readonly clock: Clock;
  /** Attempts at once. */
  readonly slots: number;
  /** Attempts at once per agent, where set. */
  readonly agentLimits: Readonly<Record<string, number>>;
  /** Carries out one attempt; `runStage` outside of tests and benchmarks. */
  readonly runStage: (job: StageJob) => Promise<Report>;
  readonly players: Players;
  /** Stages that are done without an agent, by the name that flows give in `do`. */
  readonly builtins: Readonly<Record<string, Builtin>>;
  /** Awaited before an attempt gets its workspace: what must be visible first, such as the status in a ticket's file. */
  readonly beforeWork?: (run: Run) => Promise<void>;
  readonly processes: Processes;
  readonly workspaces: (mode: WorkspaceMode) => Workspaces;
  /** Workspaces stay after success, failure and cancel, for people to look at. */
  readonly keepWorkspaces?: boolean;
  /** Null where nobody is to be told beyond the inbox. */
  readonly notifier: Notifier | null;
  /** Folder of the store; attempts' files lie below it. */
  readonly home: string;
  readonly storeId: string;
  /** Fresh randomness for ids and nonces. */
  readonly newId: () => string;
  /** Where agents can reach the API; empty without a daemon. */
  readonly url: () => string;
  readonly readYaml: (text: string) => Result<unknown>;
  /** How long a program may go on whose verdict came through the API; half a minute if not given. */
  readonly lingerMs?: number;
  /** Told about every stored change, after it is durable. */
  readonly onChange?: (run: Run, events: readonly RunEvent[]) => void;
  /** Told about runs that other processes changed, once that is noticed. */
  readonly onElsewhere?: (run: Run) => void;
  /** A bug in one run must not end the others; it is reported here. */
  readonly onError: (runId: string, error: unknown) => void;
};

export type RunRequest = {
  readonly runId: string;
  readonly resolved: ResolvedFlow;
  readonly subject: Subject;
  readonly facts: JsonObject;
  readonly actor: Actor;
};

export type Delivery = { readonly run: Run; readonly ignored?: string; readonly duplicate: boolean };

export type Engine = {
  startRun(request: RunRequest): Promise<Delivery>;
  /** Delivers one signal; repeating it with the same id changes nothing. */
  deliver(runId: string, body: SignalBody, actor: Actor, signalId?: string): Promise<Delivery>;
  /** Begins to perform: recovers what a dead engine left, then starts whatever is ready. Needs the engine lock. */
  perform(): Promise<void>;
  /** Resolves when nothing runs and nothing can start. With a run: what other runs wait for is left out, it may take hours. */
  idle(runId?: string): Promise<void>;
  /** The attempt that holds this token, as long as it works and its verdict is not in. */
  attemptOf(token: string): AttemptIdentity | undefined;
  /** Looks for changes that other processes stored. */
  catchUp(): Promise<void>;
  /** Starts nothing more; resolves when what works has ended by itself. What became ready is started by the next engine. */
  drain(): Promise<void>;
  /** Ends every attempt and stops starting; what was running is recovered by the next engine. */
  close(): Promise<void>;
};

type Live = {
  readonly attempt: ReadyAttempt;
  readonly abort: AbortController;
  readonly slot: SlotRequest;
  done: Promise<void>;
};

/** Until the store is asked again after it could not write. */
const AGAIN_MS = 1000;

/** What may be over in a moment. Telling the same again is safe: a signal's id is applied once. */
const PASSING_FAULTS: ReadonlySet<StoreError["code"]> = new Set(["disk_full", "store_busy", "store_io"]);

const RESTING_AT_MOST = 500;

const LINGER_MS = 30_000;

export function createEngine(options: EngineOptions): Engine {
  const { store, clock } = options;
  const slots = createSlots(options.slots);
  const queue = createQueue();
  const budgets = createBudgets(store, options);
  const holds = createHolds(clock);
  const metering = createMetering({ budgets, holds, newId: options.newId });
  const alarms = createAlarms(clock, wake);
  const tokens = createAttemptTokens(options.newId);
  const lingering = createLingering(slots, options.lingerMs ?? LINGER_MS);
  const live = new Map<string, Live>();
  /** Attempts of ours whose verdict came through the API; their own report is not asked for any more. */
  const settledElsewhere = new Set<string>();
  const reporting = new Set<string>();
  const liveOf = new Map<string, readonly string[]>();
  const cache = new Map<string, StoredRun>();
  const resting = new Set<string>();
  const flows = new Map<string, ResolvedFlow>();
  const savedFlows = new Map<string, Promise<void>>();
  const turns = new Map<string, Promise<unknown>>();
  const idlers: { readonly runId: string | undefined; readonly resolve: () => void }[] = [];
  let performing = false;
  let closing = false;
  let draining = false;
  let background = 0;
  let seenSeq = 0;
  const runWorkspaces = createRunWorkspaces(options);
  const outbox = createOutbox({
    ...options,
    release: (resolved, run) => runWorkspaces.release(resolved, run),
    loadRun: async (runId) => (cache.get(runId) ?? (await store.loadRun(runId)))?.run,
    flowOf,
    attemptsEnded: (runId) => Promise.all((liveOf.get(runId) ?? []).flatMap((key) => live.get(key)?.done ?? [])),
    onReleased(runId) {
      slots.letGo(runId);
      pump();
    },
  });

  return {
    async startRun({ runId, resolved, subject, facts, actor }) {
      await saveFlow(resolved);
      const delivery = await deliver(
        runId,
        { type: "run.requested", runId, flowHash: resolved.hash, subject, facts },
        actor,
        "run.requested",
      );
      failpoint("run-committed");
      return delivery;
    },
    deliver,
    async perform() {
      performing = true;
      seenSeq = await store.lastSeq();
      await recover({
        ...options,
        interrupt: (runId, stage, attempt, cause) =>
          deliver(
            runId,
            { type: "attempt.interrupted", stage, attempt, cause },
            "engine",
            `interrupt:${stage}:${attempt}`,
          ),
        recoverWorkspaces: async (run) => runWorkspaces.recover(await flowOf(run.flowHash), run),
        align: async (run) => align(await flowOf(run.flowHash), run, []),
      });
      pump();
      post();
      inBackground(runWorkspaces.reportOrphans().catch((error: unknown) => options.onError("", error)));
    },
    idle(runId) {
      return isIdle(runId) ? Promise.resolve() : new Promise((resolve) => idlers.push({ runId, resolve }));
    },
    attemptOf: (token) => tokens.find(token),
    catchUp,
    async drain() {
      draining = true;
      while (live.size > 0) await Promise.all([...live.values()].map(({ done }) => done));
    },
    async close() {
      closing = true;
      performing = false;
      alarms.stop();
      outbox.stop();
      const running = [...live.values()];
      for (const { abort } of running) abort.abort("engine stopped");
      await Promise.all(running.map(({ done }) => done));
      await Promise.all(turns.values());
      // What is under way (telling people, removing a worktree) ends before the store is closed.
      while (background > 0) await new Promise((resolve) => setImmediate(resolve));
    },
  };

  /** One signal at a time per run, so that concurrent ones do not fight over the version. */
  function deliver(
    runId: string,
    body: SignalBody,
    actor: Actor,
    signalId: string = options.newId(),
  ): Promise<Delivery> {
    const before = turns.get(runId) ?? Promise.resolve();
    const turn = before.then(() => decide(runId, { ...body, id: signalId, at: clock.now(), actor }));
    const settled = turn.catch(() => undefined);
    turns.set(runId, settled);
    void settled.then(() => {
      if (turns.get(runId) === settled) turns.delete(runId);
      rest();
    });
    return turn;
  }

  async function decide(runId: string, asked: Signal): Promise<Delivery> {
    const refused: Refusals = new Map();
    for (;;) {
      const stored = cache.get(runId) ?? (await store.loadRun(runId));
      if (stored === undefined && asked.type !== "run.requested") throw new Error(`there is no run ${runId}`);
      const flowHash = stored?.run.flowHash ?? (asked as Signal & { type: "run.requested" }).flowHash;
      const resolved = await flowOf(flowHash);
      const { signal, reserved } =
        asked.type === "attempt.started" && asked.outside !== true && stored !== undefined
          ? await metering.meterStart(resolved, stored.run, asked, refused)
          : { signal: asked, reserved: undefined };
      const first = transition(resolved.flow, stored?.run, signal);
      if (stored !== undefined && isTooLate(runId, signal, first))
        return { run: stored.run, duplicate: false, ...ignoredBy(first) };
      const ended = endedElsewhere(runId, signal, first);
      const meters = performing ? metering.metersOf(resolved, first) : undefined;
      const { step, begun, reserve } =
        ended === undefined
          ? startNow(resolved, first, signal, meters && (await meters), refused)
          : { step: first, begun: [], reserve: [] };
      const expectedVersion = stored?.version ?? 0;
      const change = { runId, expectedVersion, signalIds: [signal.id], events: step.events, run: step.run };
      const reservations = reserved === undefined || first.ignored !== undefined ? reserve : [reserved, ...reserve];
      let result: CommitResult;
      try {
        result = await store.commit({
          ...change,
          enqueue: step.commands.filter(isPosted),
          ...(reservations.length === 0 ? {} : { reserve: reservations }),
        });
      } catch (error) {
        // What was about to start does not; whether the change was stored is read anew the next time.
        for (const { slot } of begun) slots.release(slot);
        cache.delete(runId);
        throw error;
      }
      if (result.type !== "ok") {
        for (const { slot } of begun) slots.release(slot);
        if (result.type === "over_budget") {
          refused.set(`${result.stage}/${result.attempt}`, result);
          continue;
        }
        cache.delete(runId);
        refused.clear();
        if (result.type === "conflict") continue;
        const now = await store.loadRun(runId);
        if (now === undefined) throw new Error(`there is no run ${runId}`);
        return { run: now.run, duplicate: true };
      }
      remember({ run: step.run, version: result.version });
      budgets.note(step.events);
      options.onChange?.(step.run, step.events);
      if (ended !== undefined) linger(ended);
      for (const { attempt, slot } of begun) launch(resolved, step.run, attempt, slot);
      if (signal.type === "attempt.finished") failpoint("finish-committed");
      if (signal.type === "item.answered") failpoint("answer-committed");
      for (const use of result.near ?? []) warnOf(step.run, use);
      align(resolved, step.run, step.commands);
      return { run: step.run, duplicate: false, ...ignoredBy(first) };
    }
  }

  /** An attempt's own report after its verdict came from elsewhere: not worth a word. */
  function isTooLate(runId: string, signal: Signal, { ignored }: Step): boolean {
    if (signal.type !== "attempt.finished" || signal.id !== finishId(signal)) return false;
    return ignored !== undefined && settledElsewhere.has(`${runId}/${signal.stage}/${signal.attempt}`);
  }

  /** The key of an attempt of ours whose verdict comes from elsewhere with this signal. */
  function endedElsewhere(runId: string, signal: Signal, { ignored }: Step): string | undefined {
    if (signal.type !== "attempt.finished" || signal.id === finishId(signal)) return undefined;
    const key = `${runId}/${signal.stage}/${signal.attempt}`;
    return ignored === undefined && reporting.has(key) ? key : undefined;
  }

  /** Its program may end by itself. The next attempt waits for that. */
  function linger(key: string): void {
    settledElsewhere.add(key);
    const entry = live.get(key);
    if (entry === undefined) return;
    const { runId, stage, attempt } = entry.attempt;
    tokens.withdraw(runId, stage, attempt);
    lingering.begin(key, runId, () => entry.abort.abort("its verdict is in"));
  }

  /** Runs at work, and the last of those that are not: they are answered, told of and cleaned up soon. The rest is in the store. */
  function remember(stored: StoredRun): void {
    const { id, status } = stored.run;
    cache.set(id, stored);
    resting.delete(id);
    if (status === "running") return;
    resting.add(id);
    const [oldest] = resting;
    if (resting.size <= RESTING_AT_MOST || oldest === undefined) return;
    resting.delete(oldest);
    cache.delete(oldest);
  }

  /** What can start at once starts in the same transaction: one handoff, one commit. */
  function startNow(
    resolved: ResolvedFlow,
    first: Step,
    signal: Signal,
    meters: ReadonlyMap<string, Meter> | undefined,
    refused: Refusals,
  ) {
    const begun: { attempt: ReadyAttempt; slot: SlotRequest }[] = [];
    const reserve: Reservation[] = [];
    let step = first;
    if (!performing || draining) return { step, begun, reserve };
    for (const command of first.commands) {
      if (command.type !== "start-attempt" || isLater(step.run, command.track)) continue;
      const attempt = readyAttempt(resolved, step.run, command);
      if (attempt === undefined || queue.hasBefore(attempt) || slots.full) continue;
      const meter = meters?.get(command.stage);
      const start = metering.meteredStart(startSignal(attempt, signal.at), step.run, command.track, meter, refused);
      const starts = start.signal.type === "attempt.started";
      if (starts && !slots.tryTake(attempt.slot)) continue;
      const next = transition(resolved.flow, step.run, start.signal);
      step = {
        run: next.run,
        events: [...step.events, ...next.events],
        commands: [...step.commands, ...next.commands],
      };
      if (starts) begun.push({ attempt, slot: attempt.slot });
      if (start.reserved !== undefined) reserve.push(start.reserved);
    }
    return { step, begun, reserve };
  }

  function startSignal(attempt: ReadyAttempt, at: string): StartSignal {
    const { stage, attempt: number } = attempt;
    return { type: "attempt.started", stage, attempt: number, id: `start:${stage}:${number}`, at, actor: "engine" };
  }

  /** A person is told once that a limit is nearly used up. */
  function warnOf(run: Run, { scope, key, unit, used, limit }: BudgetUse): void {
    const known = run.warned?.some(
      (each) => each.scope === scope && each.key === key && each.unit === unit && each.limit === limit,
    );
    if (known === true) return;
    const body: SignalBody = { type: "budget.neared", scope, key, unit, used, limit };
    const told = deliver(run.id, body, "engine", `warn:${scope}:${key}:${unit}:${limit}`);
    inBackground(told.catch((error: unknown) => options.onError(run.id, error)));
  }

  /** Whether the track's stage is ready, but not yet. */
  function isLater(run: Run, name: string): boolean {
    const track = run.tracks[name];
    return track?.at === "ready" && track.notBefore !== undefined && track.notBefore > clock.now();
  }

  /** The time of some attempts has come. */
  function wake(): void {
    const due = alarms.takeDue();
    for (const attempt of due) queue.add(attempt);
    if (due.length > 0) pump();
  }

  /** Makes what is running equal to what the run says: queues what is ready, ends what is no longer wanted. */
  function align(resolved: ResolvedFlow, run: Run, commands: readonly Command[]): void {
    if (commands.some(isPosted)) post();
    if (!performing) return;
    for (const key of liveOf.get(run.id) ?? []) {
      const entry = live.get(key);
      if (entry === undefined || isCurrent(run, entry.attempt)) continue;
      if (!lingering.has(key) || run.status === "canceled") entry.abort.abort("no longer wanted");
    }
    queue.drop(run.id, (attempt) => !isReady(run, attempt));
    alarms.drop(run.id, (attempt) => !isReady(run, attempt));
    if (!run.paused && !isEnded(run)) {
      for (const [name, track] of Object.entries(run.tracks)) {
        if (track.at !== "ready") continue;
        const attempt = readyAttempt(resolved, run, {
          type: "start-attempt",
          track: name,
          stage: track.stage,
          attempt: track.attempt,
        });
        if (attempt === undefined || queue.has(attempt.key)) continue;
        if (track.notBefore === undefined || !alarms.set(attempt, track.notBefore)) queue.add(attempt);
      }
    }
    pump();
  }

  /** Refills free slots, in fair order. */
  function pump(): void {
    if (!performing || closing || draining) return;
    for (const attempt of queue.takeStartable(slots)) {
      inBackground(begin(attempt));
    }
    rest();
  }

  /** Starts an attempt that had to wait for its slot. */
  async function begin(attempt: ReadyAttempt): Promise<void> {
    try {
      const started = startSignal(attempt, clock.now());
      const { runId, stage, attempt: number } = attempt;
      const delivery = await insist(runId, () =>
        deliver(runId, { type: "attempt.started", stage, attempt: number }, "engine", started.id),
      );
      if (delivery.ignored !== undefined || delivery.duplicate || !isCurrent(delivery.run, attempt)) {
        slots.release(attempt.slot);
        pump();
        return;
      }
      launch(await flowOf(delivery.run.flowHash), delivery.run, attempt, attempt.slot);
    } catch (error) {
      slots.release(attempt.slot);
      options.onError(attempt.runId, error);
    }
  }

  /** A full disk or a locked file passes. What has happened meanwhile is told until the store takes it, or a restart would be needed. */
  async function insist(runId: string, tell: () => Promise<Delivery>): Promise<Delivery> {
    background += 1;
    try {
      for (let reported = false; ; reported = true) {
        try {
          return await tell();
        } catch (error) {
          const passes = error instanceof StoreError && PASSING_FAULTS.has(error.code);
          if (!passes || closing) throw error;
          if (!reported) options.onError(runId, error);
          await delay(AGAIN_MS);
        }
      }
    } finally {
      background -= 1;
      rest();
    }
  }

  function launch(resolved: ResolvedFlow, run: Run, attempt: ReadyAttempt, slot: SlotRequest): void {
    failpoint("start-committed");
    // A workspace that outlives the attempt keeps its branch: nobody else can have it until it is released.
    if (holdsBranch(resolved, run, attempt)) slots.keep(run.id, slot.locks);
    const abort = new AbortController();
    const entry: Live = { attempt, abort, slot, done: Promise.resolve() };
    live.set(attempt.key, entry);
    reporting.add(attempt.key);
    liveOf.set(attempt.runId, [...(liveOf.get(attempt.runId) ?? []), attempt.key]);
    if (closing) abort.abort("engine stopped");
    entry.done = work(resolved, run, attempt, abort.signal)
      .catch((error: unknown) => options.onError(attempt.runId, error))
      .finally(() => {
        reporting.delete(attempt.key);
        settledElsewhere.delete(attempt.key);
      });
  }

  async function work(resolved: ResolvedFlow, run: Run, attempt: ReadyAttempt, signal: AbortSignal): Promise<void> {
    let report: Report;
    let told: ToldUsage | undefined;
    const beganMs = clock.monotonicMs();
    try {
      report = await execute(resolved, run, attempt, signal, (usage) => (told = usage));
    } catch (error) {
      options.onError(run.id, error);
      report = { cause: "engine_error", reason: messageOf(error) };
    }
    if (report.usage === undefined && told !== undefined) report = { ...report, usage: told };
    learn(resolved, run, attempt, report, beganMs);
    live.delete(attempt.key);
    const others = (liveOf.get(attempt.runId) ?? []).filter((key) => key !== attempt.key);
    if (others.length > 0) liveOf.set(attempt.runId, others);
    else liveOf.delete(attempt.runId);
    slots.release(attempt.slot);
    tokens.withdraw(attempt.runId, attempt.stage, attempt.attempt);
    lingering.over(attempt.key);
    // An engine that is closing leaves the attempt as running; the next one marks it interrupted and starts it again.
    // One that is no longer wanted has been settled by whatever ended it.
    if (!closing && !signal.aborted && !settledElsewhere.has(attempt.key)) {
      const { stage, attempt: number } = attempt;
      const finished: SignalBody = { type: "attempt.finished", stage, attempt: number, report };
      const work = findWork(resolved.flow, run, attempt.track, stage);
      const actor: Actor = work?.kind === "agent" ? `agent:${work.shownAgent}` : "engine";
      try {
        const delivery = await insist(run.id, () => deliver(run.id, finished, actor, finishId(attempt)));
        if (delivery.ignored !== undefined) await tellSpent(attempt, report.usage);
        await closeShared(resolved, delivery.run, attempt);
      } catch (error) {
        options.onError(run.id, error);
      }
    } else {
      await tellSpent(attempt, report.usage);
      const now = closing ? undefined : await store.loadRun(run.id);
      if (now !== undefined) await closeShared(resolved, now.run, attempt);
    }
    pump();
  }

  /** After a stage whose workspace a follow-up may use: when none does, the workspace goes and its branch is free. */
  async function closeShared(resolved: ResolvedFlow, run: Run, attempt: ReadyAttempt): Promise<void> {
    if (!isPerStage(resolved, run) || !holdsBranch(resolved, run, attempt)) return;
    try {
      await runWorkspaces.closeUnused(resolved, run);
    } catch (error) {
      options.onError(run.id, error);
    }
    const isHeld = Object.entries(run.tracks).some(
      ([track, at]) => (at.at === "ready" || at.at === "running") && holdsBranch(resolved, run, { ...at, track }),
    );
    if (!isHeld) slots.letGo(run.id);
  }

  /** What an attempt has used counts also when nobody waits for its report any more. */
  async function tellSpent({ runId, stage, attempt }: ReadyAttempt, told: ToldUsage | undefined): Promise<void> {
    if (told === undefined) return;
    const body: SignalBody = { type: "attempt.spent", stage, attempt, told };
    try {
      await insist(runId, () => deliver(runId, body, "engine", `spent:${stage}:${attempt}`));
    } catch (error) {
      options.onError(runId, error);
    }
  }

  function learn(resolved: ResolvedFlow, run: Run, attempt: ReadyAttempt, report: Report, beganMs: number): void {
    if (holds.size === 0 && report.resetsAt === undefined) return;
    const stage = findWork(resolved.flow, run, attempt.track, attempt.stage);
    const runner = stage === undefined ? null : budgets.runnerOf(resolved, run, stage);
    if (runner !== null) holds.learn(runner, report, beganMs);
  }

  async function execute(
    resolved: ResolvedFlow,
    run: Run,
    attempt: ReadyAttempt,
    signal: AbortSignal,
    spent: StageJob["spent"],
  ): Promise<Report> {
    const stage = findWork(resolved.flow, run, attempt.track, attempt.stage);
    const track = run.tracks[attempt.track];
    if (stage === undefined || track?.at !== "running") throw new Error(`${attempt.key} is not running`);
    const workspaces = options.workspaces(workspaceMode(resolved, run));
    await options.beforeWork?.(run);
    // The stage before may have kept its workspace for a follow-up that is not wanted: its branch is needed now.
    await runWorkspaces.closeUnused(resolved, run);
    return options.runStage({
      resolved,
      run,
      track: attempt.track,
      stage,
      attempt: attempt.attempt,
      carry: track.carry,
      marker: markerOf(options.storeId, run.id, stage.id, attempt.attempt),
      nonce: options.newId(),
      token: tokens.issue({
        runId: run.id,
        stage: stage.id,
        attempt: attempt.attempt,
        agent: stage.shownAgent,
        subjectId: run.subject.id,
      }),
      isSettled: () => settledElsewhere.has(attempt.key),
      files: attemptFiles(options.home, run.id, stage.id, attempt.attempt),
      home: options.home,
      players: options.players,
      builtins: options.builtins,
      play: playOf(resolved, run.facts, stage),
      repositorySettings: repositorySettings(run),
      now: () => clock.now(),
      project: projectOf(run),
      workspaces,
      keepWorkspaces: options.keepWorkspaces === true,
      url: options.url(),
      earlierAttempts: () => store.attempts(run.id),
      note: (facts) => store.noteAttempt(run.id, stage.id, attempt.attempt, facts),
      readYaml: options.readYaml,
      signal,
      spent,
    });
  }

  /** Notices that nobody will get are not kept; whoever performs elsewhere may have somebody to tell. */
  function isPosted(command: Command): boolean {
    return isDurable(command) && !(command.type === "notify" && performing && options.notifier === null);
  }

  /** Tells people and lets go of workspaces, beside everything else. */
  function post(): void {
    if (performing) inBackground(outbox.perform());
  }

  function inBackground(work: Promise<unknown>): void {
    background += 1;
    void work.finally(() => {
      background -= 1;
      rest();
    });
  }

  async function catchUp(): Promise<void> {
    if (!performing || closing) return;
    wake();
    if (!store.changedElsewhere()) return;
    const changed = new Set<string>();
    for (;;) {
      const events = await store.events({ after: seenSeq, limit: 500 });
      for (const { runId, seq } of events) {
        changed.add(runId);
        seenSeq = seq;
      }
      if (events.length < 500) break;
    }
    for (const runId of changed) {
      await (turns.get(runId) ?? Promise.resolve());
      const stored = await store.loadRun(runId);
      if (stored === undefined || (cache.get(runId)?.version ?? -1) >= stored.version) continue;
      cache.delete(runId);
      options.onElsewhere?.(stored.run);
      align(await flowOf(stored.run.flowHash), stored.run, [{ type: "release-workspace" }]);
    }
  }

  /** A flow does not change under its hash, so writing it once is enough. */
  function saveFlow(resolved: ResolvedFlow): Promise<void> {
    const { hash } = resolved;
    flows.set(hash, resolved);
    const saved = savedFlows.get(hash) ?? store.saveFlow(resolved);
    savedFlows.set(hash, saved);
    saved.catch(() => savedFlows.delete(hash));
    return saved;
  }

  async function flowOf(hash: string): Promise<ResolvedFlow> {
    const known = flows.get(hash);
    if (known !== undefined) return known;
    const loaded = await store.loadFlow(hash);
    if (loaded === undefined) throw new Error(`the flow ${hash} of this run is not in the store`);
    flows.set(hash, loaded);
    return loaded;
  }

  function readyAttempt(
    resolved: ResolvedFlow,
    run: Run,
    command: Command & { type: "start-attempt" },
  ): ReadyAttempt | undefined {
    const stage = findWork(resolved.flow, run, command.track, command.stage);
    if (stage === undefined || isOutside(resolved, run, stage)) return undefined;
    const key = `${run.id}/${stage.id}/${command.attempt}`;
    if (live.has(key)) return undefined;
    const agentLimit = stage.concurrency ?? options.agentLimits[stage.agent] ?? null;
    const place = projectOf(run);
    const inPlace = workspaceMode(resolved, run) === "in-place";
    const locks = [inPlace ? `dir:${place}` : `branch:${place}:${branchOf(resolved.flow, run)}`];
    return {
      key,
      runId: run.id,
      track: command.track,
      stage: stage.id,
      attempt: command.attempt,
      first: Object.keys(run.stages).length <= 1 || stage.yields,
      slot: { runId: run.id, agent: stage.agent, agentLimit, locks },
    };
  }

  function isIdle(runId: string | undefined): boolean {
    const isQuiet = live.size === 0 && background === 0 && turns.size === 0;
    // What waits for its time will start by itself.
    const waits = runId === undefined ? alarms.size > 0 : alarms.waitsFor(runId);
    return isQuiet && ((queue.size === 0 && !waits) || !performing);
  }

  function rest(): void {
    if (idlers.length === 0) return;
    setImmediate(() => {
      const done = idlers.filter(({ runId }) => isIdle(runId));
      for (const idler of done) {
        idlers.splice(idlers.indexOf(idler), 1);
        idler.resolve();
      }
    });
  }
}

/** The engine's own id for the end of an attempt; whoever else reports one has another. */
function finishId({ stage, attempt }: { readonly stage: string; readonly attempt: number }): string {
  return `finish:${stage}:${attempt}`;
}

function ignoredBy({ ignored }: Step): Pick<Delivery, "ignored"> {
  return ignored === undefined ? {} : { ignored };
}

function isCurrent(run: Run, attempt: ReadyAttempt): boolean {
  const track = run.tracks[attempt.track];
  return (
    track !== undefined && track.at === "running" && track.stage === attempt.stage && track.attempt === attempt.attempt
  );
}

function isReady(run: Run, attempt: ReadyAttempt): boolean {
  const track = run.tracks[attempt.track];
  return (
    !run.paused &&
    track !== undefined &&
    track.at === "ready" &&
    track.stage === attempt.stage &&
    track.attempt === attempt.attempt
  );
}
