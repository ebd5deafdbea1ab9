// Counts the lines that a diff adds and removes, per file, piece by piece. Only the numbers in a hunk's head end the hunk: a removed line
// that begins with two dashes looks like a file name.

import type { FileHandle } from "node:fs/promises";

/** The part of a file handle that is needed here; a text can provide it too. */
export type Readable = {
  read(piece: Buffer, offset: number, length: number, position: number): Promise<{ readonly bytesRead: number }>;
};

const PIECE = 256 * 1024;
const READ_AT_MOST = 32 * 1024 * 1024;
const FILES_AT_MOST = 2000;
/** Heads are short; of a line of text only the first character counts. */
const HEAD_BYTES = 4096;
const NEWLINE = 0x0a;

type FileStat = { path: string; added: number; removed: number; isBinary: boolean };
export type DiffStat = {
  readonly files: readonly FileStat[];
  readonly added: number;
  readonly removed: number;
  /** The diff is longer than the part that was read. */
  readonly isCut: boolean;
};

export async function statOfDiff(handle: FileHandle | Readable, readAtMost = READ_AT_MOST): Promise<DiffStat> {
  const files: FileStat[] = [];
  const left = { old: 0, new: 0 };
  let isCut = false;

  function take(text: string): void {
    const file = files.at(-1);
    // Passrail's own line, where it cut the diff; no line of a diff can begin like this.
    if (text.startsWith("[passrail: ")) isCut = true;
    else if (left.old > 0 || left.new > 0) {
      if (text.startsWith("+")) left.new--;
      else if (text.startsWith("-")) left.old--;
      else if (!text.startsWith("\\")) {
        left.old--;
        left.new--;
      }
      if (file !== undefined && text.startsWith("+")) file.added++;
      if (file !== undefined && text.startsWith("-")) file.removed++;
    } else if (text.startsWith("diff --git ")) {
      if (files.length === FILES_AT_MOST) isCut = true;
      else files.push({ path: pathIn(text), added: 0, removed: 0, isBinary: false });
    } else if (text.startsWith("@@ ")) {
      const [, old = "1", fresh = "1"] = HUNK.exec(text) ?? [];
      Object.assign(left, { old: Number(old), new: Number(fresh) });
    } else if (file !== undefined && (text.startsWith("Binary files ") || text.startsWith("GIT binary patch"))) {
      file.isBinary = true;
    }
  }

  let partial = "";
  for (let at = 0; !isCut; ) {
    const piece = Buffer.alloc(PIECE);
    const { bytesRead } = await handle.read(piece, 0, PIECE, at);
    if (bytesRead === 0) break;
    at += bytesRead;
    const bytes = piece.subarray(0, bytesRead);
    for (let position = 0; !isCut; ) {
      const end = bytes.indexOf(NEWLINE, position);
      const until = Math.min(end === -1 ? bytesRead : end, position + HEAD_BYTES);
      const text = bytes.toString("utf8", position, until);
      if (end === -1) {
        partial = (partial + text).slice(0, HEAD_BYTES);
        break;
      }
      take(partial + text);
      partial = "";
      position = end + 1;
    }
    if (at >= readAtMost) isCut = true;
  }
  if (!isCut && partial !== "") take(partial);
  const sum = (key: "added" | "removed") => files.reduce((total, file) => total + file[key], 0);
  return { files, added: sum("added"), removed: sum("removed"), isCut };
}

/** Numbers of lines; omitted if there is one. */
const HUNK = /^@@ -[0-9]{1,10}(?:,([0-9]{1,10}))? \+[0-9]{1,10}(?:,([0-9]{1,10}))? @@/;

/** `a/NAME b/NAME`: after a rename the two differ, and the second counts. */
function pathIn(head: string): string {
  const names = head.slice("diff --git ".length).trimEnd();
  const half = (names.length - 1) / 2;
  if (names.startsWith("a/") && names.slice(2, half) === names.slice(half + 3)) return names.slice(2, half);
  const second = Math.max(names.lastIndexOf(" b/"), names.lastIndexOf(' "b/'));
  const name = second === -1 ? names : names.slice(second + 1);
  return name
    .replace(/^"?b\//, "")
    .replace(/"$/, "")
    .slice(0, 1000);
}
