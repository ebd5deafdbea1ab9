// Workspaces beyond their attempts: those that wait for a follow-up, those that a dead engine left, and those of runs that have ended.
// Closing pins first, so no work is lost. A workspace that cannot be closed now is closed when the run ends.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { Run } from "../core/run/run.ts";
import { findWork } from "../core/run/sequence.ts";
import { landedRecord } from "../core/ticket/landed.ts";
import type { Store } from "../store/store.ts";
import { type Workspaces } from "../workspace/workspace.ts";
import { WORKSPACE_MODES, type WorkspaceMode } from "../core/flow/workspace-mode.ts";
import { projectOf, workspaceMode } from "../core/run/run-settings.ts";
import { branchRequest, isKept, isPerStage, keyOf } from "../attempt/stage-workspace.ts";

export type RunWorkspacesOptions = {
  readonly store: Store;
  readonly workspaces: (mode: WorkspaceMode) => Workspaces;
  readonly home: string;
  /** Workspaces stay after their runs, for people to look at. */
  readonly keepWorkspaces?: boolean;
  readonly onError: (runId: string | null, error: unknown) => void;
};

export type RunWorkspaces = {
  /** Closes the workspaces that no stage of the run needs any more, where each stage has its own. */
  closeUnused(resolved: ResolvedFlow, run: Run): Promise<void>;
  /** The same after a crash: no attempt works any more. Workspaces that stay are made usable again. */
  recover(resolved: ResolvedFlow, run: Run): Promise<void>;
  /** The run has ended. Throws where a workspace could not be closed. */
  release(resolved: ResolvedFlow, run: Run): Promise<void>;
  /** Removes the files of workspaces that stages have closed, beside whatever works next. */
  sweep(resolved: ResolvedFlow, run: Run): Promise<void>;
  /** Removes the files that a process which ended left to be removed. */
  sweepAll(): Promise<void>;
  /** Reports workspaces whose run is not in the store. Only a person removes them. */
  reportOrphans(): Promise<void>;
};

export function createRunWorkspaces(options: RunWorkspacesOptions): RunWorkspaces {
  const { store, home, onError } = options;
  return {
    closeUnused: (resolved, run) => closeAllBut(options, resolved, run, wantedKeys(resolved, run, true)),

    async recover(resolved, run) {
      if (isPerStage(resolved, run)) {
        await findUnnoted(options, resolved, run);
        return closeAllBut(options, resolved, run, wantedKeys(resolved, run, false));
      }
      // A program that was ended in the middle of a commit leaves git's lock, and no later commit would succeed.
      const running = Object.values(run.tracks).some((track) => track.at === "running" && track.outside !== true);
      if (!running) return;
      const workspaces = options.workspaces(workspaceMode(resolved, run));
      if (workspaces.mode === "in-place") return;
      const { contains: _later, ...request } = branchRequest(resolved.flow, run, projectOf(run));
      const opened = await workspaces.open(request);
      if (opened.ok) await workspaces.unlock(opened.value);
      // Tracks have workspaces of their own.
      for (const other of (await workspaces.left?.(run.id)) ?? []) await workspaces.unlock(other);
    },

    async release(resolved, run) {
      const workspaces = options.workspaces(workspaceMode(resolved, run));
      if (workspaces.mode === "in-place") return;
      const left = (await workspaces.left?.(run.id)) ?? [];
      const keep = options.keepWorkspaces === true;
      if (isKept(resolved.flow, keep) && (keep || !(await isMerged(store, resolved, run)))) {
        for (const workspace of left) await workspaces.letGo?.(workspace);
        return;
      }
      for (const workspace of left) {
        const closed = await workspaces.close(workspace, run.id);
        if (!closed.ok) throw new Error(closed.error.message);
      }
      // Opened by a version that kept no notes, or cut off before its note was written.
      if (left.length > 0 || workspaces.mode !== "worktree" || !existsSync(join(home, "worktrees", run.id))) return;
      const { contains: _none, ...request } = branchRequest(resolved.flow, run, projectOf(run));
      const opened = await workspaces.open(request);
      const closed = opened.ok ? await workspaces.close(opened.value, run.id) : opened;
      if (!closed.ok) throw new Error(closed.error.message);
    },

    sweep: (resolved, run) =>
      isPerStage(resolved, run) ? sweepOf(options, run.id, workspaceMode(resolved, run)) : Promise.resolve(),

    async sweepAll() {
      for (const mode of WORKSPACE_MODES) await sweepOf(options, null, mode);
    },

    async reportOrphans() {
      const names: string[] = [];
      for (const mode of WORKSPACE_MODES) {
        for (const { dir, runId } of (await options.workspaces(mode).left?.()) ?? [])
          if ((await store.loadRun(runId)) === undefined) names.push(dir);
      }
      if (names.length === 0) return;
      const shown = names.slice(0, 5).join(", ");
      onError(null, new Error(`workspaces of runs that are not known: ${shown}; passrail workspace list   shows them`));
    },
  };
}

async function sweepOf(options: RunWorkspacesOptions, runId: string | null, mode: WorkspaceMode): Promise<void> {
  const swept = await options.workspaces(mode).sweep?.(runId ?? undefined);
  if (swept?.ok === false) options.onError(runId, new Error(swept.error.message));
}

/** Whether a flow that deletes its workspaces when their work is merged can delete those of this run. */
async function isMerged(store: RunWorkspacesOptions["store"], { flow }: ResolvedFlow, { id }: Run): Promise<boolean> {
  if (flow.workspace.delete !== "when-merged") return false;
  const how = landedRecord(await store.attempts(id))?.how;
  return how === "land" || how === "merged" || how === "forced";
}

/** A crash between the folder and its note: opening it again writes the note, and then it is closed like any other. */
async function findUnnoted(options: RunWorkspacesOptions, resolved: ResolvedFlow, run: Run): Promise<void> {
  const workspaces = options.workspaces(workspaceMode(resolved, run));
  const noted = new Set(((await workspaces.left?.(run.id)) ?? []).map(({ key }) => key));
  const { contains: _later, ...request } = branchRequest(resolved.flow, run, projectOf(run));
  for (const [name, track] of Object.entries(run.tracks)) {
    if (track.at !== "running" || track.outside === true) continue;
    const stage = findWork(resolved.flow, run, name, track.stage);
    const key = stage === undefined ? "" : keyOf(run, stage, track.attempt);
    const isThere = ["worktrees", "clones"].some((folder) => existsSync(join(options.home, folder, key)));
    if (key === "" || noted.has(key) || !isThere) continue;
    const opened = await workspaces.open({ ...request, key });
    if (!opened.ok) options.onError(run.id, new Error(opened.error.message));
  }
}

/** Keys of workspaces that a follow-up waits for, and of those in which something works. */
function wantedKeys(resolved: ResolvedFlow, run: Run, withRunning: boolean): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const [name, track] of Object.entries(run.tracks)) {
    if (track.at !== "ready" && track.at !== "running") continue;
    const stage = findWork(resolved.flow, run, name, track.stage);
    if (stage === undefined) continue;
    const isAtWork = withRunning && track.at === "running";
    if (isAtWork || stage.sameWorkspaceAs !== undefined) keys.add(keyOf(run, stage, track.attempt));
  }
  return keys;
}

async function closeAllBut(
  options: RunWorkspacesOptions,
  resolved: ResolvedFlow,
  run: Run,
  wanted: ReadonlySet<string>,
): Promise<void> {
  if (!isPerStage(resolved, run)) return;
  const workspaces = options.workspaces(workspaceMode(resolved, run));
  const isKeeping = isKept(resolved.flow, options.keepWorkspaces === true);
  for (const workspace of (await workspaces.left?.(run.id)) ?? []) {
    await workspaces.unlock(workspace);
    if (wanted.has(workspace.key ?? "")) continue;
    const ended = isKeeping ? await workspaces.letGo?.(workspace) : await workspaces.close(workspace, run.id);
    if (ended?.ok === false) options.onError(run.id, new Error(ended.error.message));
  }
}
