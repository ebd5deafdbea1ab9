// Serialises tasks that would conflict: openings of the same folder, registrations in the same repository. Attempts may be processes of
// their own, so the turn is also one between the processes of a state folder.

import { createHash } from "node:crypto";
import { join } from "node:path";
import { takeOsLock } from "../file/os-lock.ts";

/** Runs a task after all earlier ones with the same key. */
export type InTurn = <T>(key: string, task: () => Promise<T>) => Promise<T>;

/**
 * Two tracks of a run may open its workspace at once: the second waits for the first and finds it ready. `folder`: where the processes
 * of this state folder meet; each kind of turn has its own, so that a task inside another's turn never waits for itself. Without it the
 * turns are this process's alone.
 */
export function inTurns(folder?: string): InTurn {
  const last = new Map<string, Promise<unknown>>();
  return async (key, task) => {
    const run = folder === undefined ? task : () => locked(join(folder, `${bucketOf(key)}.lock`), task);
    const mine = (last.get(key) ?? Promise.resolve()).then(run, run);
    last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (last.get(key) === mine) last.delete(key);
    }
  };
}

async function locked<T>(file: string, task: () => Promise<T>): Promise<T> {
  const lock = await takeOsLock(file);
  try {
    return await task();
  } finally {
    lock.release();
  }
}

/** Few enough that the files never need cleaning up, enough that two keys hardly ever meet; if they do, one waits for the other. */
function bucketOf(key: string): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 3);
}
