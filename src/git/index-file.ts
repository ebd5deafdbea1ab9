// The index that our own git has written for a snapshot: what it holds, and how it becomes the index of the work tree. Anything unusual is
// for git.

import { closeSync, futimesSync, openSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ASK_GIT, type AskGit, statPlain } from "./plain-file.ts";

export type IndexCopy = {
  readonly bytes: Buffer;
  /** When git wrote it, in seconds. */
  readonly at: number;
};

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
  const body = end === ASK_GIT ? null : treesFrom(index, end, idBytes);
  // No name, the number of entries, the number of folders, and the id of the tree.
  const root = /^\0(\d{1,9}) \d{1,9}\n/u.exec(body?.toString("latin1", 0, 32) ?? "");
  if (body === null || root === null || Number(root[1]) !== count || body.length < root[0].length + idBytes)
    return null;
  return body.toString("hex", root[0].length, root[0].length + idBytes);
}

/** The first extension, as git writes it; the checksum of the whole is at the end. */
function treesFrom(index: Buffer, end: number, idBytes: 20 | 32): Buffer | null {
  if (end + 8 > index.length || index.toString("latin1", end, end + 4) !== "TREE") return null;
  const bodyEnd = end + 8 + index.readUInt32BE(end + 4);
  return bodyEnd + idBytes > index.length ? null : index.subarray(end + 8, bodyEnd);
}

/** What git noted of one folder and those in it. */
export type NotedTree = {
  /** Null where an entry of it has changed since. */
  readonly id: Buffer | null;
  /** Files in it and below. */
  readonly entries: number;
  readonly folders: ReadonlyMap<string, NotedTree>;
};

/** All trees that the index notes; null if it notes none, or in a way that only git reads. */
export function readNotedTrees(index: Buffer, idBytes: 20 | 32): NotedTree | null {
  const end = walk(index, idBytes, () => undefined);
  const body = end === ASK_GIT ? null : treesFrom(index, end, idBytes);
  const read = body === null ? null : noteAt(body, 0, idBytes, 0);
  return read === null || read.end !== body?.length || read.name !== "" ? null : read.tree;
}

type ReadNote = { readonly name: string; readonly tree: NotedTree; readonly end: number };

const DEEPEST = 500;

function noteAt(body: Buffer, at: number, idBytes: 20 | 32, depth: number): ReadNote | null {
  const nameEnd = body.indexOf(0, at);
  const line = nameEnd === -1 ? "" : body.toString("latin1", nameEnd + 1, nameEnd + 24);
  const [head, entries, below] = /^(-1|\d{1,9}) (\d{1,9})\n/u.exec(line) ?? [];
  if (head === undefined || depth > DEEPEST) return null;
  const idAt = nameEnd + 1 + head.length;
  const isValid = entries !== "-1";
  let end = idAt + (isValid ? idBytes : 0);
  if (end > body.length) return null;
  const folders = new Map<string, NotedTree>();
  for (let left = Number(below); left > 0; left--) {
    const inner = noteAt(body, end, idBytes, depth + 1);
    if (inner === null) return null;
    folders.set(inner.name, inner.tree);
    end = inner.end;
  }
  const id = isValid ? body.subarray(idAt, idAt + idBytes) : null;
  return { name: body.toString("latin1", at, nameEnd), tree: { id, entries: Number(entries), folders }, end };
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
export function installIndex(gitDir: string, { bytes, at }: IndexCopy): "installed" | "locked" | AskGit {
  const index = join(gitDir, "index");
  const found = statPlain(index);
  if (found === null || found === ASK_GIT || !found.isFile()) return ASK_GIT;
  if (readdirSync(gitDir).some((name) => UNFINISHED.test(name))) return ASK_GIT;
  // git takes a file for unchanged when it is older than the index: the time at which the files were read must stay.
  return replaceIndex(gitDir, bytes, { mode: found.mode & 0o777, seconds: at });
}

/** Under git's own lock, and in one step. */
export function replaceIndex(
  gitDir: string,
  bytes: Buffer,
  { mode = 0o666, seconds }: { readonly mode?: number; readonly seconds?: number } = {},
): "installed" | "locked" {
  const index = join(gitDir, "index");
  const lock = `${index}.lock`;
  const file = takeLock(lock, mode);
  if (file === null) return "locked";
  try {
    try {
      writeFileSync(file, bytes);
      if (seconds !== undefined) futimesSync(file, seconds, seconds);
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
