// The files of the next worktree, checked out while agents work. Opening a worktree then moves them into place, and git writes only what
// differs there. A spare is no worktree: no repository knows of it and it holds no work, so whatever a crash leaves of one is removed. Names
// begin with a dot: `.making.` until all files are there, `.spare.` until somebody takes it, `.taken.` until its files are in place.

import { createHash, randomBytes } from "node:crypto";
import { constants, copyFileSync, lstatSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { lstat, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import {
  type ApartFiles,
  attributesOf,
  attributesOfApart,
  checkOutApart,
  isSameAnywhere,
} from "../git/checkout-apart.ts";
import { ASK_GIT } from "../git/plain-file.ts";
import { type Registration, relink } from "./registration.ts";

export type Spares = {
  /** Makes one of this commit, unless the repository has one or has settings that a worktree may change. Where that fails there is none. */
  prepare(root: string, commonDir: string, commit: string): Promise<void>;
  /** Removes those that this process has made and nobody has taken. */
  drop(root: string): Promise<void>;
  /** Removes what processes that have ended left. */
  sweep(root: string): Promise<void>;
};

/** A moment in which a folder has one of these names; a process that is slower loses it. */
const TAKEN_MS = 600_000;

export function createSpares(): Spares {
  const own = new Set<string>();
  const making = new Map<string, Promise<void>>();
  return {
    async prepare(root, commonDir, commit) {
      const id = idOf(commonDir);
      const known = making.get(id);
      if (known !== undefined) return known;
      const made = make(root, commonDir, commit, own).finally(() => making.delete(id));
      making.set(id, made);
      return made;
    },

    async drop(root) {
      await Promise.all(making.values());
      for (const name of namesIn(root, ".spare.")) if (own.has(name)) await discard(root, name);
    },

    async sweep(root) {
      for (const name of namesIn(root, ".making.")) if (!own.has(name)) await remove(join(root, name));
      for (const name of namesIn(root, ".spare.")) if (!own.has(name)) await discard(root, name);
      for (const name of namesIn(root, ".taken.")) {
        const found = await lstat(join(root, name)).catch(() => null);
        if (found !== null && found.ctimeMs < Date.now() - TAKEN_MS) await remove(join(root, name));
      }
    },
  };
}

/** What has to be the same in the index of the worktree, or all files are to be written again. */
export type MovedIn = { readonly attributes: string };

/** Moves the files of a spare to a worktree that is registered and has none; null if there is no spare for it. */
export async function moveSpareIn(root: string, registration: Registration): Promise<MovedIn | null> {
  const { commonDir, gitDir, top } = registration.place;
  const index = join(gitDir, "index");
  if (!isSameAnywhere(commonDir)) return null;
  for (const name of namesIn(root, `.spare.${idOf(commonDir)}.`)) {
    const taken = take(root, name);
    if (taken === null) continue;
    const files = filesIn(taken);
    try {
      const attributes = attributesOfApart(commonDir, files);
      if (attributes === ASK_GIT) continue;
      // The index first, as a copy: the repository may be on another file system. Files without their index would look like an agent's work.
      copyFileSync(files.index, index, constants.COPYFILE_EXCL);
      writeFileSync(join(files.top, ".git"), `gitdir: ${gitDir}\n`, { flag: "wx" });
      // A crash from here on leaves a worktree that is marked as half-made: the next opening begins anew.
      rmSync(join(top, ".git"), { force: true });
      renameSync(files.top, top);
      return { attributes };
    } catch {
      // Nothing was moved. Then git writes all files.
      rmSync(index, { force: true });
      const linked = relink(registration);
      if (!linked.ok) return null;
    } finally {
      if (isThere(taken)) await remove(taken);
    }
  }
  return null;
}

/** Whether git has written all that it would have written without a spare. */
export function isAsFresh({ place }: Registration, { attributes }: MovedIn): boolean {
  return attributesOf(place.commonDir, join(place.gitDir, "index")) === attributes;
}

async function make(root: string, commonDir: string, commit: string, own: Set<string>): Promise<void> {
  const id = idOf(commonDir);
  if (!isSameAnywhere(commonDir) || namesIn(root, `.spare.${id}.`).length > 0) return;
  // Those that this process made before are taken.
  for (const name of own) if (name.startsWith(`.spare.${id}.`)) own.delete(name);
  const suffix = randomBytes(6).toString("hex");
  const [unfinished, name] = [`.making.${id}.${suffix}`, `.spare.${id}.${suffix}`];
  own.add(unfinished).add(name);
  const folder = join(root, unfinished);
  try {
    const files = filesIn(folder);
    await mkdir(folder, { mode: 0o700 });
    await mkdir(files.top);
    const done = await checkOutApart(commonDir, commit, files);
    if (done.ok) await rename(folder, join(root, name));
    else await remove(folder);
  } catch {
    await remove(folder);
  } finally {
    own.delete(unfinished);
  }
}

function filesIn(folder: string): ApartFiles {
  return { top: join(folder, "work"), index: join(folder, "index") };
}

/** Only one process can take it; null if another one has. */
function take(root: string, name: string): string | null {
  const taken = join(root, `.taken.${randomBytes(6).toString("hex")}`);
  try {
    if (!lstatSync(join(root, name)).isDirectory()) return null;
    renameSync(join(root, name), taken);
    return taken;
  } catch {
    return null;
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

async function discard(root: string, name: string): Promise<void> {
  const taken = take(root, name);
  if (taken !== null) await remove(taken);
}

/** What cannot be removed now is removed at a later start. */
async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 2 }).catch(() => undefined);
}

function namesIn(root: string, prefix: string): readonly string[] {
  try {
    return readdirSync(root).filter((name) => name.startsWith(prefix));
  } catch {
    return [];
  }
}

function idOf(commonDir: string): string {
  return createHash("sha256").update(commonDir).digest("hex").slice(0, 16);
}
