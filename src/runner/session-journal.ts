// Reads a session file of an agent's program while the program appends to it: only whole lines, each once. The program's agent can write
// this file too, so it is hostile: no links, bounded lines, bounded in all, and a file that shrank or was replaced is read anew.

import { closeSync, readSync, realpathSync } from "node:fs";
import type { LimitUse } from "../core/run/limit-use.ts";
import { openConfined } from "../file/confined.ts";

/** Where a program keeps its sessions: the environment and the folder that it was started with. */
export type SessionPlaces = { readonly env: Readonly<Record<string, string | undefined>>; readonly cwd: string };

/** What a session file says of the account's limits. */
export type OnLimits = (uses: readonly LimitUse[]) => void;

export type SessionJournal = {
  /** Passes the lines that came since the last call. False where there is no such file, or it is not used. */
  read(on: JournalLines): boolean;
};

export type JournalLines = {
  readonly line: (text: string) => void;
  /** The file is another one, or shorter than before: what was read of it does not count. */
  readonly anew: () => void;
};

/** The longest line that is looked at; longer ones hold pictures and whole files. */
const LINE_BYTES = 8 * 1024 * 1024;
/** A session that is longer tells nothing any more. */
const JOURNAL_BYTES = 1024 * 1024 * 1024;
const PIECE_BYTES = 256 * 1024;

export function openJournal(root: string, path: string): SessionJournal {
  let identity = "";
  let offset = 0;
  let rest: Buffer[] = [];
  let restBytes = 0;
  const forget = (): void => {
    offset = 0;
    rest = [];
    restBytes = 0;
  };
  const take = (piece: Buffer, onLine: (text: string) => void): void => {
    let from = 0;
    for (let end = piece.indexOf(10); end !== -1; end = piece.indexOf(10, from)) {
      const last = piece.subarray(from, end);
      if (restBytes + last.length <= LINE_BYTES) onLine(Buffer.concat([...rest, last]).toString("utf8"));
      rest = [];
      restBytes = 0;
      from = end + 1;
    }
    const begun = piece.subarray(from);
    restBytes += begun.length;
    if (restBytes > LINE_BYTES) rest = [];
    else if (begun.length > 0) rest.push(Buffer.from(begun));
  };
  return {
    read({ line, anew }) {
      const opened = openConfined(root, path);
      if (!opened.ok || opened.value === undefined) return false;
      const { fd, size } = opened.value;
      try {
        if (size > JOURNAL_BYTES) return false;
        if (opened.value.identity !== identity || size < offset) {
          if (identity !== "") anew();
          forget();
          identity = opened.value.identity;
        }
        const buffer = Buffer.allocUnsafe(Math.min(PIECE_BYTES, Math.max(1, size - offset)));
        while (offset < size) {
          const bytes = readSync(fd, buffer, 0, Math.min(buffer.length, size - offset), offset);
          if (bytes === 0) break;
          offset += bytes;
          take(buffer.subarray(0, bytes), line);
        }
        return true;
      } finally {
        closeSync(fd);
      }
    },
  };
}

/** The program's own folder. The user may have it elsewhere, behind a link; below it no link is followed. */
export function sessionRoot(folder: string): string | undefined {
  try {
    return realpathSync(folder);
  } catch {
    return undefined;
  }
}

/** An id that is one plain name: it becomes a part of a path. */
export function isPlainId(id: string): boolean {
  return /^[A-Za-z0-9_-]{8,100}$/u.test(id);
}
