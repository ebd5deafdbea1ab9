// The index that our own git has written for a snapshot: what it holds, and how it becomes the index of the work tree. Anything unusual is
// for git.

import {
  closeSync,
  futimesSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { ASK_GIT, type AskGit, statPlain } from "./plain-file.ts";

const HEADER = 12;
/** Times, device, inode, owner and size before the mode and after it. */
const MODE_AT = 24;
const FIXED = 40;
export const GITLINK = 0o160000;

/** Whether an entry names a commit of another repository. */
export function holdsGitlink(index: Buffer, idBytes: 20 | 32): boolean | AskGit {
  let holds = false;
  const end = walk(index, idBytes, (at) => {
    holds ||= index.readUInt32BE(at + MODE_AT) === GITLINK;
  });
  if (holds || end === ASK_GIT) return holds || ASK_GIT;
  // A part of the entries is in another file.
  return index.includes("link", end, "latin1") || index.includes("sdir", end, "latin1") ? ASK_GIT : false;
}

/**
 * The tree that git noted in the index for exactly its entries; null if it noted none, or has to be asked. `git write-tree` takes it from
 * there too.
 */
export function notedTree(index: Buffer, idBytes: 20 | 32): string | null {
  let count = 0;
  const end = walk(index, idBytes, () => {
    count += 1;
  });
  if (end === ASK_GIT || end + 8 > index.length) return null;
  // The first extension, as git writes it; the checksum of the whole is at the end.
  const bodyEnd = end + 8 + index.readUInt32BE(end + 4);
  if (index.toString("latin1", end, end + 4) !== "TREE" || bodyEnd + idBytes > index.length) return null;
  const body = index.subarray(end + 8, bodyEnd);
  // No name, the number of entries, the number of folders, and the id of the tree.
  const root = /^\0(\d{1,9}) \d{1,9}\n/u.exec(body.toString("latin1", 0, 32));
  if (root === null || Number(root[1]) !== count || body.length < root[0].length + idBytes) return null;
  return body.toString("hex", root[0].length, root[0].length + idBytes);
}

/** Calls `visit` with the place of each entry; returns where they end. */
function walk(index: Buffer, idBytes: 20 | 32, visit: (at: number) => void): number | AskGit {
  if (index.length < HEADER || index.toString("latin1", 0, 4) !== "DIRC") return ASK_GIT;
  const version = index.readUInt32BE(4);
  if (version !== 2 && version !== 3) return ASK_GIT;
  let at = HEADER;
  for (let left = index.readUInt32BE(8); left > 0; left--) {
    const flagsAt = at + FIXED + idBytes;
    if (flagsAt + 4 > index.length) return ASK_GIT;
    visit(at);
    const flags = index.readUInt16BE(flagsAt);
    const nameAt = flagsAt + ((flags & 0x4000) === 0 ? 2 : 4);
    const long = (flags & 0xfff) === 0xfff;
    const nameEnd = long ? index.indexOf(0, nameAt) : nameAt + (flags & 0xfff);
    if (nameEnd < nameAt || nameEnd >= index.length) return ASK_GIT;
    // One to eight zero bytes end an entry, so that the next one begins at a multiple of eight.
    at += (nameEnd - at + 8) & ~7;
  }
  return at;
}

/** What an unfinished merge, rebase or bisection leaves in a git directory; `git reset` ends the ones that it knows. */
const UNFINISHED = /^(?:MERGE_|CHERRY_PICK_|REVERT_|SQUASH_|AUTO_MERGE|BISECT_|REBASE_|rebase-|sequencer)/u;

/**
 * The snapshot's index becomes the one of the work tree, as `git reset --mixed` would write it after the commit: under git's own lock, and
 * in one step. It also has the times of the files, so that nobody has to read them again.
 */
export function installIndex(gitDir: string, snapshot: string): "installed" | "locked" | AskGit {
  const index = join(gitDir, "index");
  const found = statPlain(index);
  if (found === null || found === ASK_GIT || !found.isFile()) return ASK_GIT;
  if (readdirSync(gitDir).some((name) => UNFINISHED.test(name))) return ASK_GIT;
  const bytes = readFileSync(snapshot);
  // git takes a file for unchanged when it is older than the index: the time at which the files were read must stay.
  const seconds = Math.floor(lstatSync(snapshot).mtimeMs / 1000);
  const lock = `${index}.lock`;
  const file = takeLock(lock, found.mode & 0o777);
  if (file === null) return "locked";
  try {
    try {
      writeFileSync(file, bytes);
      futimesSync(file, seconds, seconds);
    } finally {
      closeSync(file);
    }
    renameSync(lock, index);
    return "installed";
  } catch (error) {
    rmSync(lock, { force: true });
    throw error;
  }
}

/** The open file; null if somebody else holds the lock. */
function takeLock(lock: string, mode: number): number | null {
  try {
    return openSync(lock, "wx", mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return null;
    throw error;
  }
}
