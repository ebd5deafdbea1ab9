// What a run was started with, where it decides how its attempts work: folder, kind of workspace, programs.

import type { ResolvedFlow } from "../core/agent.ts";
import type { Run } from "../core/run.ts";
import { factOf } from "../core/sequence.ts";

/** The user's folder or repository. */
export function projectOf(run: Run): string {
  return textFact(run, "config", "project");
}

/** What the run was started with wins over what its flow would like. */
export function workspaceMode(resolved: ResolvedFlow, run: Run): "in-place" | "worktree" {
  const chosen = textFact(run, "config", "workspace");
  if (chosen === "in-place" || chosen === "worktree") return chosen;
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
