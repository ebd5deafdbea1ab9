// Workspaces beyond their attempts: those that wait for a follow-up, those that a dead engine left, and those of runs that have ended.
// Closing pins first, so no work is lost. A workspace that cannot be closed now is closed when the run ends.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import { WORKSPACE_MODES, type WorkspaceMode } from "../core/flow/workspace-mode.ts";
import type { Run } from "../core/run/run.ts";
import { projectOf, workspaceMode } from "../core/run/run-settings.ts";
import type { RunningAttempt } from "../core/run/startable.ts";
import { landedRecord } from "../core/ticket/landed.ts";
import { branchRequest, isKept } from "../attempt/stage-workspace.ts";
import type { Store } from "../store/store.ts";
import { closeAllBut, type ClosingOptions, wantedKeys } from "./close-workspaces.ts";
import { recoverAll, recoverOne } from "./recover-workspaces.ts";

export type RunWorkspacesOptions = ClosingOptions & { readonly store: Store; readonly home: string };

export type RunWorkspaces = {
  /** Closes the workspaces that no stage of the run needs any more, where each stage has its own. */
  closeUnused(resolved: ResolvedFlow, run: Run): Promise<void>;
  /** The same after a crash: no attempt works any more. Workspaces that stay are made usable again. */
  recover(resolved: ResolvedFlow, run: Run): Promise<void>;
  /** The same for one attempt, while others of the run work on: only a workspace that it shares with none of them. */
  recoverOne(resolved: ResolvedFlow, run: Run, at: RunningAttempt): Promise<void>;
  /** The run has ended. Throws where a workspace could not be closed. `sweep` then removes the files. */
  release(resolved: ResolvedFlow, run: Run): Promise<void>;
  /** Removes the files of workspaces that were closed, beside whatever works next. */
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

    recover: (resolved, run) => recoverAll(options, resolved, run),
    recoverOne: (resolved, run, at) => recoverOne(options, resolved, run, at),

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
        const closed = await workspaces.close(workspace, run.id, { later: true });
        if (!closed.ok) throw new Error(closed.error.message);
      }
      // Opened by a version that kept no notes, or cut off before its note was written.
      if (left.length > 0 || workspaces.mode !== "worktree" || !existsSync(join(home, "worktrees", run.id))) return;
      const { contains: _none, ...request } = branchRequest(resolved.flow, run, projectOf(run));
      const opened = await workspaces.open(request);
      const closed = opened.ok ? await workspaces.close(opened.value, run.id) : opened;
      if (!closed.ok) throw new Error(closed.error.message);
    },

    sweep: (resolved, run) => sweepOf(options, run.id, workspaceMode(resolved, run)),

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
