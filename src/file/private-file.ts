// Writes files that only their owner may read: durable before the call returns, and never through a link.

import { closeSync, constants, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/** A new file; throws if it exists. */
export function writePrivate(path: string, text: string): void {
  const descriptor = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** After a crash the file has either the old content or the new one. */
export function replacePrivate(path: string, text: string): void {
  const partial = `${path}.${process.pid}.new`;
  rmSync(partial, { force: true });
  writePrivate(partial, text);
  renameSync(partial, path);
  syncFolder(dirname(path));
}

export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, constants.O_RDONLY);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
