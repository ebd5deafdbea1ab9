// An attempt of this engine from its start to its report: the start is stored, the attempt is carried out, its report is delivered.

import { failpoint } from "../attempt/failpoint.ts";
import type { AttemptPorts } from "../attempt/job.ts";
import { holdsBranch, isPerStage } from "../attempt/stage-workspace.ts";
import type { ReportedUsage } from "../core/budget/budget.ts";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { Report } from "../core/flow/outcome.ts";
import type { Stray } from "../runner/runner.ts";
import { attemptFacts } from "../core/attempt-facts.ts";
import type { JsonObject } from "../core/json.ts";
import { messageOf } from "../core/result.ts";
import type { Actor } from "../core/run/event.ts";
import { workspaceMode } from "../core/run/run-settings.ts";
import type { Run } from "../core/run/run.ts";
import { findWork } from "../core/run/sequence.ts";
import type { SignalBody } from "../core/run/signal.ts";
import { isRunning } from "../core/run/startable.ts";
import { stripAnsi } from "../core/secrets/strip-ansi.ts";
import { jobOf } from "./attempt-job.ts";
import { type Attempts, finishId, type LiveAttempt } from "./attempts.ts";
import type { EngineOptions } from "./options.ts";
import type { ReadyAttempt } from "./ready-attempt.ts";
import type { Delivered } from "./runs.ts";
import type { Metering } from "./schedule/metering.ts";
import { startId } from "./schedule/schedule.ts";
import type { Slots } from "./slots.ts";
import type { RunWorkspaces } from "./workspaces-of-run.ts";

export type AttemptWork = {
  /** An attempt whose start is stored. */
  start(resolved: ResolvedFlow, run: Run, ready: ReadyAttempt): void;
  /** An attempt that waited for its slot: stores its start first. */
  startQueued(ready: ReadyAttempt): Promise<void>;
};

export type AttemptWorkDeps = {
  readonly options: EngineOptions;
  readonly attempts: Attempts;
  readonly slots: Pick<Slots, "keep" | "letGo">;
  readonly flowOf: (hash: string) => Promise<ResolvedFlow>;
  /** Delivers until the store takes it. */
  readonly persist: (runId: string, body: SignalBody, actor: Actor, signalId: string) => Promise<Delivered>;
  readonly workspaces: Pick<RunWorkspaces, "closeUnused">;
  readonly metering: Pick<Metering, "noteReport">;
  readonly isClosed: () => boolean;
  /** Updates queue and alarms to match the run, and starts the ready attempts. */
  readonly follow: (runId: string) => Promise<void>;
  /** Slots, locks or limits have changed: others may start. */
  readonly onFreed: () => void;
  /** The attempt is gone, and callers may find the engine idle. */
  readonly onGone: () => void;
};

export function createAttemptWork(deps: AttemptWorkDeps): AttemptWork {
  return {
    start: (resolved, run, ready) => start(deps, resolved, run, ready),
    startQueued: (ready) => startQueued(deps, ready),
  };
}

async function startQueued(deps: AttemptWorkDeps, ready: ReadyAttempt): Promise<void> {
  const { runId, stage, attempt } = ready;
  try {
    const delivered = await deps.persist(runId, { type: "attempt.started", stage, attempt }, "engine", startId(ready));
    if (delivered.ignored === undefined && !delivered.duplicate && isRunning(delivered.run, ready)) {
      start(deps, await deps.flowOf(delivered.run.flowHash), delivered.run, ready);
      return;
    }
    deps.attempts.giveUp(ready);
    // The start may have become a wait for a limit: now that the attempt is given up, its alarm can be set.
    await deps.follow(runId);
  } catch (error) {
    deps.attempts.giveUp(ready);
    deps.options.onError(runId, error);
  }
}

function start(deps: AttemptWorkDeps, resolved: ResolvedFlow, run: Run, ready: ReadyAttempt): void {
  failpoint("start-committed");
  // A workspace that outlives the attempt keeps its branch: no other run can have it until it is released.
  if (holdsBranch(resolved, run, ready)) deps.slots.keep(run.id, ready.slot.locks);
  const { runId, stage, attempt } = ready;
  const agent = findWork(resolved.flow, run, ready.track, stage)?.shownAgent ?? stage;
  const { live, token } = deps.attempts.work(ready, { runId, stage, attempt, agent, subjectId: run.subject.id });
  void work(deps, { resolved, run, ready, live, token })
    .catch((error: unknown) => {
      deps.options.onError(runId, error);
      deps.onFreed();
    })
    .finally(() => {
      deps.attempts.forget(live);
      deps.onGone();
    });
}

type AttemptAtWork = {
  readonly resolved: ResolvedFlow;
  /** As it was when the attempt started. */
  readonly run: Run;
  readonly ready: ReadyAttempt;
  readonly live: LiveAttempt;
  readonly token: string;
};

async function work(deps: AttemptWorkDeps, atWork: AttemptAtWork): Promise<void> {
  const { resolved, run, ready, live } = atWork;
  const beganMs = deps.options.clock.monotonicMs();
  const report = await reportOf(deps, atWork);
  deps.metering.noteReport(resolved, run, ready, report, beganMs);
  if (deps.attempts.endWork(live) === "reporting") {
    const delivered = await deliverReport(deps, atWork, report);
    // A stored report has already started others. Starting here too would take the slot of this run's next attempt.
    if (delivered.ignored !== undefined || delivered.duplicate) deps.onFreed();
    if (delivered.ignored !== undefined) await deliverUsage(deps, ready, report.usage);
    await closeShared(deps, atWork, delivered.run);
    return;
  }
  await deliverUsage(deps, ready, report.usage);
  // An engine that closes leaves the attempt as running: the next engine marks it interrupted and starts it again.
  const now = deps.isClosed() ? undefined : await deps.options.store.loadRun(run.id);
  if (now !== undefined) await closeShared(deps, atWork, now.run);
  deps.onFreed();
}

/** The attempt's report, even after an error. Usage reported on the way counts where the report has none. */
async function reportOf(deps: AttemptWorkDeps, atWork: AttemptAtWork): Promise<Report> {
  let reported: ReportedUsage | undefined;
  let report: Report;
  try {
    report = await carryOut(deps, atWork, (usage) => (reported = usage));
  } catch (error) {
    deps.options.onError(atWork.run.id, error);
    report = { cause: "engine_error", reason: messageOf(error) };
  }
  return report.usage === undefined && reported !== undefined ? { ...report, usage: reported } : report;
}

async function carryOut(
  deps: AttemptWorkDeps,
  atWork: AttemptAtWork,
  spent: (reported: ReportedUsage) => void,
): Promise<Report> {
  const { options, workspaces } = deps;
  const { resolved, run, ready, live, token } = atWork;
  const { stage, attempt } = ready;
  const straysIn = options.processes.watchStrays?.();
  let folder: string | undefined;
  const job = jobOf(options, resolved, run, ready, token);
  await options.beforeWork?.(run);
  // A person's edit of the ticket's file may just have ended the run. Nobody reads this report.
  if (live.abort.signal.aborted) return { cause: "canceled", reason: "no longer wanted" };
  // The stage before may have kept its workspace for a follow-up that did not come: its branch is needed now.
  await workspaces.closeUnused(resolved, run);
  const report = await options.runStage(job, {
    runners: options.runners,
    builtins: options.builtins,
    workspaces: options.workspaces(workspaceMode(resolved, run)),
    earlierAttempts: () => options.store.attempts(run.id),
    note(facts) {
      folder = attemptFacts({ facts }).workspace ?? folder;
      return options.store.noteAttempt(run.id, stage, attempt, cleanFacts(facts, options.runners.redact));
    },
    offerCheck: (check) => void (live.check = check),
    checkCache: {
      find: (key, now) => options.store.findCheck(key, now),
      save: (check) => options.store.saveCheck(check),
    },
    isSettled: () => live.state.at === "lingering",
    outward: outwardLog(deps, atWork),
    spent,
    observed: (event) => options.onAgentEvent?.({ run, stage, attempt, agent: job.stage.shownAgent }, event),
    readYaml: options.readYaml,
    now: () => options.clock.now(),
    signal: live.abort.signal,
  });
  if (folder !== undefined) await warnOfStrays(deps, ready, straysIn?.(folder) ?? []);
  return report;
}

/** They are not ended: nothing proves whose they are. */
async function warnOfStrays(
  { options, persist }: AttemptWorkDeps,
  { runId, stage, attempt }: ReadyAttempt,
  strays: readonly Stray[],
): Promise<void> {
  if (strays.length === 0) return;
  const named = strays.slice(0, 5).map(({ pid, name }) => `${pid} (${name})`);
  const message = `${stage}, attempt ${attempt}, left processes in its folder that Passrail cannot end for certain: ${named.join(", ")}. Look at them, and end them with kill.`;
  const body: SignalBody = { type: "warning.noticed", code: "process_left", message };
  await persist(runId, body, "engine", `left:${stage}:${attempt}`).catch((error: unknown) =>
    options.onError(runId, error),
  );
}

/** The one fact that is a sentence; the others are names, paths and numbers that the engine needs as they are. */
function cleanFacts(facts: JsonObject, redact: (text: string) => string): JsonObject {
  const { detail } = facts;
  return typeof detail === "string" ? { ...facts, detail: redact(stripAnsi(detail)) } : facts;
}

/** An act outside is permitted by the same store that takes a cancel: whichever is stored first counts. */
function outwardLog(
  { options, persist }: AttemptWorkDeps,
  { run, ready, live }: AttemptAtWork,
): AttemptPorts["outward"] {
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

function deliverReport(
  deps: AttemptWorkDeps,
  { resolved, run, ready }: AttemptAtWork,
  report: Report,
): Promise<Delivered> {
  const { track, stage, attempt } = ready;
  const found = findWork(resolved.flow, run, track, stage);
  const actor: Actor = found?.kind === "agent" ? `agent:${found.shownAgent}` : "engine";
  return deps.persist(run.id, { type: "attempt.finished", stage, attempt, report }, actor, finishId(ready));
}

/** The usage of an attempt counts even when its report does not. */
async function deliverUsage(
  deps: AttemptWorkDeps,
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

/** After a stage whose workspace a follow-up may use: where none does, the workspace is closed and its branch is free. */
async function closeShared(
  { options, workspaces, slots, onFreed }: AttemptWorkDeps,
  { resolved, ready }: AttemptAtWork,
  now: Run,
): Promise<void> {
  if (!isPerStage(resolved, now) || !holdsBranch(resolved, now, ready)) return;
  try {
    await workspaces.closeUnused(resolved, now);
  } catch (error) {
    options.onError(now.id, error);
  }
  const isHeld = Object.entries(now.tracks).some(
    ([track, at]) => (at.at === "ready" || at.at === "running") && holdsBranch(resolved, now, { ...at, track }),
  );
  if (isHeld) return;
  slots.letGo(now.id);
  onFreed();
}
