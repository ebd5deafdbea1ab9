// How a run's attempts work by what the run was started with: the folder, the kind of workspace, the repository's own settings.

import type { ResolvedFlow } from "../flow/agent.ts";
import type { Run } from "./run.ts";
import { runFacts } from "./facts.ts";
import type { WorkspaceMode } from "../flow/workspace-mode.ts";

/** The user's folder or repository. */
export function projectOf(run: Run): string {
  return runFacts(run).config.project ?? "";
}

/**
 * The setting with which the run was started wins over its flow. A word that this version does not know is handed on as it is: no provider
 * opens it, so no attempt works in a place that nobody chose.
 */
export function workspaceMode(resolved: ResolvedFlow, run: Run): WorkspaceMode {
  const chosen = runFacts(run).config.workspace;
  if (chosen !== null && chosen !== "") return chosen as WorkspaceMode;
  return resolved.flow.workspace.mode === "in-place" ? "in-place" : "worktree";
}

/** Off unless the operator said on when the run was started. */
export function repositorySettings(run: Run): boolean {
  return runFacts(run).config.repositorySettings;
}
