// The files of a project that match a trigger's globs, each with a hash of its content. It follows no links and skips .git, node_modules
// and the state folder.

import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { lstat, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Result } from "../core/result.ts";
import { matchesGlob, mayHold } from "../core/glob.ts";

export type Hashes = Readonly<Record<string, string>>;

/** A file is read again only if its size or time has changed. */
export type HashCache = Map<string, { readonly stamp: string; readonly hash: string }>;

const MAX_FILES = 5000;
const MAX_FOLDERS = 20_000;
/** Larger files are compared by size and time. */
const MAX_READ = 16 * 1024 * 1024;
const LEFT_OUT = new Set([".git", "node_modules"]);

export async function hashFiles(
  project: string,
  globs: readonly string[],
  cache: HashCache,
  isLeftOut: (path: string) => boolean,
): Promise<Result<Hashes>> {
  const found = new Map<string, string>();
  const folders = [""];
  let looked = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    if (++looked > MAX_FOLDERS) return err(tooMany(`${MAX_FOLDERS} folders`));
    const entries = await readdir(join(project, folder), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (LEFT_OUT.has(entry.name) || isLeftOut(join(project, path))) continue;
      if (entry.isDirectory() && globs.some((glob) => mayHold(glob, path))) folders.push(path);
      if (!entry.isFile() || !globs.some((glob) => matchesGlob(glob, path))) continue;
      const hash = await hashOf(join(project, path), cache);
      if (hash !== undefined) found.set(path, hash);
      if (found.size > MAX_FILES) return err(tooMany(`${MAX_FILES} files`));
    }
  }
  for (const path of cache.keys()) if (!found.has(path.slice(project.length + 1))) cache.delete(path);
  return ok(Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1))));
}

/** Added paths and paths with other content. A deleted file starts no run. */
export function changedPaths(before: Hashes, now: Hashes): readonly string[] {
  return Object.keys(now).filter((path) => !Object.hasOwn(before, path) || before[path] !== now[path]);
}

async function hashOf(path: string, cache: HashCache): Promise<string | undefined> {
  try {
    const { ino, size, mtimeMs } = await lstat(path);
    const stamp = `${ino}:${size}:${mtimeMs}`;
    const known = cache.get(path);
    if (known?.stamp === stamp) return known.hash;
    const hash = size > MAX_READ ? `large:${size}:${mtimeMs}` : await contentHash(path);
    cache.set(path, { stamp, hash });
    return hash;
  } catch {
    // Gone between two looks, or unreadable.
    return undefined;
  }
}

async function contentHash(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return createHash("sha256")
      .update(await file.readFile())
      .digest("hex")
      .slice(0, 32);
  } finally {
    await file.close();
  }
}

function tooMany(what: string) {
  return {
    code: "trigger_too_wide",
    message: `The globs of the trigger lead to more than ${what}.`,
    hint: "Name a folder: docs/specs/**/*.md",
  };
}
