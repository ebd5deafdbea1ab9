// The folders that stand for the home and /tmp inside: one set per workspace, kept as long as the workspace is. Agents write there, so before
// each start the places where something will be mounted are made anew if they are not what we made.

import { chmod, lstat, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { err, ok, type Result } from "../../core/result.ts";
import type { Mount } from "./arguments.ts";
import { unavailable } from "./check.ts";
import { contains } from "./program.ts";

/** Makes a folder of ours below `root`; a link or a file in its place is refused. */
export async function openPrivate(root: string, ...names: readonly string[]): Promise<Result<string>> {
  let path = root;
  for (const name of ["", ...names]) {
    path = join(path, name);
    await mkdir(path, { recursive: true, mode: 0o700 }).catch(() => {});
    const found = await lstat(path).catch(() => null);
    if (found?.isDirectory() !== true) {
      return err(unavailable(`${path} is not a folder of its own.`, `Look at it and remove it: ls -ld ${path}`));
    }
  }
  return ok(path);
}

/** A mount lands where its target leads: no link that an agent left in a private folder may lead it elsewhere. */
export async function prepareTargets(mounts: readonly Mount[], privates: readonly Mount[]): Promise<void> {
  const folders = mounts.filter(({ kind }) => kind !== "link").toSorted((a, b) => b.target.length - a.target.length);
  for (const mount of mounts) {
    const parent = folders.find(({ target }) => target !== mount.target && contains(target, mount.target));
    // Everything else belongs to people: nothing is made or removed there.
    if (parent === undefined || !privates.includes(parent)) continue;
    await prepare(parent.source, relative(parent.target, mount.target).split(sep), mount);
  }
}

async function prepare(root: string, way: readonly string[], mount: Mount): Promise<void> {
  let path = root;
  for (const name of way.slice(0, -1)) {
    path = join(path, name);
    await remake(path, true);
  }
  path = join(path, way.at(-1) ?? "");
  if (mount.kind === "link") {
    await rm(path, { recursive: true, force: true });
    return;
  }
  await remake(path, (await lstat(mount.source)).isDirectory());
}

async function remake(path: string, folder: boolean): Promise<void> {
  const found = await lstat(path).catch(() => null);
  if (found !== null && (folder ? found.isDirectory() : found.isFile())) return;
  await rm(path, { recursive: true, force: true });
  if (folder) await mkdir(path, { mode: 0o700 });
  else await writeFile(path, "", { flag: "wx", mode: 0o600 });
}

/** Also where a program made folders that nobody may write, as caches of packages are. */
export async function removePrivate(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    await openUp(path);
    await rm(path, { recursive: true, force: true });
  }
}

async function openUp(folder: string): Promise<void> {
  if ((await lstat(folder).catch(() => null))?.isDirectory() !== true) return;
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await openUp(join(folder, entry.name));
  }
}
