// The workspaces of attempts that were cut off: locks that ended programs left are removed, and a workspace of one stage is closed. Only when
// nothing of the attempt works any more.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { Run } from "../core/run/run.ts";
import { projectOf, workspaceMode } from "../core/run/run-settings.ts";
import { findWork } from "../core/run/sequence.ts";
import { type RunningAttempt, runningAttempts } from "../core/run/startable.ts";
import { joinOf, trackBranch } from "../core/run/track-branch.ts";
import { branchRequest, isPerStage, keyOf, trackKey } from "../attempt/stage-workspace.ts";
import { closeAllBut, closeOne, type ClosingOptions, wantedKeys } from "./close-workspaces.ts";

type RecoveryOptions = ClosingOptions & { readonly home: string };

/** Of all attempts that the run has as running. */
export async function recoverAll(options: RecoveryOptions, resolved: ResolvedFlow, run: Run): Promise<void> {
  const running = runningAttempts(run);
  await unlockBranches(options, resolved, run, running);
  if (isPerStage(resolved, run)) {
    await findUnnoted(options, resolved, run, running);
    return closeAllBut(options, resolved, run, wantedKeys(resolved, run, false));
  }
  // A program that was ended in the middle of a commit leaves git's lock, and no later commit would succeed.
  const workspaces = options.workspaces(workspaceMode(resolved, run));
  if (running.length === 0 || workspaces.mode === "in-place") return;
  const { contains: _later, ...request } = branchRequest(resolved.flow, run, projectOf(run));
  const opened = await workspaces.open(request);
  if (opened.ok) await workspaces.unlock(opened.value);
  // Tracks have workspaces of their own.
  for (const other of (await workspaces.left?.(run.id)) ?? []) await workspaces.unlock(other);
}

/** Of one attempt, while others of the run work on: only a workspace that it shares with none of them. */
export async function recoverOne(
  options: RecoveryOptions,
  resolved: ResolvedFlow,
  run: Run,
  at: RunningAttempt,
): Promise<void> {
  const stage = findWork(resolved.flow, run, at.track, at.stage);
  const workspaces = options.workspaces(workspaceMode(resolved, run));
  if (stage === undefined || workspaces.mode === "in-place") return;
  const perStage = isPerStage(resolved, run);
  const hasBranch = joinOf(resolved.flow, at.track) !== undefined;
  if (!perStage && !hasBranch) return;
  if (hasBranch) await unlockBranches(options, resolved, run, [at]);
  if (perStage) await findUnnoted(options, resolved, run, [at]);
  const key = perStage ? keyOf(run, stage, at.attempt) : trackKey(run, at.track);
  const own = ((await workspaces.left?.(run.id)) ?? []).find((each) => each.key === key);
  if (own === undefined) return;
  await workspaces.unlock(own);
  if (perStage && stage.sameWorkspaceAs === undefined) await closeOne(options, resolved, run, own);
}

/** A process that is killed while it makes or moves a branch leaves git's lock, perhaps before there is any workspace. */
async function unlockBranches(
  options: RecoveryOptions,
  resolved: ResolvedFlow,
  run: Run,
  places: readonly RunningAttempt[],
): Promise<void> {
  const workspaces = options.workspaces(workspaceMode(resolved, run));
  if (workspaces.mode === "in-place") return;
  const request = branchRequest(resolved.flow, run, projectOf(run));
  for (const branch of new Set(places.map(({ track }) => trackBranch(resolved.flow, run, track))))
    await workspaces.unlockBranch?.({ ...request, branch });
}

/** A crash between the folder and its note: opening it again writes the note, and then it is closed like any other. */
async function findUnnoted(
  options: RecoveryOptions,
  resolved: ResolvedFlow,
  run: Run,
  places: readonly RunningAttempt[],
): Promise<void> {
  const workspaces = options.workspaces(workspaceMode(resolved, run));
  const noted = new Set(((await workspaces.left?.(run.id)) ?? []).map(({ key }) => key));
  const { contains: _later, ...request } = branchRequest(resolved.flow, run, projectOf(run));
  for (const at of places) {
    const stage = findWork(resolved.flow, run, at.track, at.stage);
    const key = stage === undefined ? "" : keyOf(run, stage, at.attempt);
    const isThere = ["worktrees", "clones"].some((folder) => existsSync(join(options.home, folder, key)));
    if (key === "" || noted.has(key) || !isThere) continue;
    const opened = await workspaces.open({ ...request, branch: trackBranch(resolved.flow, run, at.track), key });
    if (!opened.ok) options.onError(run.id, new Error(opened.error.message));
  }
}
