// Copies untracked files that a fresh workspace needs, such as .env. Only files that the settings name, never through a link, never over an
// existing file, and never so that they could be committed.

import { constants } from "node:fs";
import { appendFile, lstat, mkdir, open, readFile, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize, sep } from "node:path";
import { err, ok, type Problem, type Result } from "../core/result.ts";
import { git, type GitLocation } from "../git/git.ts";

const FILE_BYTES = 10 * 1024 * 1024;

export async function copyFiles(
  project: string,
  dir: string,
  place: GitLocation,
  paths: readonly string[],
): Promise<Result<null>> {
  for (const path of paths) {
    const copied = await copyFile(project, dir, place, path);
    if (!copied.ok) return copied;
  }
  return ok(null);
}

async function copyFile(project: string, dir: string, place: GitLocation, path: string): Promise<Result<null>> {
  if (isAbsolute(path) || normalize(path) !== path || path.split(sep).includes("..") || /[\0\n]/u.test(path))
    return err(refused(path, "it is not a plain path below the project"));
  const source = join(project, path);
  const found = await lstat(source).catch(() => null);
  // The file is optional: another developer may have no .env yet.
  if (found === null) return ok(null);
  if (!found.isFile() || (await realpath(source)) !== join(await realpath(project), path))
    return err(refused(path, "it is not a regular file, or leads through a link"));
  if (found.size > FILE_BYTES) return err(refused(path, "it is larger than 10 MiB"));
  const target = join(dir, path);
  if ((await lstat(target).catch(() => null)) !== null) return ok(null);
  const parent = dirname(target);
  if (!(await isBelow(dir, parent))) return err(refused(path, "its folder in the workspace leads elsewhere"));
  const hidden = await hide(dir, place, path);
  if (!hidden.ok) return hidden;
  await mkdir(parent, { recursive: true });
  const text = await readFile(source);
  const file = await open(
    target,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o600,
  );
  try {
    await file.writeFile(text);
  } finally {
    await file.close();
  }
  return ok(null);
}

/** Nearest parent that exists. */
export async function isBelow(dir: string, folder: string): Promise<boolean> {
  const root = await realpath(dir);
  for (let there = folder; ; there = dirname(there)) {
    const real = await realpath(there).catch(() => null);
    if (real !== null) return real === root || real.startsWith(`${root}${sep}`);
    if ((await lstat(there).catch(() => null)) !== null) return false;
  }
}

/** A clone has its own exclude list. A worktree shares the user's, which Passrail must not change. */
async function hide(dir: string, place: GitLocation, path: string): Promise<Result<null>> {
  const asked = await git(dir, ["check-ignore", "--quiet", "--no-index", "--", path], { place, exits: [0, 1] });
  if (!asked.ok) return asked;
  if (asked.value.startsWith("0")) return ok(null);
  if (place.gitDir !== place.commonDir)
    return err(refused(path, "git does not ignore it, so it would be committed; add it to .gitignore"));
  await mkdir(join(place.gitDir, "info"), { recursive: true });
  const below = dir.slice(place.top.length);
  await appendFile(join(place.gitDir, "info", "exclude"), `${below}/${path.replace(/[\\*?[\]!#]/gu, "\\$&")}\n`);
  return ok(null);
}

const refused = (path: string, why: string): Problem => ({
  code: "workspace_copy_refused",
  message: `${JSON.stringify(path.slice(0, 200))} of workspaces.copy is not copied: ${why}.`,
  hint: "docs/workspaces.md says what can be copied",
});
