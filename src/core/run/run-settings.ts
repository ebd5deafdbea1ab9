// The settings a run was started with that shape its attempts: the folder, the kind of workspace, the repository's own settings.

import type { ResolvedFlow } from "../flow/agent.ts";
import type { Run } from "./run.ts";
import { runFacts } from "./facts.ts";
import type { WorkspaceMode } from "../flow/workspace-mode.ts";

/** The user's folder or repository. */
export function projectOf(run: Run): string {
  return runFacts(run).config.project ?? "";
}

/**
 * The setting that the run was started with overrides its flow. A word that this version does not know is passed on unchanged: no provider
 * opens it, so no attempt works in an unintended place.
 */
export function workspaceMode(resolved: ResolvedFlow, run: Pick<Run, "facts">): WorkspaceMode {
  const chosen = runFacts(run).config.workspace;
  if (chosen !== null && chosen !== "") return chosen as WorkspaceMode;
  return resolved.flow.workspace.mode === "in-place" ? "in-place" : "worktree";
}

/** Off unless the operator turned it on when the run started. */
export function repositorySettings(run: Run): boolean {
  return runFacts(run).config.repositorySettings;
}
