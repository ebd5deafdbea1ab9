// The mount points. An agent could write those in a private folder: Passrail recreates them before each start if they have changed.

import { lstat, mkdir, rm, writeFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { contains } from "../shared/contains.ts";
import type { Mount } from "./mount.ts";

/** A mount follows links in its target path, so a link that an agent left in a private folder must not redirect it. */
export async function prepareTargets(mounts: readonly Mount[], privates: readonly Mount[]): Promise<void> {
  const folders = mounts.filter(({ kind }) => kind !== "link").toSorted((a, b) => b.target.length - a.target.length);
  for (const mount of mounts) {
    const parent = folders.find(({ target }) => target !== mount.target && contains(target, mount.target));
    // Everything else belongs to people: create and remove nothing there.
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
