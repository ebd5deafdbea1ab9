// What a repository knows about one worktree: its folder under <git dir>/worktrees. Read and removed by the path of the worktree,
// because the `.git` file inside a worktree is in the hands of the agent.

import { lstat, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { err, ok, type Result } from "../core/result.ts";
import { git, inRepository, type GitLocation } from "../git/git.ts";
import { inTheWay } from "./worktree-folder.ts";

export type Registration = {
  readonly place: GitLocation;
  /** Why it is locked; null when it is not. */
  readonly locked: string | null;
};

/** Stands in the lock from the moment git registers a worktree until it is ready to be handed out. */
export const OPENING = "passrail: opening";

/** The registration of the worktree at `top`, or null. A lookup that fails throws: it must not read as "not registered". */
export async function findRegistration(commonDir: string, top: string): Promise<Registration | null> {
  const folder = join(commonDir, "worktrees");
  const names = await orNull(readdir(folder));
  const likely = basename(top);
  const ordered = (names ?? []).toSorted((a, b) => Number(b === likely) - Number(a === likely));
  for (const name of ordered) {
    const gitDir = join(folder, name);
    // Another run's may be removed while we look.
    if ((await orNull(lstat(gitDir)))?.isDirectory() !== true) continue;
    const path = await firstLine(join(gitDir, "gitdir"));
    if (path === null || resolve(gitDir, path) !== join(top, ".git")) continue;
    return { place: { gitDir, commonDir, top }, locked: await firstLine(join(gitDir, "locked")) };
  }
  return null;
}

/** True until the worktree was handed out for the first time: by our own mark, or git's while it sets one up. */
export const isHalfMade = (found: Registration): boolean => found.locked === OPENING || found.locked === "initializing";

export async function markReady(found: Registration): Promise<void> {
  await rm(join(found.place.gitDir, "locked"), { force: true });
}

/** Drops the registration; the folder is gone already. The branch stays. */
export async function unregister(commonDir: string, top: string): Promise<Result<string>> {
  // Twice: also when a lock was left behind.
  return git(commonDir, ["worktree", "remove", "--force", "--force", "--", top], inRepository(commonDir));
}

/** Makes `.git` of the worktree lead to its registration again when something else stands there. */
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

/** Where the `.git` file of a folder leads; null when there is none. */
export async function gitFileTarget(top: string): Promise<string | null> {
  const line = await firstLine(join(top, ".git"));
  return line?.startsWith("gitdir: ") ? resolve(top, line.slice("gitdir: ".length)) : null;
}

async function firstLine(path: string): Promise<string | null> {
  const found = await orNull(lstat(path));
  // A pipe would block us for ever and a link may lead anywhere; git writes neither, and never that long.
  if (!found?.isFile() || found.size > 16_384) return null;
  return (await orNull(readFile(path, "utf8")))?.split("\n", 1)[0] ?? null;
}

async function orNull<T>(reading: Promise<T>): Promise<T | null> {
  return reading.catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw error;
  });
}
