// A lock on a file between processes. The operating system holds it (an exclusive transaction on an empty database), so it is free the
// moment its owner dies, however it dies.

import { closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";

export type OsLock = { release(): void };

/** Keeps the connections reachable: a collected one would be closed, and the lock lost while its owner still works. */
const held = new Set<DatabaseSync>();

/** Undefined if another process, or another holder in this one, has it. */
export function tryOsLock(file: string): OsLock | undefined {
  const { db } = opened(file);
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

/** Polls, because a blocking wait would stop everything else in this process. For files that stay: their connections are kept open. */
export async function takeOsLock(file: string): Promise<OsLock> {
  for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 2, 50)) {
    const lock = tryKept(file);
    if (lock !== undefined) return lock;
    await delay(pauseMs);
  }
}

/** A connection without a transaction holds no lock. To open one takes ten times as long as to lock it. */
type Kept = { readonly db: DatabaseSync; readonly inode: bigint };

const KEPT_AT_MOST = 16;
const kept = new Map<string, Kept>();

function tryKept(file: string): OsLock | undefined {
  const connection = reopened(file) ?? opened(file);
  const { db } = connection;
  try {
    db.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    if (!isBusy(error)) db.close();
    else keep(file, connection);
    if (isBusy(error)) return undefined;
    throw error;
  }
  held.add(db);
  return {
    release() {
      if (!held.delete(db)) return;
      db.exec("ROLLBACK");
      keep(file, connection);
    },
  };
}

/** Not if another file has its name by now: then this process would lock a file that no other process opens. */
function reopened(file: string): Kept | undefined {
  const known = kept.get(file);
  if (known === undefined) return undefined;
  kept.delete(file);
  if (known.inode === inodeOf(file)) return known;
  known.db.close();
  return undefined;
}

function opened(file: string): Kept {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  createPrivate(file);
  return { db: new DatabaseSync(file, { timeout: 0 }), inode: inodeOf(file) };
}

const inodeOf = (file: string): bigint => statSync(file, { bigint: true, throwIfNoEntry: false })?.ino ?? 0n;

function keep(file: string, connection: Kept): void {
  kept.get(file)?.db.close();
  kept.delete(file);
  kept.set(file, connection);
  if (kept.size <= KEPT_AT_MOST) return;
  for (const [oldest, { db }] of kept) {
    kept.delete(oldest);
    db.close();
    return;
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
