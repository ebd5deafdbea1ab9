// The folders of worktrees on disk: Passrail's root, one folder per run in it, and their removal. Nothing here follows a link: an agent may
// have replaced a folder by one.

import { randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, realpathSync, renameSync, type Stats } from "node:fs";
import { lstat, readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { err, messageOf, ok, type Problem, type Result } from "../core/result.ts";
import { launch } from "../git/launch.ts";

/** The root with the links above it resolved; created with mode 0700 if missing, refused if others could write in it. */
export async function openRoot(root: string): Promise<Result<string>> {
  const parent = dirname(root);
  let found = statOf(root);
  if (found === null) {
    mkdirSync(parent, { recursive: true, mode: 0o700 });
    try {
      mkdirSync(root, { mode: 0o700 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    found = lstatSync(root);
  }
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
  return ok(join(realpathSync.native(parent), basename(root)));
}

function statOf(path: string): Stats | null {
  return lstatSync(path, { throwIfNoEntry: false }) ?? null;
}

/** The state of a workspace's folder; a link or a file in its place is refused. */
export async function lookAt(top: string): Promise<Result<"absent" | "empty" | "filled">> {
  const found = statOf(top);
  if (found === null) return ok("absent");
  if (found.isSymbolicLink()) return err(isLink(top));
  if (!found.isDirectory()) return err(inTheWay(top, "it is not a folder"));
  return ok(readdirSync(top).length === 0 ? "empty" : "filled");
}

/** The project's folder in the worktree, which must be a real one: an agent may have replaced it by a link. */
export async function enter(top: string, prefix: string): Promise<Result<string>> {
  if (prefix === "") return ok(top);
  const dir = join(top, prefix).replace(/\/$/u, "");
  const real = realOf(dir);
  if (real === dir && lstatSync(dir).isDirectory()) return ok(dir);
  if (real !== null) return err(isLink(dir));
  return err({
    code: "project_not_committed",
    message: `The folder ${prefix} is not on the branch, so ${dir} does not exist.`,
    hint: `Commit it first: git add ${prefix} && git commit`,
  });
}

function realOf(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}

/** Moves the folder away in one step, so that a half-removed one never looks like work, and a process that dies here leaves nothing between. */
export async function moveAside(root: string, top: string, runId: string): Promise<void> {
  try {
    renameSync(top, join(root, `.gone.${runId}.${randomBytes(6).toString("hex")}`));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
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
  const closed: string[] = [];
  for (const name of names) {
    const found = await lstat(join(root, name)).catch(() => null);
    if (found === null) continue;
    // A process of a build before this one makes the folder, then moves a workspace into it: an empty one may be its own.
    const isAwaited = found.mtimeMs > Date.now() - MOVE_MS && (await isEmptyFolder(join(root, name), found));
    if (!isAwaited) closed.push(name);
  }
  return removeAll(root, closed);
}

const MOVE_MS = 600_000;

async function isEmptyFolder(path: string, found: Stats): Promise<boolean> {
  return found.isDirectory() && (await namesIn(path)).length === 0;
}

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
      await removeTree(path);
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

const REMOVE_MS = 600_000;

/** In a process of its own: thousands of files would keep every other file of this process waiting. Node says why where that fails. */
async function removeTree(path: string): Promise<void> {
  const env = { PATH: process.env["PATH"] ?? "" };
  const order = { file: "rm", args: ["-rf", "--", path], env, input: NOTHING, timeoutMs: REMOVE_MS, maxBytes: 65_536 };
  const { failure } = await launch(order);
  if (failure !== null) await rm(path, { recursive: true, force: true, maxRetries: 2 });
}

const NOTHING = new Uint8Array();

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
