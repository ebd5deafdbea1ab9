// A lock on a file between processes. The operating system holds it (an exclusive transaction on an empty database), so it is free the
// moment its owner dies, however it dies.

import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";

export type OsLock = { release(): void };

/** Keeps the connections reachable: a collected one would be closed, and the lock lost while its owner still works. */
const held = new Set<DatabaseSync>();

/** Undefined if another process, or another holder in this one, has it. */
export function tryOsLock(file: string): OsLock | undefined {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  createPrivate(file);
  const db = new DatabaseSync(file, { timeout: 0 });
  try {
    db.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    db.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
  held.add(db);
  return {
    release() {
      if (held.delete(db)) db.close();
    },
  };
}

/** Polls, because a blocking wait would stop everything else in this process. */
export async function takeOsLock(file: string): Promise<OsLock> {
  for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 2, 50)) {
    const lock = tryOsLock(file);
    if (lock !== undefined) return lock;
    await delay(pauseMs);
  }
}

/** Only where it is missing: to close any other descriptor of the file would free the lock that this process holds on it. */
function createPrivate(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

const SQLITE_BUSY = 5;

function isBusy(error: unknown): boolean {
  return ((error as { errcode?: number }).errcode ?? 0) % 256 === SQLITE_BUSY;
}
