// A private file of lines that is only appended to, each line durable before the call returns, and now and then written anew. It knows
// nothing of what the lines mean.

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
  /** What was in the file when it was opened. A line that a crash cut off is not among them. */
  readonly lines: readonly string[];
  append(line: string): void;
  /** Instead of everything so far: all of it or, after a crash, none. */
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
  // What was cut off would run together with the next line.
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

  /** The number of a closed file may be another file's by now. */
  function requireOpen(): void {
    if (isClosed) throw new Error(`${path} is closed.`);
  }

  /** The broken line becomes one of its own, which readers leave out. */
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
