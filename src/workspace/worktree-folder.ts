// The folders of worktrees on disk: Passrail's root, one folder per run in it, and their removal. Nothing here follows a link: an agent may
// have replaced a folder by one.

import { lstat, mkdir, mkdtemp, readdir, realpath, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { err, messageOf, ok, type Problem, type Result } from "../core/result.ts";

/** The root with the links above it resolved; created with mode 0700 if missing, refused if others could write in it. */
export async function openRoot(root: string): Promise<Result<string>> {
  const parent = dirname(root);
  await mkdir(parent, { recursive: true, mode: 0o700 });
  await mkdir(root, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  const found = await lstat(root);
  if (found.isSymbolicLink()) return err(isLink(root));
  if (!found.isDirectory()) return err(inTheWay(root, "it is not a folder"));
  const foreign = process.getuid !== undefined && found.uid !== process.getuid();
  if (foreign || (found.mode & 0o022) !== 0) {
    return err({
      code: "workspace_root_unsafe",
      message: `Other users can write in ${root}, so no workspace is opened there.`,
      hint: `Make it yours alone: chown $(id -u) ${root} && chmod 700 ${root}`,
    });
  }
  return ok(join(await realpath(parent), basename(root)));
}

/** The state of a workspace's folder; a link or a file in its place is refused. */
export async function lookAt(top: string): Promise<Result<"absent" | "empty" | "filled">> {
  const found = await lstat(top).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (found === null) return ok("absent");
  if (found.isSymbolicLink()) return err(isLink(top));
  if (!found.isDirectory()) return err(inTheWay(top, "it is not a folder"));
  return ok((await readdir(top)).length === 0 ? "empty" : "filled");
}

/** The project's folder in the worktree, which must be a real one: an agent may have replaced it by a link. */
export async function enter(top: string, prefix: string): Promise<Result<string>> {
  if (prefix === "") return ok(top);
  const dir = join(top, prefix).replace(/\/$/u, "");
  const real = await realpath(dir).catch(() => null);
  if (real === dir && (await lstat(dir)).isDirectory()) return ok(dir);
  if (real !== null) return err(isLink(dir));
  return err({
    code: "project_not_committed",
    message: `The folder ${prefix} is not on the branch, so ${dir} does not exist.`,
    hint: `Commit it first: git add ${prefix} && git commit`,
  });
}

/** Moves the folder away in one step, so that a half-removed one never looks like work. */
export async function moveAside(root: string, top: string, runId: string): Promise<void> {
  const aside = await mkdtemp(join(root, `.gone.${runId}.`));
  await rename(top, join(aside, "work")).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}

/** Removes folders moved aside for this key, now or by an interrupted close. */
export async function sweep(root: string, key: string): Promise<Result<null>> {
  return removeAll(
    root,
    (await namesIn(root)).filter((name) => name.startsWith(`.gone.${key}.`)),
  );
}

/** Removes the folders of workspaces that were closed before: those of one run and its stages, or of all. */
export async function sweepClosed(root: string, runId?: string): Promise<Result<null>> {
  const names = (await namesIn(root)).filter((name) =>
    name.startsWith(runId === undefined ? ".gone." : `.gone.${runId}`),
  );
  const filled: string[] = [];
  for (const name of names) {
    // Another process may have made it a moment ago, and is about to move a workspace into it.
    const found = await lstat(join(root, name, "work")).catch(() => null);
    const made = found ?? (await lstat(join(root, name)).catch(() => null));
    if (made !== null && (found !== null || made.mtimeMs < Date.now() - MOVE_MS)) filled.push(name);
  }
  return removeAll(root, filled);
}

const MOVE_MS = 600_000;

async function namesIn(root: string): Promise<readonly string[]> {
  return readdir(root).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
}

async function removeAll(root: string, names: readonly string[]): Promise<Result<null>> {
  for (const name of names) {
    const path = join(root, name);
    try {
      await rm(path, { recursive: true, force: true, maxRetries: 2 });
    } catch (error) {
      return err({
        code: "workspace_not_removed",
        message: `${path} could not be removed: ${messageOf(error)}. Its work is pinned.`,
        hint: `Remove it by hand: chmod -R u+rwx ${path} && rm -rf ${path}`,
      });
    }
  }
  return ok(null);
}

export const inTheWay = (path: string, why: string): Problem => ({
  code: "workspace_in_the_way",
  message: `${path} cannot be used as a workspace: ${why}.`,
  hint: `Look at it, then move it away: mv ${path} ${path}.old`,
});

const isLink = (path: string): Problem => ({
  code: "workspace_is_a_link",
  message: `${path} is, or leads through, a symbolic link; nothing is written or removed through it.`,
  hint: `See where it leads (readlink -f ${path}) and remove the link: rm ${path}`,
});
