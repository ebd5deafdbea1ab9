// Files of a repository that Passrail reads by itself, so that git need not be started for what is written there in plain. Whatever is not
// exactly as git writes it is not read here: the caller asks git, which then answers or refuses as it always did. The files are small, and
// reading them at once takes a tenth of the time that handing each step to another thread does.

import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats } from "node:fs";
import { join } from "node:path";

/** What git must be asked about. */
export const ASK_GIT = Symbol("ask git");
export type AskGit = typeof ASK_GIT;

/** The bytes of a regular file, null if nothing is there. A link, a pipe or a file of more bytes is for git. */
export function readPlain(path: string, maxBytes: number): Buffer | null | AskGit {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  let file: number | undefined;
  try {
    file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const found = fstatSync(file);
    if (!found.isFile() || found.size > maxBytes) return ASK_GIT;
    const bytes = readFileSync(file);
    return bytes.length > maxBytes ? ASK_GIT : bytes;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? null : ASK_GIT;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** What is at a path, not what a link there leads to; null if there is nothing. */
export function statPlain(path: string): Stats | null | AskGit {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOTDIR" ? null : ASK_GIT;
  }
}

/** Whether a path leads through real folders only; null if one of them is not there. */
export function isBelowFolders(root: string, folders: readonly string[]): boolean | null {
  let path = root;
  for (const name of folders) {
    path = join(path, name);
    const found = statPlain(path);
    if (found === ASK_GIT) return false;
    // A file in the place of a folder: the name below it cannot exist.
    if (found === null || found.isFile()) return null;
    if (!found.isDirectory()) return false;
  }
  return true;
}
