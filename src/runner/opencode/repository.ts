// The files of a repository that opencode executes although its project configuration is switched off. The switch covers agents, tools, MCP
// servers and plugins in their old form; a second configuration reader in the same program ignores it and imports plugins all the same
// (measured with 1.18.33, also with --pure). So Passrail refuses a folder that has something for that reader.

import { access, readdir, readFile, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { isFields, parseLine } from "../loose-json.ts";

/** The files that would take effect, as paths from `cwd`. */
export async function uncontrolledSettings(cwd: string): Promise<string[]> {
  const found: string[] = [];
  for (const folder of await foldersOf(cwd)) {
    const own = join(folder, ".opencode");
    for (const place of [folder, own]) {
      for (const name of ["opencode.json", "opencode.jsonc"]) {
        if (await takesEffect(join(place, name))) found.push(join(place, name));
      }
    }
    for (const name of ["plugin", "plugins"]) found.push(...(await scriptsIn(join(own, name))));
  }
  return found.map((path) => relative(cwd, path));
}

/** Keys that the second reader ignores. */
const HARMLESS = new Set(["$schema", "instructions", "theme", "autoupdate", "share"]);
const LARGEST = 1024 * 1024;

/** The folder and those above it up to the root of its repository, as the program looks for its files. */
async function foldersOf(cwd: string): Promise<string[]> {
  const folders: string[] = [];
  for (let folder = cwd; ; folder = dirname(folder)) {
    folders.push(folder);
    if (await isThere(join(folder, ".git"))) return folders;
    // Not a repository: the folders above are the operator's.
    if (dirname(folder) === folder) return [cwd];
  }
}

async function takesEffect(path: string): Promise<boolean> {
  if (!(await isThere(path))) return false;
  try {
    if ((await stat(path)).size > LARGEST) return true;
    const value = parseLine(await readFile(path, "utf8"));
    // Comments and the like: the program can read them, we cannot.
    return !isFields(value) || Object.keys(value).some((key) => !HARMLESS.has(key));
  } catch {
    return true;
  }
}

async function scriptsIn(folder: string): Promise<string[]> {
  try {
    const names = await readdir(folder);
    return names.filter((name) => name.endsWith(".js") || name.endsWith(".ts")).map((name) => join(folder, name));
  } catch (error) {
    return isAbsent(error) ? [] : [folder];
  }
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    (error: unknown) => !isAbsent(error),
  );

function isAbsent(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}
