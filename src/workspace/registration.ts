// A repository's record of one worktree: its folder under <git dir>/worktrees. Found by the path of the worktree, because an agent can
// change the `.git` file inside it.

import { lstat, mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { err, ok, type Result } from "../core/result.ts";
import { git, inRepository, type GitLocation } from "../git/git.ts";
import { isBelowFolders } from "../git/plain-file.ts";
import { inTheWay } from "./worktree-folder.ts";

export type Registration = {
  readonly place: GitLocation;
  /** The reason of the lock; null if it is not locked. */
  readonly locked: string | null;
};

/** The lock's reason from the moment git registers a worktree until it is ready. */
export const OPENING = "passrail: opening";

/** The registration of the worktree at `top`, or null. A failed lookup throws: it must not read as "not registered". */
export async function findRegistration(commonDir: string, top: string): Promise<Registration | null> {
  const folder = join(commonDir, "worktrees");
  const names = await orNull(readdir(folder));
  const likely = basename(top);
  const ordered = (names ?? []).toSorted((a, b) => Number(b === likely) - Number(a === likely));
  for (const name of ordered) {
    const gitDir = join(folder, name);
    // Another process may remove other registrations meanwhile.
    if ((await orNull(lstat(gitDir)))?.isDirectory() !== true) continue;
    const path = await firstLine(join(gitDir, "gitdir"));
    if (path === null || resolve(gitDir, path) !== join(top, ".git")) continue;
    return { place: { gitDir, commonDir, top }, locked: await firstLine(join(gitDir, "locked")) };
  }
  return null;
}

/** Every registered worktree, whether or not its folder is there. */
export async function listRegistrations(commonDir: string): Promise<readonly GitLocation[]> {
  const folder = join(commonDir, "worktrees");
  const found: GitLocation[] = [];
  for (const name of (await orNull(readdir(folder))) ?? []) {
    const gitDir = join(folder, name);
    if ((await orNull(lstat(gitDir)))?.isDirectory() !== true) continue;
    const path = await firstLine(join(gitDir, "gitdir"));
    if (path !== null) found.push({ gitDir, commonDir, top: dirname(resolve(gitDir, path)) });
  }
  return found;
}

/** True until the worktree is ready: by Passrail's mark, or by git's during its setup. */
export const isHalfMade = (found: Registration): boolean => found.locked === OPENING || found.locked === "initializing";

export async function markReady(found: Registration): Promise<void> {
  await rm(join(found.place.gitDir, "locked"), { force: true });
}

/**
 * Registers a new worktree on a branch that exists, as `git worktree add --no-checkout --lock` does. False: nothing is left of it. The
 * caller has made sure that no other worktree has the branch.
 */
export async function register(commonDir: string, top: string, branch: string): Promise<boolean> {
  const folders = ["worktrees", basename(top)];
  const gitDir = join(commonDir, ...folders);
  if (isBelowFolders(commonDir, ["worktrees"]) === false) return false;
  try {
    await mkdir(dirname(gitDir), { recursive: true });
    // Fails if there is one of this name: git then finds another name.
    await mkdir(gitDir);
  } catch {
    return false;
  }
  const link = join(top, ".git");
  try {
    if (isBelowFolders(commonDir, folders) !== true) throw new Error(`${gitDir} leads elsewhere`);
    // Each appears whole: git, called for another run meanwhile, takes an empty `commondir` or `HEAD` for a broken repository.
    const write = async (path: string, text: string): Promise<void> => {
      await writeFile(`${path}.new`, `${text}\n`, { flag: "wx" });
      await rename(`${path}.new`, path);
    };
    // The lock first: whatever an interruption leaves is half-made.
    await write(join(gitDir, "locked"), OPENING);
    await write(join(gitDir, "gitdir"), link);
    await write(join(gitDir, "HEAD"), `ref: refs/heads/${branch}`);
    await write(join(gitDir, "commondir"), "../..");
    await mkdir(top, { recursive: true });
    await writeFile(link, `gitdir: ${gitDir}\n`, { flag: "wx" });
    return true;
  } catch {
    await rm(gitDir, { recursive: true, force: true });
    return false;
  }
}

/** Drops the registration of a folder that is gone already. The branch stays. */
export async function unregister({ place: { gitDir, commonDir, top } }: Registration): Promise<Result<string>> {
  if (isBelowFolders(commonDir, relative(commonDir, gitDir).split(sep)) === true) {
    await rm(gitDir, { recursive: true, force: true });
    // The folder of all goes with the last one.
    await rmdir(dirname(gitDir)).catch(() => undefined);
    return ok("");
  }
  // Twice, to remove it even if a lock was left behind.
  return git(commonDir, ["worktree", "remove", "--force", "--force", "--", top], inRepository(commonDir));
}

/** Points the worktree's `.git` to its registration again if it leads elsewhere. */
export async function relink(found: Registration): Promise<Result<null>> {
  const link = join(found.place.top, ".git");
  const there = await orNull(lstat(link));
  if (there?.isDirectory()) return err(inTheWay(found.place.top, "it holds a repository of its own"));
  const target = there?.isFile() ? await gitFileTarget(found.place.top) : null;
  if (target === found.place.gitDir) return ok(null);
  await rm(link, { force: true });
  await writeFile(link, `gitdir: ${found.place.gitDir}\n`, { flag: "wx" });
  return ok(null);
}

/** Where the `.git` file of a folder leads; null if there is none. */
export async function gitFileTarget(top: string): Promise<string | null> {
  const line = await firstLine(join(top, ".git"));
  return line?.startsWith("gitdir: ") ? resolve(top, line.slice("gitdir: ".length)) : null;
}

async function firstLine(path: string): Promise<string | null> {
  const found = await orNull(lstat(path));
  // A pipe would block forever and a link may lead anywhere; git writes neither, and never that long.
  if (!found?.isFile() || found.size > 16_384) return null;
  return (await orNull(readFile(path, "utf8")))?.split("\n", 1)[0] ?? null;
}

async function orNull<T>(reading: Promise<T>): Promise<T | null> {
  return reading.catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw error;
  });
}
