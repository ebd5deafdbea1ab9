// `projects list|add|remove`: the names under which people start runs in folders.

import { resolve } from "node:path";
import { mkdirSync } from "node:fs";
import { addProject, listProjects, type RegisteredProject, removeProject } from "../../../app/projects.ts";
import { EXIT, problemError } from "../../errors.ts";
import { requireOperator } from "../../operator.ts";
import type { Io } from "../../terminal/io.ts";
import { type Column, paint, printJson, printTable } from "../../terminal/output.ts";
import { oneLine } from "../../terminal/plain-text.ts";
import { optional } from "../../../core/optional.ts";

export async function projectsList(io: Io): Promise<number> {
  const known = listProjects(io.home);
  if (!known.ok) throw problemError(known.error);
  if (io.json) printJson(io, { projects: known.value });
  else if (io.quiet) for (const { name } of known.value) io.out(name);
  else if (known.value.length === 0) io.err("No projects. Register one:  passrail projects add FOLDER");
  else printTable(io, known.value.map(rowOf));
  return EXIT.ok;
}

function rowOf({ name, folder, present }: RegisteredProject): readonly Column[] {
  return [
    { name: "project", value: name, color: "bold" },
    { name: "state", value: present ? "present" : "folder is gone", ...(present ? {} : { color: "red" as const }) },
    { name: "folder", value: folder },
  ];
}

export async function projectsAdd(io: Io, folder: string | undefined, name: string | undefined): Promise<number> {
  requireOperator(io, "projects add");
  mkdirSync(io.home, { recursive: true, mode: 0o700 });
  const now = new Date().toISOString();
  const added = addProject(io.home, {
    folder: resolve(io.cwd, folder ?? "."),
    now,
    ...optional({ name }),
  });
  if (!added.ok) throw problemError(added.error);
  return say(io, added.value, "is registered");
}

export async function projectsRemove(io: Io, name: string): Promise<number> {
  requireOperator(io, "projects remove");
  const removed = removeProject(io.home, name);
  if (!removed.ok) throw problemError(removed.error);
  return say(io, removed.value, "is forgotten; its folder and runs stay");
}

function say(io: Io, project: RegisteredProject, what: string): number {
  if (io.json) printJson(io, project);
  else if (io.quiet) io.out(project.name);
  else io.out(`${paint(io, "green", "✔")} ${oneLine(`${project.name} ${what}: ${project.folder}`, 400)}`);
  return EXIT.ok;
}
