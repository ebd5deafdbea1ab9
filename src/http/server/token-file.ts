// Files that hold secrets: created with private permissions, replaced as a whole, refused if others could have touched them.

import { randomBytes } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from "node:fs";
import { link, lstat, open, rename, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const PRIVATE = 0o600;
const MAX_BYTES = 4 * 1024 * 1024;
/** Writing takes milliseconds; an older lock was left by a process that died. */
const STALE_MS = 10_000;
const GIVE_UP_MS = 15_000;

/** The text of a file that only this user can have written; undefined without one. Small, so it is read in one go. */
export function readPrivate(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new Error(`${path} cannot be read; it must be a plain file of your own`, { cause });
  }
  try {
    const fault = faultOf(fstatSync(file));
    if (fault !== undefined) throw new Error(`${path} ${fault}`);
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}

function faultOf(found: Stats): string | undefined {
  if (!found.isFile()) return "is not a plain file";
  if (found.uid !== process.getuid?.()) return "belongs to another user";
  if ((found.mode & 0o077) !== 0)
    return "can be read by others; create it again, or chmod 600 if no other user can have read it";
  return found.size > MAX_BYTES ? "is too large" : undefined;
}

/** Creates a file atomically: readers never see half of it. False: another process was faster. */
export async function createPrivate(path: string, text: string): Promise<boolean> {
  const fresh = await writeBeside(path, text);
  try {
    await link(fresh, path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw cause;
  } finally {
    await unlink(fresh);
  }
  await syncFolder(path);
  return true;
}

/** Replaces a file by the result of `change`; one writer at a time, also across processes. */
export async function changePrivate(path: string, change: (text: string | undefined) => string): Promise<void> {
  const lock = `${path}.lock`;
  const held = await takeLock(lock);
  try {
    const fresh = await writeBeside(path, change(readPrivate(path)));
    // A process that slept for long has lost its lock, and another one may have written meanwhile.
    if (!(await isStill(lock, held))) {
      await unlink(fresh);
      return await changePrivate(path, change);
    }
    await rename(fresh, path);
    await syncFolder(path);
  } finally {
    if (await isStill(lock, held)) await unlink(lock).catch(() => {});
  }
}

async function writeBeside(path: string, text: string): Promise<string> {
  const fresh = `${path}.${randomBytes(8).toString("hex")}`;
  const file = await open(fresh, "wx", PRIVATE);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  return fresh;
}

/** Distinguishes a lock from the next one in the same place. */
type LockId = Pick<Stats, "ino" | "mtimeMs">;

async function takeLock(path: string): Promise<LockId> {
  const deadline = Date.now() + GIVE_UP_MS;
  for (;;) {
    try {
      const file = await open(path, "wx", PRIVATE);
      return await file.stat().finally(() => file.close());
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== "EEXIST" || Date.now() > deadline) throw cause;
    }
    const found = await lockAt(path);
    if (found !== undefined && Date.now() - found.mtimeMs > STALE_MS) await removeDead(path, found);
    else await delay(10);
  }
}

/** Of all who find the same dead lock one removes it: a late removal would hit the lock of the next writer. */
async function removeDead(path: string, dead: LockId): Promise<void> {
  const claim = `${path}.${dead.ino}-${Math.trunc(dead.mtimeMs)}`;
  try {
    await (await open(claim, "wx", PRIVATE)).close();
  } catch {
    const other = await lockAt(claim);
    if (other !== undefined && Date.now() - other.mtimeMs > STALE_MS) await unlink(claim).catch(() => {});
    else await delay(10);
    return;
  }
  if (await isStill(path, dead)) await unlink(path).catch(() => {});
  await unlink(claim).catch(() => {});
}

async function isStill(path: string, { ino, mtimeMs }: LockId): Promise<boolean> {
  const found = await lockAt(path);
  return found?.ino === ino && found.mtimeMs === mtimeMs;
}

async function lockAt(path: string): Promise<Stats | undefined> {
  return lstat(path).catch(() => undefined);
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(dirname(path), "r");
  await folder.sync().finally(() => folder.close());
}
