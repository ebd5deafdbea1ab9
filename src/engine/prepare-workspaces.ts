// While agents work, the workspaces that probably come next are got ready: those of attempts that wait for a slot, and where each stage has
// its own, the one of the stage after. A wrong guess costs a checkout; a right one saves it between two agents. Nothing is left of it when no
// attempt works and none waits.

import { branchRequest, isPerStage } from "../attempt/stage-workspace.ts";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { Run } from "../core/run/run.ts";
import { prepareLaunch } from "../git/launch.ts";
import { projectOf, workspaceMode } from "../core/run/run-settings.ts";
import type { WorkspaceRequest } from "../workspace/workspace.ts";
import type { Activity } from "./activity.ts";
import type { Attempts } from "./attempts.ts";
import type { EngineOptions } from "./options.ts";
import type { RunFlows } from "./flows.ts";
import type { ReadyAttempt } from "./ready-attempt.ts";
import type { Runs } from "./runs.ts";
import type { Schedule } from "./schedule/schedule.ts";

export type WorkspacePreparation = {
  /** The agent of this attempt has begun. */
  begun(resolved: ResolvedFlow, run: Run, ready: ReadyAttempt): void;
  /** The attempt is gone; the one that follows it has started. */
  ended(ready: ReadyAttempt): void;
  /** An attempt may wait for a slot now. */
  look(): void;
  /** Resolves when nothing is left of what was got ready. */
  close(): Promise<void>;
};

export type PreparationDeps = {
  readonly options: Pick<EngineOptions, "workspaces" | "onError">;
  readonly activity: Pick<Activity, "add">;
  readonly attempts: Pick<Attempts, "isEmpty">;
  readonly schedule: Pick<Schedule, "waiting">;
  readonly runs: Pick<Runs, "load">;
  readonly flows: Pick<RunFlows, "of">;
};

/** A program that ends sooner, such as a check, leaves no time to get anything ready. */
const WORKED_MS = 250;
/** Attempts in line that are looked at. */
const AHEAD = 3;

type AtWork = { readonly resolved: ResolvedFlow; readonly run: Run; readonly stage: string };

export function createWorkspacePreparation(deps: PreparationDeps): WorkspacePreparation {
  const { options, activity } = deps;
  const atWork = new Map<string, AtWork>();
  let timer: NodeJS.Timeout | undefined;
  let preparing = Promise.resolve();
  let hasPrepared = false;
  let isClosed = false;

  const stop = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const soon = (): void => {
    if (timer !== undefined || isClosed || atWork.size === 0) return;
    timer = setTimeout(() => {
      timer = undefined;
      prepareLaunch();
      preparing = preparing.then(prepareAll).catch((error: unknown) => options.onError(null, error));
      activity.add(preparing);
    }, WORKED_MS).unref();
  };

  /** Of what is under way, too. */
  const dropUnused = async (): Promise<void> => {
    await preparing;
    if (!hasPrepared || !isUnused()) return;
    hasPrepared = false;
    await options.workspaces("worktree").dropPrepared?.();
  };
  const isUnused = (): boolean => isClosed || (deps.attempts.isEmpty && deps.schedule.waiting().length === 0);

  async function prepareAll(): Promise<void> {
    // A project needs one at a time: with many tracks at work each would otherwise only look for what is there already.
    const seen = new Set<string>();
    for (const { resolved, run, stage } of atWork.values()) {
      const isNext = isPerStage(resolved, run) && resolved.flow.stages.at(-1)?.id !== stage;
      if (!isNext || seen.has(projectOf(run))) continue;
      seen.add(projectOf(run));
      await prepareFor(resolved, run);
    }
    for (const { runId, slot } of deps.schedule.waiting().slice(0, AHEAD)) {
      // Only a worker carries it out.
      if ((slot.place?.labels.length ?? 0) > 0) continue;
      const run = await deps.runs.load(runId);
      if (run !== undefined) await prepareFor(await deps.flows.of(run.flowHash), run);
    }
  }

  async function prepareFor(resolved: ResolvedFlow, run: Run): Promise<void> {
    const { prepare } = options.workspaces(workspaceMode(resolved, run));
    const request: WorkspaceRequest = branchRequest(resolved.flow, run, projectOf(run));
    // The files of several repositories are put together when the workspace opens.
    if (isUnused() || prepare === undefined || request.joint !== undefined) return;
    hasPrepared = true;
    await prepare(request);
  }

  return {
    begun(resolved, run, { key, stage }) {
      atWork.set(key, { resolved, run, stage });
      soon();
    },
    ended({ key }) {
      atWork.delete(key);
      if (atWork.size === 0) stop();
      if (isUnused()) activity.add(dropUnused().catch((error: unknown) => options.onError(null, error)));
    },
    look() {
      if (atWork.size > 0 && deps.schedule.waiting().length > 0) soon();
    },
    async close() {
      isClosed = true;
      stop();
      await dropUnused();
    },
  };
}
