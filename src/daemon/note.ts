// A note with the address of a state folder's daemon. Only the lock, which the operating system holds, shows that the daemon is alive. So
// no token is ever sent to another program that listens at the daemon's old port.

import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { lockOwner } from "../store/sqlite/lock.ts";

const noteSchema = z.object({
  pid: z.int().positive(),
  url: z.string().regex(/^http:\/\/[a-z0-9.:[\]-]{1,100}$/),
  /** Where other machines reach it; null: nowhere. */
  publicUrl: z
    .string()
    .regex(/^https?:\/\/[a-z0-9.:[\]-]{1,260}$/)
    .nullable()
    .default(null),
  version: z.string().max(100),
  project: z.string(),
  startedAt: z.string(),
  /** Whether it picks the project's tickets. */
  dispatches: z.boolean().default(false),
  /** Who performs instead, on another state folder with the same database; null: this daemon does. */
  standbyOf: z.string().max(200).nullable().default(null),
});

export type DaemonNote = z.infer<typeof noteSchema>;

const fileOf = (home: string): string => join(home, "daemon.json");

export function writeNote(home: string, note: DaemonNote): void {
  const file = fileOf(home);
  const partial = `${file}.${process.pid}.partial`;
  rmSync(partial, { force: true });
  writeFileSync(partial, `${JSON.stringify(note)}\n`, { mode: 0o600, flag: "wx" });
  renameSync(partial, file);
}

/** The daemon calls this while it still holds the lock. A note of a daemon that has taken over stays. */
export function removeNote(home: string): void {
  if (readNote(home)?.pid === process.pid) rmSync(fileOf(home), { force: true });
}

/** The daemon that performs in this folder now; undefined without one. */
export function findDaemon(home: string): DaemonNote | undefined {
  const owner = lockOwner(home);
  if (owner === undefined) return undefined;
  const note = readNote(home);
  return note !== undefined && note.pid === owner.pid ? note : undefined;
}

function readNote(home: string): DaemonNote | undefined {
  try {
    const read = noteSchema.safeParse(JSON.parse(readFileSync(fileOf(home), "utf8")));
    return read.success ? read.data : undefined;
  } catch {
    return undefined;
  }
}
