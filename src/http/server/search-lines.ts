// Finds the lines of a file that hold a text, piece by piece: no pattern, no line in memory, never more than a bounded part of the file
// per call. A file of one endless line is searched like any other.

import type { FileHandle } from "node:fs/promises";
import { cutCharacter } from "./attempt-file.ts";

const PIECE = 256 * 1024;
const READ_AT_MOST = 16 * 1024 * 1024;
const SHOWN_CHARS = 500;
/** Characters of a long line to show before the match. */
const BEFORE_FIND = 100;
const NEWLINE = 0x0a;

export type Search = {
  readonly text: string;
  /** The beginning of a line. */
  readonly offset: number;
  /** The number of lines before it. */
  readonly line: number;
  readonly limit: number;
  readonly readAtMost?: number;
};
type FoundLine = { readonly line: number; readonly offset: number; readonly text: string };
export type LogSearch = {
  readonly lines: readonly FoundLine[];
  /** OFFSET-LINE to continue from; null at the end of the file. */
  readonly next: string | null;
};

export async function searchLines(
  handle: FileHandle,
  { text, offset, line: first, limit, readAtMost = READ_AT_MOST }: Search,
): Promise<LogSearch> {
  const wanted = Buffer.from(text, "utf8");
  const lines: FoundLine[] = [];
  // The end of the previous piece: a match may cross the border.
  let rest = Buffer.alloc(0);
  let at = offset;
  let line = { number: first + 1, start: offset, isFound: false };
  while (at - offset < readAtMost) {
    const piece = Buffer.alloc(PIECE);
    const { bytesRead } = await handle.read(piece, 0, PIECE, at);
    if (bytesRead === 0) return { lines, next: null };
    const bytes = Buffer.concat([rest, piece.subarray(0, bytesRead)]);
    const base = at - rest.length;
    at += bytesRead;
    for (let position = 0, find = bytes.indexOf(wanted); ; ) {
      const end = bytes.indexOf(NEWLINE, position);
      // Searched again only behind the last match, so each byte is read once, however many lines there are.
      if (find !== -1 && find < position) find = bytes.indexOf(wanted, position);
      if (!line.isFound && find !== -1 && (end === -1 || find < end)) {
        line.isFound = true;
        lines.push({
          line: line.number,
          offset: base + find,
          text: await shown(handle, line.start, base + find, wanted),
        });
      }
      if (end === -1) break;
      position = end + 1;
      line = { number: line.number + 1, start: base + position, isFound: false };
      if (lines.length >= limit) return { lines, next: `${line.start}-${line.number - 1}` };
    }
    rest = bytes.subarray(Math.max(0, bytes.length - (wanted.length - 1)));
    // Newlines in it were counted already.
    rest = rest.subarray(rest.lastIndexOf(NEWLINE) + 1);
  }
  // The last line is left to the next call, unless it is longer than a call reads: then the next call continues inside it.
  const goOn = line.start > offset ? line.start : at - rest.length;
  return { lines: lines.filter((found) => found.offset < goOn), next: `${goOn}-${line.number - 1}` };
}

/** The line from its beginning, or from shortly before a match that is far in. */
async function shown(handle: FileHandle, start: number, find: number, wanted: Buffer): Promise<string> {
  const from = find + wanted.length - start <= SHOWN_CHARS ? start : find - BEFORE_FIND;
  const bytes = Buffer.alloc(SHOWN_CHARS * 4);
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, from);
  const end = bytes.subarray(0, bytesRead).indexOf(NEWLINE);
  const part = bytes.subarray(0, end === -1 ? bytesRead : end);
  const whole = cutCharacter(skipContinuation(part), end !== -1).toString("utf8");
  return whole.slice(0, SHOWN_CHARS).replace(/[\ud800-\udbff]$|\r$/, "");
}

/** A part that begins in the middle of a character starts after it. */
function skipContinuation(bytes: Buffer): Buffer {
  let begin = 0;
  while (begin < 3 && begin < bytes.length && ((bytes[begin] ?? 0) & 0b1100_0000) === 0b1000_0000) begin++;
  return bytes.subarray(begin);
}
