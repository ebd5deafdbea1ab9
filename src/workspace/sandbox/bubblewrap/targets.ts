// The mount points. An agent could write those in a private folder: Passrail recreates them before each start if they have changed.

import { lstatSync, mkdirSync, rmSync, type Stats, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { contains } from "../shared/contains.ts";
import type { Mount } from "./mount.ts";

/** A mount follows links in its target path, so a link that an agent left in a private folder must not redirect it. */
export function prepareTargets(mounts: readonly Mount[], privates: readonly Mount[]): void {
  const folders = mounts.filter(({ kind }) => kind !== "link").toSorted((a, b) => b.target.length - a.target.length);
  for (const mount of mounts) {
    const parent = folders.find(({ target }) => target !== mount.target && contains(target, mount.target));
    // Everything else belongs to people: create and remove nothing there.
    if (parent === undefined || !privates.includes(parent)) continue;
    prepare(parent.source, relative(parent.target, mount.target).split(sep), mount);
  }
}

function prepare(root: string, way: readonly string[], mount: Mount): void {
  let path = root;
  for (const name of way.slice(0, -1)) {
    path = join(path, name);
    remake(path, true);
  }
  path = join(path, way.at(-1) ?? "");
  if (mount.kind === "link") {
    rmSync(path, { recursive: true, force: true });
    return;
  }
  remake(path, lstatSync(mount.source).isDirectory());
}

function remake(path: string, folder: boolean): void {
  const found = lookAt(path);
  if (found !== null && (folder ? found.isDirectory() : found.isFile())) return;
  rmSync(path, { recursive: true, force: true });
  if (folder) mkdirSync(path, { mode: 0o700 });
  else writeFileSync(path, "", { flag: "wx", mode: 0o600 });
}

function lookAt(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch {
    return null;
  }
}
