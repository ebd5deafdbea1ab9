// An attempt of this engine from its start to its report: the start is stored, the attempt is carried out, its report is delivered.

import { failpoint } from "../attempt/failpoint.ts";
import { markerOf } from "../attempt/attempt-files.ts";
import type { CarriedEnd, CarriedPorts, FoundCarrier } from "../attempt/carriers.ts";
import { createMailbox, type Mailbox } from "../attempt/mailbox.ts";
import { waitingMessages } from "../core/run/message.ts";
import { cleanFacts } from "../attempt/clean-facts.ts";
import type { AttemptJob, AttemptPorts } from "../attempt/job.ts";
import { holdsBranch, isPerStage } from "../attempt/stage-workspace.ts";
import { escapedReport, strayFacts } from "../attempt/strays.ts";
import type { ReportedUsage } from "../core/budget/budget.ts";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { Report } from "../core/flow/outcome.ts";
import type { Stray } from "../runner/runner.ts";
import { attemptFacts } from "../core/attempt-facts.ts";
import { optional } from "../core/optional.ts";
import { messageOf, type Result } from "../core/result.ts";
import type { Actor } from "../core/run/event.ts";
import { liveAnswer } from "../core/run/live-question.ts";
import { permissionAnswer } from "../core/run/permission.ts";
import { workspaceMode } from "../core/run/run-settings.ts";
import type { Run } from "../core/run/run.ts";
import { findWork } from "../core/run/sequence.ts";
import type { SignalBody } from "../core/run/signal.ts";
import { isRunning } from "../core/run/startable.ts";
import { jobOf } from "./attempt-job.ts";
import { interruptedUsage } from "../attempt/interrupted-usage.ts";
import { type Attempts, finishId, type LiveAttempt, type TokenHolder } from "./attempts.ts";
import type { EngineOptions, ObservedAttempt } from "./options.ts";
import type { WorkspacePreparation } from "./prepare-workspaces.ts";
import type { ReadyAttempt } from "./ready-attempt.ts";
import { interruptId } from "./reconcile.ts";
import type { RightOfWay } from "./right-of-way.ts";
import type { Delivered } from "./runs.ts";
import type { LiveBudgets, OpenRoom } from "./schedule/live-budgets.ts";
import type { Holds } from "./schedule/holds.ts";
import type { Metering } from "./schedule/metering.ts";
import { startId } from "./schedule/schedule.ts";
import type { Slots } from "./slots.ts";
import { createUsageNews, type UsageNews } from "./usage-news.ts";
import type { RunWorkspaces } from "./workspaces-of-run.ts";

export type AttemptWork = {
  /** An attempt whose start is stored. */
  start(resolved: ResolvedFlow, run: Run, ready: ReadyAttempt): void;
  /** An attempt that a dead engine started, and that works on or has reported meanwhile. */
  adopt(resolved: ResolvedFlow, run: Run, ready: ReadyAttempt, found: Adopted): Promise<void>;
  /** An attempt that waited for its slot: stores its start first. */
  startQueued(ready: ReadyAttempt): Promise<void>;
};

export type Adopted = Exclude<FoundCarrier, { type: "gone" }>;

export type AttemptWorkDeps = {
  readonly options: EngineOptions;
  readonly attempts: Attempts;
  readonly slots: Pick<Slots, "keep" | "letGo">;
  readonly flowOf: (hash: string) => Promise<ResolvedFlow>;
  /** Delivers until the store takes it. */
  readonly persist: (runId: string, body: SignalBody, actor: Actor, signalId: string) => Promise<Delivered>;
  /** Before its outcome is stored: other nodes must find what the attempt left. */
  /** Before the first attempt of a run here: what other nodes left of it. */
  readonly bringCopies: (resolved: ResolvedFlow, run: Run) => Promise<Result<null> | undefined>;
  readonly keepCopies: (runId: string, stage: string, attempt: number) => Promise<void>;
  readonly workspaces: Pick<RunWorkspaces, "closeUnused" | "recover" | "recoverOne">;
  /** Removes what closed workspaces of the run have left, when no agent is about to begin. */
  readonly sweepLater: (resolved: ResolvedFlow, run: Run) => void;
  readonly rightOfWay: Pick<RightOfWay, "claim" | "give">;
  readonly preparation: Pick<WorkspacePreparation, "begun" | "ended">;
  readonly metering: Pick<Metering, "noteReport" | "nextRunner">;
  readonly holds: Pick<Holds, "noteUses">;
  readonly liveBudgets: Pick<LiveBudgets, "open">;
  readonly isClosed: () => boolean;
  /** Updates queue and alarms to match the run, and starts the ready attempts. */
  readonly follow: (runId: string) => Promise<void>;
  /** Slots, locks or limits have changed: others may start. */
  readonly onFreed: () => void;
  /** The attempt is gone, and callers may find the engine idle. */
  readonly onGone: () => void;
};

export function createAttemptWork(given: AttemptWorkDeps): AttemptWork {
  const deps: WorkDeps = { ...given, usageNews: createUsageNews(given.options) };
  return {
    start: (resolved, run, ready) => start(deps, resolved, run, ready),
    adopt: (resolved, run, ready, found) => adopt(deps, resolved, run, ready, found),
    startQueued: (ready) => startQueued(deps, ready),
  };
}

type WorkDeps = AttemptWorkDeps & { readonly usageNews: UsageNews };

async function startQueued(deps: WorkDeps, ready: ReadyAttempt): Promise<void> {
  const { runId, stage, attempt } = ready;
  // What the attempt before has left to do, and the search for further tickets, begin at the same moment.
  deps.rightOfWay.claim(ready.key);
  try {
    const delivered = await deps.persist(runId, { type: "attempt.started", stage, attempt }, "engine", startId(ready));
    if (delivered.ignored === undefined && !delivered.duplicate && isRunning(delivered.run, ready)) {
      start(deps, await deps.flowOf(delivered.run.flowHash), delivered.run, ready);
      return;
    }
    giveUp(deps, ready);
    // The start may have become a wait for a limit: now that the attempt is given up, its alarm can be set.
    await deps.follow(runId);
  } catch (error) {
    giveUp(deps, ready);
    deps.options.onError(runId, error);
  }
}

function giveUp({ attempts, rightOfWay }: WorkDeps, ready: ReadyAttempt): void {
  attempts.giveUp(ready);
  rightOfWay.give(ready.key);
}

function start(deps: WorkDeps, resolved: ResolvedFlow, run: Run, ready: ReadyAttempt): void {
  failpoint("start-committed");
  deps.rightOfWay.claim(ready.key);
  const { live, token } = deps.attempts.work(ready, holderOf(resolved, run, ready));
  // Its prompt holds those that wait now.
  const messages = mailboxOf(deps, live, waitingMessages(run, ready.stage));
  begin(deps, { resolved, run, ready, live, messages }, (atWork) => carryOut(deps, atWork, token));
}

/** Until its carrier has what it was owed: an engine that says it is ready has passed on every message that waited. */
function adopt(deps: WorkDeps, resolved: ResolvedFlow, run: Run, ready: ReadyAttempt, found: Adopted): Promise<void> {
  const live = deps.attempts.adopt(ready, holderOf(resolved, run, ready), found.token);
  const messages = mailboxOf(deps, live, []);
  messages.put(waitingMessages(run, ready.stage));
  const attended = Promise.withResolvers<void>();
  begin(deps, { resolved, run, ready, live, messages }, async (atWork) => {
    try {
      await openRoom(deps, atWork);
      return found.carryOn(carriedPorts(deps, atWork));
    } finally {
      attended.resolve();
    }
  });
  return attended.promise;
}

function mailboxOf({ persist }: WorkDeps, live: LiveAttempt, known: Parameters<typeof createMailbox>[0]): Mailbox {
  const { runId, stage, attempt } = live.ready;
  const messages = createMailbox(known, async (number, way) => {
    await persist(runId, { type: "message.heard", stage, attempt, number, way }, "engine", `heard:${number}`);
  });
  live.messages = messages;
  return messages;
}

function holderOf({ flow }: ResolvedFlow, run: Run, { runId, stage, attempt, track }: ReadyAttempt): TokenHolder {
  const agent = findWork(flow, run, track, stage)?.shownAgent ?? stage;
  return { runId, stage, attempt, agent, subjectId: run.subject.id };
}

type AttemptAtWork = {
  readonly resolved: ResolvedFlow;
  /** As it was when the attempt started. */
  readonly run: Run;
  readonly ready: ReadyAttempt;
  readonly live: LiveAttempt;
  readonly messages: Mailbox;
  /** The last usage that the attempt has reported. */
  spent?: ReportedUsage;
  /** What budgets leave to it; absent until the books were read, and without a limit. */
  room?: OpenRoom;
};

type Carry = (atWork: AttemptAtWork) => Promise<CarriedEnd>;

function begin(deps: WorkDeps, atWork: AttemptAtWork, carry: Carry): void {
  const { resolved, run, ready, live } = atWork;
  // A workspace that outlives the attempt keeps its branch: no other run can have it until it is released.
  if (holdsBranch(resolved, run, ready)) deps.slots.keep(run.id, ready.slot.locks);
  void work(deps, atWork, carry)
    .catch((error: unknown) => {
      deps.options.onError(run.id, error);
      deps.onFreed();
    })
    .finally(() => {
      deps.usageNews.end(observedOf(atWork));
      atWork.room?.close();
      deps.attempts.forget(live);
      deps.rightOfWay.give(ready.key);
      deps.preparation.ended(ready);
      deps.onGone();
    });
}

async function work(deps: WorkDeps, atWork: AttemptAtWork, carry: Carry): Promise<void> {
  const { resolved, run, ready, live } = atWork;
  const beganMs = deps.options.clock.monotonicMs();
  const carried = await endOf(deps, atWork, carry);
  // It works on; the next engine adopts it.
  if (carried.type === "left") return;
  if (carried.type === "lost") return takeBack(deps, atWork, carried.why);
  // Usage reported on the way counts where the report has none.
  await deps.keepCopies(run.id, ready.stage, ready.attempt);
  const { report } = carried;
  const { usage = atWork.spent } = report;
  const whole = usage === undefined ? report : { ...report, usage };
  deps.metering.noteReport(resolved, run, ready, whole, beganMs);
  if (deps.attempts.endWork(live) === "reporting") {
    const delivered = await deliverReport(deps, atWork, whole);
    // A stored report has already started others. Starting here too would take the slot of this run's next attempt.
    if (delivered.ignored !== undefined || delivered.duplicate) deps.onFreed();
    if (delivered.ignored !== undefined) await deliverUsage(deps, ready, usage);
    await closeShared(deps, atWork, delivered.run);
    return;
  }
  await deliverUsage(deps, ready, usage);
  // An engine that closes leaves the attempt as running: the next engine marks it interrupted and starts it again.
  const now = deps.isClosed() ? undefined : await deps.options.store.loadRun(run.id);
  if (now !== undefined) await closeShared(deps, atWork, now.run);
  deps.onFreed();
}

/** Even after an error an attempt has a report. */
async function endOf(deps: WorkDeps, atWork: AttemptAtWork, carry: Carry): Promise<CarriedEnd> {
  try {
    const carried = await carry(atWork);
    if (carried.type === "reported") await warnOfStrays(deps, atWork.ready, carried.strays);
    return carried;
  } catch (error) {
    deps.options.onError(atWork.run.id, error);
    return { type: "reported", report: { cause: "engine_error", reason: messageOf(error) }, strays: [] };
  }
}

/** The process of the attempt is gone, and its agent may not be: the stage is ready again when nothing of it works any more. */
async function takeBack(deps: WorkDeps, { resolved, run, ready, live, spent }: AttemptAtWork, why: string) {
  const { stage, attempt } = ready;
  const { processes, store, storeId } = deps.options;
  const record = (await store.attempts(run.id)).find((each) => each.stage === stage && each.attempt === attempt);
  const identity = record === undefined ? null : attemptFacts(record).process;
  await processes.killLeftovers(identity ?? { marker: markerOf(storeId, run.id, stage, attempt) });
  const isWanted = deps.attempts.endWork(live) === "reporting";
  if (isWanted) {
    const now = (await store.loadRun(run.id))?.run ?? run;
    if (deps.attempts.countOf(run.id) === 1) await deps.workspaces.recover(resolved, now);
    else await deps.workspaces.recoverOne(resolved, now, ready);
    const body: SignalBody = { type: "attempt.interrupted", stage, attempt, cause: why };
    await deps.persist(run.id, body, "engine", interruptId(ready));
  }
  const used = record === undefined ? spent : await interruptedUsage(deps.options, resolved, run, record, spent);
  await deliverUsage(deps, ready, used);
  deps.onFreed();
}

async function carryOut(deps: WorkDeps, atWork: AttemptAtWork, token: string): Promise<CarriedEnd> {
  const { options, workspaces } = deps;
  const { resolved, run, ready, live } = atWork;
  const job = jobOf(options, resolved, run, ready, token);
  await openRoom(deps, atWork);
  const brought = await deps.bringCopies(resolved, run);
  if (brought?.ok === false) {
    const { code: cause, message: reason } = brought.error;
    return { type: "reported", report: { cause, reason }, strays: [] };
  }
  await options.beforeWork?.(run);
  // A person's edit of the ticket's file may just have ended the run. Nobody reads this report.
  if (live.abort.signal.aborted)
    return { type: "reported", report: { cause: "canceled", reason: "no longer wanted" }, strays: [] };
  // The stage before may have kept its workspace for a follow-up that did not come: its branch is needed now.
  await workspaces.closeUnused(resolved, run);
  if (options.carriers?.takes(job) === true) return options.carriers.carryOut(job, carriedPorts(deps, atWork));
  return carryHere(deps, atWork, job);
}

/** In this process, which the attempt does not outlive. */
async function carryHere(deps: WorkDeps, atWork: AttemptAtWork, job: AttemptJob): Promise<CarriedEnd> {
  const { options } = deps;
  const straysIn = options.processes.watchStrays?.();
  let folder: string | undefined;
  const carried = carriedPorts(deps, atWork);
  const report = await options.runStage(job, {
    ...carried,
    runners: options.runners,
    builtins: options.builtins,
    workspaces: options.workspaces(workspaceMode(atWork.resolved, atWork.run)),
    note(facts) {
      folder = attemptFacts({ facts }).workspace ?? folder;
      return carried.note(facts);
    },
    outward: outwardLog(deps, atWork),
    readYaml: options.readYaml,
    now: () => options.clock.now(),
  });
  const strays = folder === undefined ? [] : (straysIn?.(folder) ?? []);
  if (strays.length > 0) await carried.note(strayFacts(strays));
  return { type: "reported", report: escapedReport(report, strays), strays };
}

/** What an attempt asks of this engine, wherever it is carried out. */
function carriedPorts(deps: WorkDeps, atWork: AttemptAtWork): CarriedPorts {
  const { options, usageNews } = deps;
  const { resolved, run, ready, live, messages } = atWork;
  const { stage, attempt } = ready;
  const observed = observedOf(atWork);
  return {
    earlierAttempts: () => options.store.attempts(run.id),
    note(facts) {
      if (facts["process"] !== undefined) {
        deps.rightOfWay.give(ready.key);
        deps.preparation.begun(resolved, run, ready);
      }
      return options.store.noteAttempt(run.id, stage, attempt, cleanFacts(facts, options.runners.redact));
    },
    offerCheck: (check) => void (live.check = check),
    offerLeave: (leave) => void (live.leave = leave),
    checkCache: {
      find: (key, now) => options.store.findCheck(key, now),
      save: (check) => options.store.saveCheck(check),
    },
    isSettled: async () => live.state.at === "lingering",
    ...askingPorts(deps, atWork),
    messages,
    room: () => atWork.room?.now() ?? [],
    watchRoom: (onChange) => atWork.room?.watch(onChange),
    spent(reported) {
      atWork.spent = reported;
      atWork.room?.spent(reported.usage);
      usageNews.note(observed, reported);
    },
    observed(event) {
      const state = run.tracks[ready.track];
      const runner = state?.at === "running" ? state.metered?.runner : undefined;
      if (event.type === "limits" && runner !== undefined) deps.holds.noteUses(runner, event.uses, run.id);
      options.onAgentEvent?.(observed, event);
    },
    signal: live.abort.signal,
  };
}

/** A request is stored under its own name: an agent that asks again, after a restart too, asks no second time. */
function askingPorts(
  { persist, options: { answersInPlace = false } }: WorkDeps,
  { run: { id: runId }, ready: { stage, attempt }, live }: AttemptAtWork,
): Pick<CarriedPorts, "askPermission" | "expirePermission" | "askQuestion" | "expireQuestion"> {
  const where = { stage, attempt };
  /** The answer as soon as the run has one; undefined where the run does not take the request. */
  async function asked<T>(
    body: SignalBody & { readonly request: string },
    id: string,
    read: (run: Run, asked: typeof where & { readonly request: string }) => T | undefined,
  ): Promise<T | undefined> {
    const answered = Promise.withResolvers<T>();
    live.asks = (now) => {
      const answer = read(now, { ...where, request: body.request });
      if (answer !== undefined) answered.resolve(answer);
    };
    const { run: now, ignored } = await persist(runId, body, "engine", `${id}:${stage}:${attempt}:${body.request}`);
    if (ignored !== undefined) return undefined;
    live.asks(now);
    return answered.promise;
  }
  async function expired(type: "permission.expired" | "question.expired", id: string, request: string): Promise<Run> {
    const body: SignalBody = { type, ...where, request };
    return (await persist(runId, body, "engine", `${id}:${stage}:${attempt}:${request}`)).run;
  }
  return {
    askPermission: async (question) =>
      (await asked({ type: "permission.requested", ...where, ...question }, "permission", permissionAnswer)) ?? "deny",
    async expirePermission(request) {
      const now = await expired("permission.expired", "permission-expired", request);
      return permissionAnswer(now, { ...where, request }) ?? "deny";
    },
    async askQuestion(question) {
      if (!answersInPlace) return { type: "none" };
      const body = { type: "question.requested", ...where, ...question } as const;
      return (await asked(body, "question", liveAnswer)) ?? { type: "none" };
    },
    async expireQuestion(request) {
      const now = await expired("question.expired", "question-expired", request);
      return liveAnswer(now, { ...where, request }) ?? { type: "none" };
    },
  };
}

async function openRoom({ liveBudgets }: WorkDeps, atWork: AttemptAtWork): Promise<void> {
  const room = await liveBudgets.open(atWork.run, atWork.ready);
  if (room !== null) atWork.room = room;
}

function observedOf({ resolved, run, ready }: AttemptAtWork): ObservedAttempt {
  const { stage, attempt } = ready;
  return { run, stage, attempt, agent: holderOf(resolved, run, ready).agent };
}

/** They are not ended: nothing proves whose they are. */
async function warnOfStrays(
  { options, persist }: WorkDeps,
  { runId, stage, attempt }: ReadyAttempt,
  strays: readonly Stray[],
): Promise<void> {
  if (strays.length === 0) return;
  const named = strays.slice(0, 5).map(({ pid, name }) => `${pid} (${name})`);
  const message = `${stage}, attempt ${attempt}, left processes in its folder that Passrail cannot end for certain: ${named.join(", ")}. Look at them, and end them with kill. Until then nothing else works in this run's workspace.`;
  const body: SignalBody = { type: "warning.noticed", code: "process_left", message };
  await persist(runId, body, "engine", `left:${stage}:${attempt}`).catch((error: unknown) =>
    options.onError(runId, error),
  );
}

/** An act outside is permitted by the same store that takes a cancel: whichever is stored first counts. */
function outwardLog({ options, persist }: WorkDeps, { run, ready, live }: AttemptAtWork): AttemptPorts["outward"] {
  const { stage, attempt } = ready;
  return {
    async intend(act) {
      const held = await options.beforeOutward?.(run);
      if (held !== undefined) return { type: "held", why: held };
      if (live.abort.signal.aborted) return { type: "refused", why: "it is no longer wanted" };
      const untrusted = options.withdrawnTrust?.(run);
      if (untrusted !== undefined) return { type: "untrusted", why: untrusted };
      const body: SignalBody = { type: "outward.intended", stage, attempt, ...act };
      const { ignored, run: now } = await persist(run.id, body, "engine", `intend:${act.key}`);
      if (ignored === undefined) return { type: "granted" };
      return { type: now.paused && now.status === "running" ? "held" : "refused", why: ignored };
    },
    async see(key, sight) {
      await persist(run.id, { type: "outward.seen", key, sight }, "engine", `seen:${key}`);
    },
  };
}

async function deliverReport(deps: WorkDeps, atWork: AttemptAtWork, report: Report): Promise<Delivered> {
  const { resolved, run, ready } = atWork;
  const { track, stage, attempt } = ready;
  const found = findWork(resolved.flow, run, track, stage);
  const actor: Actor = found?.kind === "agent" ? `agent:${found.shownAgent}` : "engine";
  const next = await deps.metering.nextRunner(resolved, run, ready, report);
  const body: SignalBody = { type: "attempt.finished", stage, attempt, report, ...optional({ next }) };
  return deps.persist(run.id, body, actor, finishId(ready));
}

/** The usage of an attempt counts even when its report does not. */
async function deliverUsage(
  deps: WorkDeps,
  { runId, stage, attempt }: ReadyAttempt,
  reported: ReportedUsage | undefined,
): Promise<void> {
  if (reported === undefined) return;
  try {
    const body: SignalBody = { type: "attempt.spent", stage, attempt, reported };
    await deps.persist(runId, body, "engine", `spent:${stage}:${attempt}`);
  } catch (error) {
    deps.options.onError(runId, error);
  }
}

/**
 * After a stage with a workspace of its own: its files are removed. Where a follow-up may use it and none does, it is closed, and its branch
 * is free.
 */
async function closeShared(
  { options, workspaces, slots, sweepLater, onFreed }: WorkDeps,
  { resolved, ready }: AttemptAtWork,
  now: Run,
): Promise<void> {
  if (!isPerStage(resolved, now)) return;
  sweepLater(resolved, now);
  if (!holdsBranch(resolved, now, ready)) return;
  try {
    await workspaces.closeUnused(resolved, now);
  } catch (error) {
    options.onError(now.id, error);
  }
  const isHeld = Object.entries(now.tracks).some(
    ([track, at]) => (at.at === "ready" || at.at === "running") && holdsBranch(resolved, now, { ...at, track }),
  );
  if (!isHeld) {
    slots.letGo(now.id);
    onFreed();
  }
}
