// Files that tests need and that are made from the source: made anew once after a change, beside the old ones, which are replaced in one
// step, because programs of other tests may be reading them.

import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { until } from "./until.ts";

export const ROOT: string = fileURLToPath(new URL("../..", import.meta.url));
export const BUILD_WITHIN_MS = 120_000;

export type Built = {
  readonly folder: string;
  /** The file of the folder whose age counts. */
  readonly main: string;
  /** Folders and files that go into them, besides packages. */
  readonly sources: readonly string[];
  readonly build: (folder: string) => Promise<unknown>;
};

export async function buildOnce(built: Built): Promise<void> {
  if (isFresh(built)) return;
  const lock = `${built.folder}.lock`;
  mkdirSync(dirname(built.folder), { recursive: true });
  // Test files run side by side: one builds, the others wait for it.
  await until(`another test has built ${built.folder}`, () => (take(lock) ? true : undefined), BUILD_WITHIN_MS);
  try {
    if (!isFresh(built)) await replace(built);
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

async function replace({ folder, build }: Built): Promise<void> {
  const [fresh, old] = [`${folder}.new`, `${folder}.old`];
  for (const path of [fresh, old]) rmSync(path, { recursive: true, force: true });
  await build(fresh);
  if (existsSync(folder)) renameSync(folder, old);
  renameSync(fresh, folder);
  rmSync(old, { recursive: true, force: true });
}

function isFresh({ folder, main, sources }: Built): boolean {
  const path = join(folder, main);
  return existsSync(path) && statSync(path).mtimeMs >= newest(sources);
}

function newest(sources: readonly string[]): number {
  const files = sources.flatMap((source) => {
    const path = join(ROOT, source);
    if (statSync(path).isFile()) return [path];
    const entries = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return entries.map(({ parentPath, name }) => join(parentPath, name));
  });
  return Math.max(...files.map((file) => statSync(file).mtimeMs));
}

/** A lock that was left by somebody who was killed is not waited for. */
function take(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    const age = existsSync(lock) ? Date.now() - statSync(lock).mtimeMs : 0;
    if (age > BUILD_WITHIN_MS) rmSync(lock, { recursive: true, force: true });
    return false;
  }
}
