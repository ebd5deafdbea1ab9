// What a run was started with, where it decides how its attempts work: folder, kind of workspace, programs.

import type { ResolvedFlow } from "../core/agent.ts";
import type { WorkStage } from "../core/flow.ts";
import type { Run } from "../core/run.ts";

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

/** The program for a stage: given for this stage, for its agent, for all; else from the flow or the agent's file. */
export function argvOf(resolved: ResolvedFlow, run: Run, stage: WorkStage): readonly string[] | undefined {
  const given = run.facts["runners"];
  if (given !== null && typeof given === "object" && !Array.isArray(given)) {
    const commands = given as Readonly<Record<string, unknown>>;
    const found = commands[stage.id] ?? commands[stage.agent] ?? commands[stage.shownAgent] ?? commands["*"];
    if (Array.isArray(found) && found.length > 0 && found.every((part) => typeof part === "string")) return found;
  }
  return stage.command ?? resolved.agents[stage.agent]?.command;
}

function textFact(run: Run, space: string, key: string): string {
  const facts = run.facts[space];
  if (facts === null || typeof facts !== "object" || Array.isArray(facts)) return "";
  const value = (facts as Readonly<Record<string, unknown>>)[key];
  return typeof value === "string" ? value : "";
}
