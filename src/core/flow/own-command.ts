// The program that the flow itself names for a stage: a check or a tool, not an agent. A choice for all agents (`*`) does not replace it;
// a choice for the stage or its agent by name does.

import type { RunnerName, WrittenOptions } from "./agent-options.ts";
import type { Flow, Stage, WorkStage } from "./flow.ts";
import type { JsonObject } from "../json.ts";
import { storedOptions } from "./stored-options.ts";

export function ownCommand(stage: Pick<WorkStage, "command" | "options">): readonly string[] | null {
  const { runner = "command" } = stage.options ?? {};
  return runner === "command" ? (stage.command ?? null) : null;
}

export function runsOwnCommand(
  stage: WorkStage,
  choice: { readonly runner: RunnerName; readonly command: readonly string[] | null },
): boolean {
  const own = ownCommand(stage);
  return own !== null && choice.runner === "command" && isSame(own, choice.command ?? []);
}

/** Stages whose own command the run was started without. */
export function replacedCommands(
  { stages }: Pick<Flow, "stages">,
  facts: JsonObject,
): readonly { readonly stage: string; readonly command: string }[] {
  return stages.flatMap(workIn).flatMap((stage) => {
    const own = ownCommand(stage);
    const chosen = givenFor(facts, [stage.id, stage.agent, stage.shownAgent]).find(
      ({ runner, command }) => runner !== undefined || command !== undefined,
    );
    if (own === null || chosen === undefined) return [];
    const { runner = "command", command = [] } = chosen;
    return runner === "command" && isSame(own, command) ? [] : [{ stage: stage.id, command: own.join(" ") }];
  });
}

/** The options that the run was started with under these names, in their order. A list is a command. */
export function givenFor(facts: JsonObject, names: readonly string[]): readonly WrittenOptions[] {
  const given = facts["runners"];
  if (given === null || typeof given !== "object" || Array.isArray(given)) return [];
  const entries = given as Readonly<Record<string, unknown>>;
  return [...new Set(names)].flatMap((name) => {
    const entry = Object.hasOwn(entries, name) ? entries[name] : undefined;
    if (entry === undefined) return [];
    return [storedOptions(Array.isArray(entry) ? { command: entry } : entry)];
  });
}

function workIn(stage: Stage): readonly WorkStage[] {
  if (stage.kind === "parallel") return Object.values(stage.tracks).flatMap((track) => track.stages);
  return stage.kind === "gate" || stage.kind === "dynamic" ? [] : [stage];
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((word, at) => word === other[at]);
}
