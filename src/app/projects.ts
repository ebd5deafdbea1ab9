// The registered projects: a name for each folder, so that commands, tickets and the dashboard can say `shop` instead of a path. One file
// per project in the state folder, made exclusively: two processes that add projects at once lose none.

import { linkSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { basename, isAbsolute, join } from "node:path";
import { z } from "zod";
import { didYouMean, nearest } from "../core/check/suggest.ts";
import { err, ok, type Problem, type Result } from "../core/result.ts";
import { syncFolder, writePrivate } from "../file/private-file.ts";

export type RegisteredProject = {
  readonly name: string;
  readonly folder: string;
  readonly addedAt: string;
  /** False if the folder was moved or removed since. */
  readonly present: boolean;
};

/** Becomes a file's name, a column and a word of messages. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/u;
const MAX_PROJECTS = 1000;
const MAX_BYTES = 16 * 1024;

const fileSchema = z.strictObject({ name: z.string().regex(NAME), folder: z.string().max(4096), addedAt: z.string() });

/** In order of their names. A file that cannot be read is a problem that names it, never a project that is silently gone. */
export function listProjects(home: string): Result<readonly RegisteredProject[]> {
  const projects: RegisteredProject[] = [];
  for (const file of filesIn(home)) {
    const read = readProject(join(folderOf(home), file));
    if (!read.ok) return read;
    projects.push(read.value);
  }
  return ok(projects.sort((a, b) => (a.name < b.name ? -1 : 1)));
}

export type NewProject = { readonly folder: string; readonly name?: string; readonly now: string };

/** Adding the same folder under the same name again changes nothing. */
export function addProject(
  home: string,
  { folder, name = basename(folder), now }: NewProject,
): Result<RegisteredProject> {
  if (!NAME.test(name)) return err(invalidName(name));
  const real = realFolder(folder);
  if (!real.ok) return real;
  const known = listProjects(home);
  if (!known.ok) return known;
  const same = known.value.find((each) => isSame(each.name, name));
  if (same !== undefined) return same.folder === real.value ? ok(same) : err(taken(same));
  if (known.value.length >= MAX_PROJECTS)
    return err({ code: "too_many_projects", message: `There are ${MAX_PROJECTS} projects; remove one first.` });
  const project = { name, folder: real.value, addedAt: now };
  return store(home, project) ? ok({ ...project, present: true }) : addProject(home, { folder, name, now });
}

/** The folder and its runs stay as they are. */
export function removeProject(home: string, name: string): Result<RegisteredProject> {
  const known = listProjects(home);
  if (!known.ok) return known;
  const found = known.value.find((each) => isSame(each.name, name));
  if (found === undefined) return err(unknownProject(name, known.value));
  rmSync(join(folderOf(home), fileOf(found.name)), { force: true });
  syncFolder(folderOf(home));
  return ok(found);
}

/** The folder of a registered project; refuses one that is no longer there. */
export function requireProject(home: string, name: string): Result<RegisteredProject> {
  const known = listProjects(home);
  if (!known.ok) return known;
  const found = known.value.find((each) => isSame(each.name, name));
  if (found === undefined) return err(unknownProject(name, known.value));
  if (found.present) return ok(found);
  return err({
    code: "project_moved",
    message: `The folder of project ${found.name} is gone: ${found.folder}.`,
    hint: `passrail projects remove ${found.name}\npassrail projects add NEW_FOLDER --name ${found.name}`,
  });
}

function unknownProject(name: string, known: readonly RegisteredProject[]): Problem {
  const names = known.map((each) => each.name);
  const near = nearest(name, names);
  const list = names.length === 0 ? didYouMean(name, names, "projects") : `known projects: ${names.join(", ")}`;
  return {
    code: "unknown_project",
    message: `There is no project ${JSON.stringify(name.slice(0, 80))}.`,
    hint: `${near === undefined ? "" : `did you mean "${near}"?\n`}${list}\npassrail projects add FOLDER   registers one`,
  };
}

function folderOf(home: string): string {
  return join(home, "projects");
}

/** Names are compared without case; so are their files. */
function fileOf(name: string): string {
  return `${name.toLowerCase()}.json`;
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function filesIn(home: string): readonly string[] {
  try {
    return readdirSync(folderOf(home)).filter((file) => file.endsWith(".json"));
  } catch {
    return [];
  }
}

function readProject(path: string): Result<RegisteredProject> {
  const damaged = (why: string): Result<never> =>
    err({
      code: "projects_damaged",
      message: `${path} cannot be used: ${why}.`,
      hint: `remove the file, then: passrail projects add FOLDER`,
    });
  try {
    if (statSync(path).size > MAX_BYTES) return damaged("it is too large");
    const parsed = fileSchema.safeParse(JSON.parse(readFileSync(path, "utf8")));
    if (!parsed.success || basename(path) !== fileOf(parsed.data.name) || !isAbsolute(parsed.data.folder))
      return damaged("it does not describe a project");
    return ok({ ...parsed.data, present: isFolder(parsed.data.folder) });
  } catch (error) {
    return damaged(error instanceof Error ? error.message : String(error));
  }
}

/** The file appears whole or not at all; false if another process was first. */
function store(home: string, project: Omit<RegisteredProject, "present">): boolean {
  const folder = folderOf(home);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const partial = join(folder, `.${fileOf(project.name)}.${process.pid}.new`);
  rmSync(partial, { force: true });
  writePrivate(partial, `${JSON.stringify(project)}\n`);
  try {
    linkSync(partial, join(folder, fileOf(project.name)));
    syncFolder(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  } finally {
    rmSync(partial, { force: true });
  }
}

function realFolder(folder: string): Result<string> {
  if (!isFolder(folder)) return err({ code: "folder_not_found", message: `There is no folder ${folder}.` });
  return ok(realpathSync(folder));
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function invalidName(name: string): Problem {
  return {
    code: "invalid_project_name",
    message: `${JSON.stringify(name.slice(0, 80))} cannot be the name of a project.`,
    hint: "letters, digits, dots, dashes and underscores, at most 64: --name NAME",
  };
}

function taken({ name, folder }: RegisteredProject): Problem {
  return {
    code: "project_exists",
    message: `The name ${name} belongs to ${folder}.`,
    hint: `another name: --name NAME\nor first: passrail projects remove ${name}`,
  };
}
