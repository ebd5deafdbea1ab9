// A private, append-only file of lines. Each line is durable before the call returns; the owner can rewrite the whole file. The journal
// does not interpret its lines.

import {
  closeSync,
  constants,
  fchmodSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";

export type Journal = {
  /** The lines of the file when it was opened, without one that a crash cut off. */
  readonly lines: readonly string[];
  append(line: string): void;
  /** Replaces the whole content: after a crash the file has either all of it or none. */
  rewrite(lines: readonly string[]): void;
  /** Bytes in the file. */
  size(): number;
  close(): void;
};

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDWR, O_WRONLY } = constants;

export function openJournal(path: string, maxBytes: number): Journal {
  let fd = openPrivate(path);
  let bytes = fstatSync(fd).size;
  if (bytes > maxBytes) {
    closeSync(fd);
    throw new Error(`${path} is larger than it can have become. Move it away to start with an empty one.`);
  }
  const text = readFileSync(fd, "utf8");
  const lines = text.split("\n");
  const last = lines.pop() ?? "";
  // A cut-off line would merge with the next line.
  let isTorn = last !== "";
  let isClosed = false;

  return {
    lines,
    append(line) {
      requireOpen();
      if (isTorn) endLine();
      isTorn = true;
      writeFileSync(fd, `${line}\n`);
      fdatasyncSync(fd);
      isTorn = false;
      bytes += Buffer.byteLength(line) + 1;
    },
    rewrite(all) {
      requireOpen();
      const partial = `${path}.new`;
      rmSync(partial, { force: true });
      const next = openSync(partial, O_CREAT | O_EXCL | O_WRONLY | O_APPEND | O_NOFOLLOW, 0o600);
      try {
        writeFileSync(next, all.map((line) => `${line}\n`).join(""));
        fsyncSync(next);
        renameSync(partial, path);
      } catch (error) {
        closeSync(next);
        throw error;
      }
      closeSync(fd);
      fd = next;
      isTorn = false;
      bytes = fstatSync(fd).size;
      syncFolder(dirname(path));
    },
    size: () => bytes,
    close() {
      if (isClosed) return;
      isClosed = true;
      closeSync(fd);
    },
  };

  /** After close, the file descriptor's number may belong to another file. */
  function requireOpen(): void {
    if (isClosed) throw new Error(`${path} is closed.`);
  }

  /** Ends the broken line, so that readers can skip it. */
  function endLine(): void {
    writeFileSync(fd, "\n");
    bytes = fstatSync(fd).size;
  }
}

function openPrivate(path: string): number {
  const fd = openSync(path, O_CREAT | O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0o600);
  const { mode, uid } = fstatSync(fd);
  if ((mode & constants.S_IFMT) !== constants.S_IFREG || (process.getuid !== undefined && uid !== process.getuid())) {
    closeSync(fd);
    throw new Error(`${path} is not a file of yours. Move it away.`);
  }
  fchmodSync(fd, 0o600);
  return fd;
}

function syncFolder(folder: string): void {
  const fd = openSync(folder, "r");
  fsyncSync(fd);
  closeSync(fd);
}
