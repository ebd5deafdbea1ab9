// A repository's record of one worktree: its folder under <git dir>/worktrees. Found by the path of the worktree, because an agent can
// change the `.git` file inside it. The files are few and small: to read and write them here and now takes a tenth of the time that handing
// each step to another thread does.

import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  writeFileSync,
} from "node:fs";
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
export function findRegistration(commonDir: string, top: string): Registration | null {
  const folder = join(commonDir, "worktrees");
  const likely = basename(top);
  const ordered = namesIn(folder).toSorted((a, b) => Number(b === likely) - Number(a === likely));
  for (const name of ordered) {
    const gitDir = join(folder, name);
    // Another process may remove other registrations meanwhile.
    if (statOf(gitDir)?.isDirectory() !== true) continue;
    const path = firstLine(join(gitDir, "gitdir"));
    if (path === null || resolve(gitDir, path) !== join(top, ".git")) continue;
    return { place: { gitDir, commonDir, top }, locked: firstLine(join(gitDir, "locked")) };
  }
  return null;
}

/** Every registered worktree, whether or not its folder is there. */
export function listRegistrations(commonDir: string): readonly GitLocation[] {
  const folder = join(commonDir, "worktrees");
  const found: GitLocation[] = [];
  for (const name of namesIn(folder)) {
    const gitDir = join(folder, name);
    if (statOf(gitDir)?.isDirectory() !== true) continue;
    const path = firstLine(join(gitDir, "gitdir"));
    if (path !== null) found.push({ gitDir, commonDir, top: dirname(resolve(gitDir, path)) });
  }
  return found;
}

/** True until the worktree is ready: by Passrail's mark, or by git's during its setup. */
export const isHalfMade = (found: Registration): boolean => found.locked === OPENING || found.locked === "initializing";

export function markReady(found: Registration): void {
  rmSync(join(found.place.gitDir, "locked"), { force: true });
}

/**
 * Registers a new worktree on a branch that exists, as `git worktree add --no-checkout --lock` does. False: nothing is left of it. The
 * caller has made sure that no other worktree has the branch.
 */
export function register(commonDir: string, top: string, branch: string): boolean {
  const folders = ["worktrees", basename(top)];
  const gitDir = join(commonDir, ...folders);
  if (isBelowFolders(commonDir, ["worktrees"]) === false) return false;
  try {
    mkdirSync(dirname(gitDir), { recursive: true });
    // Fails if there is one of this name: git then finds another name.
    mkdirSync(gitDir);
  } catch {
    return false;
  }
  const link = join(top, ".git");
  try {
    if (isBelowFolders(commonDir, folders) !== true) throw new Error(`${gitDir} leads elsewhere`);
    // Each appears whole: git, called for another run meanwhile, takes an empty `commondir` or `HEAD` for a broken repository.
    const write = (path: string, text: string): void => {
      writeFileSync(`${path}.new`, `${text}\n`, { flag: "wx" });
      renameSync(`${path}.new`, path);
    };
    // The lock first: whatever an interruption leaves is half-made.
    write(join(gitDir, "locked"), OPENING);
    write(join(gitDir, "gitdir"), link);
    write(join(gitDir, "HEAD"), `ref: refs/heads/${branch}`);
    write(join(gitDir, "commondir"), "../..");
    mkdirSync(top, { recursive: true });
    writeFileSync(link, `gitdir: ${gitDir}\n`, { flag: "wx" });
    return true;
  } catch {
    rmSync(gitDir, { recursive: true, force: true });
    return false;
  }
}

/** Drops the registration of a folder that is gone already. The branch stays. */
export async function unregister({ place: { gitDir, commonDir, top } }: Registration): Promise<Result<string>> {
  if (isBelowFolders(commonDir, relative(commonDir, gitDir).split(sep)) === true) {
    rmSync(gitDir, { recursive: true, force: true });
    removeIfEmpty(dirname(gitDir));
    return ok("");
  }
  // Twice, to remove it even if a lock was left behind.
  return git(commonDir, ["worktree", "remove", "--force", "--force", "--", top], inRepository(commonDir));
}

/** The folder of all goes with the last one. */
function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Others are there.
  }
}

/** Points the worktree's `.git` to its registration again if it leads elsewhere. */
export function relink(found: Registration): Result<null> {
  const link = join(found.place.top, ".git");
  const there = statOf(link);
  if (there?.isDirectory()) return err(inTheWay(found.place.top, "it holds a repository of its own"));
  const target = there?.isFile() ? gitFileTarget(found.place.top) : null;
  if (target === found.place.gitDir) return ok(null);
  rmSync(link, { force: true });
  writeFileSync(link, `gitdir: ${found.place.gitDir}\n`, { flag: "wx" });
  return ok(null);
}

/** Where the `.git` file of a folder leads; null if there is none. */
export function gitFileTarget(top: string): string | null {
  const line = firstLine(join(top, ".git"));
  return line?.startsWith("gitdir: ") ? resolve(top, line.slice("gitdir: ".length)) : null;
}

function firstLine(path: string): string | null {
  const found = statOf(path);
  // A pipe would block forever and a link may lead anywhere; git writes neither, and never that long.
  if (!found?.isFile() || found.size > 16_384) return null;
  return orNull(() => readFileSync(path, "utf8"))?.split("\n", 1)[0] ?? null;
}

const statOf = (path: string): Stats | null => orNull(() => lstatSync(path));

const namesIn = (folder: string): readonly string[] => orNull(() => readdirSync(folder)) ?? [];

function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw error;
  }
}
