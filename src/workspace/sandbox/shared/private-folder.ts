// The folders that serve as the home or /tmp inside a sandbox: one set per workspace, kept as long as the workspace. Agents write there.

import { lstatSync, mkdirSync } from "node:fs";
import { chmod, lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Result } from "../../../core/result.ts";

export const PRIVATE_HOME = "home";
export const PRIVATE_TMP = "tmp";

/** Of a program that keeps its files outside of its home; no known one has more. */
export const loginFolder = (index: number): string => `login-${index}`;
export const LOGINS_AT_MOST = 4;

/** Creates a private folder below `root`; refuses a link or a file in its place. */
export async function openPrivate(root: string, ...names: readonly string[]): Promise<Result<string>> {
  let path = root;
  for (const name of ["", ...names]) {
    path = join(path, name);
    if (!isFolderThere(path)) {
      const message = `${path} is not a folder of its own, so no program is put there.`;
      return err({ code: "sandbox_unavailable", message, hint: `Look at it and remove it: ls -ld ${path}` });
    }
  }
  return ok(path);
}

/** At once: before each start there are a dozen of these, and through the pool of threads each takes several times as long. */
function isFolderThere(path: string): boolean {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch {
    // What is there instead shows.
  }
  try {
    return lstatSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** Also removes read-only folders, such as package caches. */
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
