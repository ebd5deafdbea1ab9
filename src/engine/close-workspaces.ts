// Closes the workspaces that no stage of a run needs any more, where each stage has its own.

import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { WorkspaceMode } from "../core/flow/workspace-mode.ts";
import type { Run } from "../core/run/run.ts";
import { workspaceMode } from "../core/run/run-settings.ts";
import { findWork } from "../core/run/sequence.ts";
import { isKept, isPerStage, keyOf } from "../attempt/stage-workspace.ts";
import type { Workspace, Workspaces } from "../workspace/workspace.ts";

export type ClosingOptions = {
  readonly workspaces: (mode: WorkspaceMode) => Workspaces;
  /** Workspaces stay after their runs, for people to look at. */
  readonly keepWorkspaces?: boolean;
  readonly onError: (runId: string | null, error: unknown) => void;
};

/** Keys of workspaces that a follow-up waits for, and of those in which an agent or a person works. */
export function wantedKeys(resolved: ResolvedFlow, run: Run, withRunning: boolean): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const [name, track] of Object.entries(run.tracks)) {
    if (track.at !== "ready" && track.at !== "running" && track.at !== "taken") continue;
    const stage = findWork(resolved.flow, run, name, track.stage);
    if (stage === undefined) continue;
    const isAtWork = track.at === "taken" || (withRunning && track.at === "running");
    if (isAtWork || stage.sameWorkspaceAs !== undefined) keys.add(keyOf(run, stage, track.attempt));
  }
  return keys;
}

export async function closeAllBut(
  options: ClosingOptions,
  resolved: ResolvedFlow,
  run: Run,
  wanted: ReadonlySet<string>,
): Promise<void> {
  if (!isPerStage(resolved, run)) return;
  const workspaces = options.workspaces(workspaceMode(resolved, run));
  for (const workspace of (await workspaces.left?.(run.id)) ?? []) {
    await workspaces.unlock(workspace);
    if (wanted.has(workspace.key ?? "")) continue;
    await closeOne(options, resolved, run, workspace);
  }
}

/** Or keeps it for people to look at. */
export async function closeOne(
  options: ClosingOptions,
  resolved: ResolvedFlow,
  run: Run,
  workspace: Workspace,
): Promise<void> {
  const workspaces = options.workspaces(workspaceMode(resolved, run));
  const isKeeping = isKept(resolved.flow, options.keepWorkspaces === true);
  const ended = isKeeping ? await workspaces.letGo?.(workspace) : await workspaces.close(workspace, run.id);
  if (ended?.ok === false) options.onError(run.id, new Error(ended.error.message));
}
