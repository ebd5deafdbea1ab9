// The entries of an index file, in the plain form that git writes by itself, and an index made of such entries. A conflict, a flag, a name
// out of order or a part in another file is for git.

import { createHash } from "node:crypto";
import { ASK_GIT, type AskGit } from "./plain-file.ts";

export type IndexEntry = {
  /** latin1, as git lists it */
  readonly path: string;
  readonly mode: number;
  /** Its object, in bytes. */
  readonly id: Buffer;
  /** The whole entry as it is in the file. */
  readonly raw: Buffer;
};

/** Times in nanoseconds, as the file system gives them. */
export type FileStat = {
  readonly ctimeNs: bigint;
  readonly mtimeNs: bigint;
  readonly dev: bigint;
  readonly ino: bigint;
  readonly uid: bigint;
  readonly gid: bigint;
  readonly size: bigint;
};

export type IdBytes = 20 | 32;

const HEADER = 12;
const FIXED = 40;
const MODE_AT = 24;
const VERSION = 2;
const NAME_MASK = 0xfff;

export const hashName = (idBytes: IdBytes): "sha1" | "sha256" => (idBytes === 20 ? "sha1" : "sha256");

export function readEntries(index: Buffer, idBytes: IdBytes): readonly IndexEntry[] | AskGit {
  if (index.length < HEADER + idBytes || index.toString("latin1", 0, 4) !== "DIRC") return ASK_GIT;
  if (index.readUInt32BE(4) !== VERSION) return ASK_GIT;
  const entries: IndexEntry[] = [];
  let at = HEADER;
  let last = "";
  for (let left = index.readUInt32BE(8); left > 0; left--) {
    const flagsAt = at + FIXED + idBytes;
    const nameAt = flagsAt + 2;
    if (nameAt + 2 > index.length) return ASK_GIT;
    const flags = index.readUInt16BE(flagsAt);
    // Stages of a conflict, files that are taken for unchanged, and everything that later versions added.
    if ((flags & ~NAME_MASK) !== 0) return ASK_GIT;
    const nameEnd = flags === NAME_MASK ? index.indexOf(0, nameAt) : nameAt + flags;
    const end = at + ((nameEnd - at + 8) & ~7);
    if (nameEnd <= nameAt || end > index.length) return ASK_GIT;
    const path = index.toString("latin1", nameAt, nameEnd);
    if (path <= last) return ASK_GIT;
    last = path;
    const id = index.subarray(at + FIXED, flagsAt);
    entries.push({ path, mode: index.readUInt32BE(at + MODE_AT), id, raw: index.subarray(at, end) });
    at = end;
  }
  return areOptional(index, at, idBytes) ? entries : ASK_GIT;
}

/** Whether git could leave out all that follows the entries: an extension that it may not ignore begins with a small letter. */
function areOptional(index: Buffer, from: number, idBytes: IdBytes): boolean {
  const end = index.length - idBytes;
  let at = from;
  while (at + 8 <= end) {
    const first = index[at] ?? 0;
    if (first < 0x41 || first > 0x5a) return false;
    at += 8 + index.readUInt32BE(at + 4);
  }
  return at === end;
}

/** An entry for a file as it was found. */
export function makeEntry(path: string, mode: number, id: Buffer, stat: FileStat): IndexEntry {
  const name = Buffer.from(path, "latin1");
  const nameAt = FIXED + id.length + 2;
  const raw = Buffer.alloc((nameAt + name.length + 8) & ~7);
  const [ctime, mtime] = [stat.ctimeNs, stat.mtimeNs].map((ns) => [ns / SECOND, ns % SECOND] as const);
  const words = [...(ctime ?? []), ...(mtime ?? []), stat.dev, stat.ino, BigInt(mode), stat.uid, stat.gid, stat.size];
  words.forEach((word, at) => raw.writeUInt32BE(Number(word & WORD), at * 4));
  id.copy(raw, FIXED);
  raw.writeUInt16BE(Math.min(name.length, NAME_MASK), FIXED + id.length);
  name.copy(raw, nameAt);
  return { path, mode, id: Buffer.from(id), raw };
}

const SECOND = 1_000_000_000n;
const WORD = 0xffffffffn;

/** Whether the file is still as the entry has it. */
export function isAsEntered({ path, mode, id, raw }: IndexEntry, stat: FileStat): boolean {
  return makeEntry(path, mode, id, stat).raw.equals(raw);
}

/** An index with these entries, in order, and with the trees that they make as git notes them. */
export function makeIndex(entries: readonly IndexEntry[], trees: Buffer, idBytes: IdBytes): Buffer {
  const header = Buffer.alloc(HEADER);
  header.write("DIRC", "latin1");
  header.writeUInt32BE(VERSION, 4);
  header.writeUInt32BE(entries.length, 8);
  const extension = Buffer.alloc(8);
  extension.write("TREE", "latin1");
  extension.writeUInt32BE(trees.length, 4);
  const body = Buffer.concat([header, ...entries.map(({ raw }) => raw), extension, trees]);
  return Buffer.concat([body, createHash(hashName(idBytes)).update(body).digest()]);
}
