// The daemon's log: lines with a time. The file is rotated by size, so that a long-running daemon does not fill the disk. A failing log
// stops nothing.

import { appendFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

export type Log = { readonly file: string | null; write(line: string): void };

export type LogOptions = { readonly now: () => string; readonly maxBytes?: number; readonly keep?: number };

const MAX_BYTES = 10 * 1024 * 1024;
const KEEP = 5;
const LINE_CHARS = 8000;

export function logFile(home: string): string {
  return join(home, "logs", "daemon.log");
}

export function openLogFile(file: string, { now, maxBytes = MAX_BYTES, keep = KEEP }: LogOptions): Log {
  let bytes = sizeOf(file);
  return {
    file,
    write(line) {
      const text = `${now()} ${oneLine(line)}\n`;
      try {
        if (bytes > 0 && bytes + Buffer.byteLength(text) > maxBytes) {
          rotate(file, keep);
          bytes = 0;
        }
        appendFileSync(file, text, { mode: 0o600 });
        bytes += Buffer.byteLength(text);
      } catch {
        // Other writers report a full disk.
      }
    },
  };
}

/** Text from others can neither add a line to the log nor move a terminal's cursor. */
export function oneLine(text: string): string {
  return text
    .slice(0, LINE_CHARS)
    .replaceAll("\n", " ⏎ ")
    .replaceAll(/[\p{Cc}\u2028\u2029]/gu, " ");
}

/** daemon.log becomes daemon.log.1, and so on; the oldest is removed. */
function rotate(file: string, keep: number): void {
  rmSync(`${file}.${keep}`, { force: true });
  for (let at = keep - 1; at >= 1; at--) {
    if (sizeOf(`${file}.${at}`) > 0) renameSync(`${file}.${at}`, `${file}.${at + 1}`);
  }
  renameSync(file, `${file}.1`);
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
