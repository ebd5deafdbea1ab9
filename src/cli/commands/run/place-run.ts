// The words after `run`: a flow, then the task, or a project and the task. A project is a registered name, or a path with a slash. A task
// alone goes through the default flow.

import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { listProjects, requireProject } from "../../../app/projects.ts";
import { DEFAULT_FLOW } from "../../../app/start-run/default-flow.ts";
import { CliError, problemError, usageError } from "../../errors.ts";
import { isTask } from "../../spoken-task.ts";
import type { Io } from "../../terminal/io.ts";

export type PlacedRun = { readonly io: Io; readonly flow: string; readonly text: string | undefined };

export function placeRun(io: Io, flow: string, words: readonly string[]): PlacedRun {
  if (words.length === 0 && (flow === "-" || isTask(flow))) return { io, flow: DEFAULT_FLOW, text: flow };
  const [first, second, ...more] = words;
  if (more.length > 0)
    throw usageError("excess_arguments", "Too many words: expected a project and the task.", usageOf(flow));
  if (second === undefined) {
    if (first !== undefined && isProject(io, first))
      throw usageError("task_missing", `${JSON.stringify(first)} is a project; the task is missing.`, usageOf(flow));
    return { io, flow, text: first };
  }
  if (io.project !== undefined)
    throw usageError("project_twice", "Give the project as a word or as --project, not both.", usageOf(flow));
  return { io: { ...io, cwd: folderOf(io, first ?? "") }, flow, text: second };
}

function usageOf(flow: string): string {
  return `passrail run ${flow} PROJECT "task"   or   passrail run ${flow} "task"   in the project's folder`;
}

function isProject(io: Io, word: string): boolean {
  const known = listProjects(io.home);
  return known.ok && known.value.some(({ name }) => name.toLowerCase() === word.toLowerCase());
}

function folderOf(io: Io, word: string): string {
  if (word === "." || word === ".." || word.includes("/")) {
    const folder = resolve(io.cwd, word);
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
      throw new CliError("folder_not_found", `There is no folder ${folder}.`);
    return realpathSync(folder);
  }
  const found = requireProject(io.home, word);
  if (!found.ok) throw problemError(found.error);
  return found.value.folder;
}
