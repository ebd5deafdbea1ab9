// What a run was started with, where it decides how its attempts work: folder, kind of workspace, programs.

import type { ResolvedFlow } from "../flow/agent.ts";
import type { Run } from "./run.ts";
import { factOf } from "./sequence.ts";
import type { WorkspaceMode } from "../flow/workspace-mode.ts";

/** The user's folder or repository. */
export function projectOf(run: Run): string {
  return textFact(run, "config", "project");
}

/**
 * What the run was started with wins over what its flow would like. A word that this version does not know is handed on as it is: no
 * provider opens it, so nothing works in a place that nobody chose.
 */
export function workspaceMode(resolved: ResolvedFlow, run: Run): WorkspaceMode {
  const chosen = textFact(run, "config", "workspace");
  if (chosen !== "") return chosen as WorkspaceMode;
  return resolved.flow.workspace.mode === "in-place" ? "in-place" : "worktree";
}

/** Off unless the operator said on when the run was started. */
export function repositorySettings(run: Run): boolean {
  return factOf(run, ["config", "repository_settings"]) === true;
}

function textFact(run: Run, space: string, key: string): string {
  const facts = run.facts[space];
  if (facts === null || typeof facts !== "object" || Array.isArray(facts)) return "";
  const value = (facts as Readonly<Record<string, unknown>>)[key];
  return typeof value === "string" ? value : "";
}
