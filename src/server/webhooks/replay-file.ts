// The ids of deliveries in a file of the home folder, one line each, so that a restart does not forget them. Only appended to; when most
// of it is forgotten it is written anew beside and renamed.

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
import { DEFAULT_CAPACITY, KEEP_MS, type ReplayOptions, type Replays, replaysOver } from "./replay.ts";

const LINE = /^([0-9]{1,16}) ([A-Za-z0-9_-]{43})$/;
const LINE_BYTES = 61;
const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDWR, O_WRONLY } = constants;

/** Throws when the file is no file of ours or cannot be read: without it a replay would count again. */
export function openFileReplays(path: string, options: ReplayOptions): Replays {
  const { now, capacity = DEFAULT_CAPACITY } = options;
  const maxLines = capacity * 2 + 100;
  const seen = new Map<string, number>();
  let fd = openPrivate(path);
  const size = fstatSync(fd).size;
  if (size > maxLines * LINE_BYTES * 4) {
    closeSync(fd);
    throw new Error(`${path} is larger than it can have become. Move it away to start with an empty one.`);
  }
  const text = readFileSync(fd, "latin1");
  const written = text.split("\n");
  for (const line of written) {
    const [, at, digest] = LINE.exec(line) ?? [];
    if (digest !== undefined && now() - Number(at) <= KEEP_MS) {
      // Set anew, so that the order of the map is that of time.
      seen.delete(digest);
      seen.set(digest, Number(at));
    }
  }
  let lines = written.length - 1;
  let isClosed = false;
  // A line that was cut off, by a crash or a full disk, would run together with the next one.
  let isTorn = text !== "" && !text.endsWith("\n");

  return replaysOver(options, {
    seen,
    write(digests, atMs) {
      // The number of a closed file may be another file's by now.
      if (isClosed) throw new Error(`${path} is closed.`);
      if (isTorn || lines + digests.length > maxLines) writeAnew();
      isTorn = true;
      writeFileSync(fd, digests.map((digest) => `${atMs} ${digest}\n`).join(""));
      fdatasyncSync(fd);
      isTorn = false;
      lines += digests.length;
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      closeSync(fd);
    },
  });

  function writeAnew(): void {
    const partial = `${path}.new`;
    rmSync(partial, { force: true });
    const next = openSync(partial, O_CREAT | O_EXCL | O_WRONLY | O_APPEND | O_NOFOLLOW, 0o600);
    try {
      writeFileSync(next, [...seen].map(([digest, at]) => `${at} ${digest}\n`).join(""));
      fsyncSync(next);
      renameSync(partial, path);
    } catch (error) {
      closeSync(next);
      throw error;
    }
    closeSync(fd);
    fd = next;
    lines = seen.size;
    isTorn = false;
    syncFolder(dirname(path));
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
