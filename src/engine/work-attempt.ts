// An attempt of this engine from its start to its report: the start is stored, the attempt is carried out, its report is delivered.

import { failpoint } from "../attempt/failpoint.ts";
import { holdsBranch, isPerStage } from "../attempt/stage-workspace.ts";
import type { ToldUsage } from "../core/budget/budget.ts";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { Report } from "../core/flow/outcome.ts";
import { messageOf } from "../core/result.ts";
import type { Actor } from "../core/run/event.ts";
import { workspaceMode } from "../core/run/run-settings.ts";
import type { Run } from "../core/run/run.ts";
import { findWork } from "../core/run/sequence.ts";
import type { SignalBody } from "../core/run/signal.ts";
import { isRunning } from "../core/run/startable.ts";
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

export type AttemptWorkParts = {
  readonly options: EngineOptions;
  readonly attempts: Attempts;
  readonly slots: Pick<Slots, "keep" | "letGo">;
  readonly flowOf: (hash: string) => Promise<ResolvedFlow>;
  /** Delivers until the store takes it. */
  readonly persist: (runId: string, body: SignalBody, actor: Actor, signalId: string) => Promise<Delivered>;
  readonly workspaces: Pick<RunWorkspaces, "closeUnused">;
  readonly metering: Pick<Metering, "noteReport">;
  readonly isClosed: () => boolean;
  /** Slots, locks or limits have changed: others may start. */
  readonly onFreed: () => void;
};

export function createAttemptWork(parts: AttemptWorkParts): AttemptWork {
  const { options, attempts } = parts;
  return { start, startQueued };

  async function startQueued(ready: ReadyAttempt): Promise<void> {
    const { runId, stage, attempt } = ready;
    try {
      const delivered = await parts.persist(
        runId,
        { type: "attempt.started", stage, attempt },
        "engine",
        startId(ready),
      );
      if (delivered.ignored === undefined && !delivered.duplicate && isRunning(delivered.run, ready)) {
        start(await parts.flowOf(delivered.run.flowHash), delivered.run, ready);
        return;
      }
    } catch (error) {
      options.onError(runId, error);
      attempts.giveUp(ready);
      return;
    }
    attempts.giveUp(ready);
    parts.onFreed();
  }

  function start(resolved: ResolvedFlow, run: Run, ready: ReadyAttempt): void {
    failpoint("start-committed");
    // A workspace that outlives the attempt keeps its branch: no other run can have it until it is released.
    if (holdsBranch(resolved, run, ready)) parts.slots.keep(run.id, ready.slot.locks);
    const { runId, stage, attempt } = ready;
    const agent = findWork(resolved.flow, run, ready.track, stage)?.shownAgent ?? stage;
    const { live, token } = attempts.work(ready, { runId, stage, attempt, agent, subjectId: run.subject.id });
    void work(resolved, run, live, token)
      .catch((error: unknown) => options.onError(runId, error))
      .finally(() => {
        attempts.forget(live);
        parts.onFreed();
      });
  }

  async function work(resolved: ResolvedFlow, run: Run, live: LiveAttempt, token: string): Promise<void> {
    const { ready } = live;
    const beganMs = options.clock.monotonicMs();
    const report = await reportOf(resolved, run, live, token);
    parts.metering.noteReport(resolved, run, ready, report, beganMs);
    if (attempts.endWork(live) === "reporting") {
      const delivered = await deliverReport(resolved, run, ready, report);
      if (delivered.ignored !== undefined) await deliverUsage(ready, report.usage);
      await closeShared(resolved, delivered.run, ready);
      return;
    }
    await deliverUsage(ready, report.usage);
    // An engine that closes leaves the attempt as running: the next engine marks it interrupted and starts it again.
    const now = parts.isClosed() ? undefined : await options.store.loadRun(run.id);
    if (now !== undefined) await closeShared(resolved, now.run, ready);
  }

  /** The attempt's report, whatever happens. Usage that was reported on the way counts where the report has none. */
  async function reportOf(resolved: ResolvedFlow, run: Run, live: LiveAttempt, token: string): Promise<Report> {
    let told: ToldUsage | undefined;
    let report: Report;
    try {
      report = await carryOut(resolved, run, live, token, (usage) => (told = usage));
    } catch (error) {
      options.onError(run.id, error);
      report = { cause: "engine_error", reason: messageOf(error) };
    }
    return report.usage === undefined && told !== undefined ? { ...report, usage: told } : report;
  }

  async function carryOut(
    resolved: ResolvedFlow,
    run: Run,
    live: LiveAttempt,
    token: string,
    spent: (told: ToldUsage) => void,
  ): Promise<Report> {
    const { stage, attempt } = live.ready;
    const job = jobOf(options, resolved, run, live.ready, token);
    await options.beforeWork?.(run);
    // The stage before may have kept its workspace for a follow-up that did not come: its branch is needed now.
    await parts.workspaces.closeUnused(resolved, run);
    return options.runStage(job, {
      players: options.players,
      builtins: options.builtins,
      workspaces: options.workspaces(workspaceMode(resolved, run)),
      earlierAttempts: () => options.store.attempts(run.id),
      note: (facts) => options.store.noteAttempt(run.id, stage, attempt, facts),
      isSettled: () => live.state.at === "lingering",
      spent,
      readYaml: options.readYaml,
      now: () => options.clock.now(),
      signal: live.abort.signal,
    });
  }

  /** After a stage whose workspace a follow-up may use: where none does, the workspace is closed and its branch is free. */
  async function closeShared(resolved: ResolvedFlow, run: Run, ready: ReadyAttempt): Promise<void> {
    if (!isPerStage(resolved, run) || !holdsBranch(resolved, run, ready)) return;
    try {
      await parts.workspaces.closeUnused(resolved, run);
    } catch (error) {
      options.onError(run.id, error);
    }
    const isHeld = Object.entries(run.tracks).some(
      ([track, at]) => (at.at === "ready" || at.at === "running") && holdsBranch(resolved, run, { ...at, track }),
    );
    if (!isHeld) parts.slots.letGo(run.id);
  }

  function deliverReport(resolved: ResolvedFlow, run: Run, ready: ReadyAttempt, report: Report): Promise<Delivered> {
    const { track, stage, attempt } = ready;
    const found = findWork(resolved.flow, run, track, stage);
    const actor: Actor = found?.kind === "agent" ? `agent:${found.shownAgent}` : "engine";
    return parts.persist(run.id, { type: "attempt.finished", stage, attempt, report }, actor, finishId(ready));
  }

  /** The usage of an attempt counts even when its report does not. */
  async function deliverUsage({ runId, stage, attempt }: ReadyAttempt, told: ToldUsage | undefined): Promise<void> {
    if (told === undefined) return;
    try {
      const body: SignalBody = { type: "attempt.spent", stage, attempt, told };
      await parts.persist(runId, body, "engine", `spent:${stage}:${attempt}`);
    } catch (error) {
      options.onError(runId, error);
    }
  }
}
