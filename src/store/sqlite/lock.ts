// Who performs work on a data folder: one process at a time. The operating system holds the lock (an exclusive transaction on a
// tiny database of its own), so it is free the moment its owner dies, however it dies. engine.json only helps to name the owner.

import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StoreError } from "../store.ts";
import { explainError } from "./errors.ts";
import { prepareFolder, preparePrivateFile } from "./folder.ts";

/** Long enough for one of several that start at once to win, short enough to be refused at once. */
const PATIENCE_MS = 250;
const NOTE_MAX_BYTES = 4096;

/** Keeps the connections reachable: a collected one would be closed, and the lock lost while its owner still works. */
const held = new Set<DatabaseSync>();

export type EngineLock = { release(): void };

/** `heldBy` says who has it, in words for the user; the program never decides by them. */
export function takeEngineLock(dir: string): EngineLock | { readonly heldBy: string } {
  const folder = prepareFolder(dir);
  const file = join(folder, "engine.lock.db");
  const note = join(folder, "engine.json");
  preparePrivateFile(file);
  const db = new DatabaseSync(file, { timeout: PATIENCE_MS });
  try {
    db.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
  } catch (error) {
    db.close();
    const explained = explainError(error, file);
    if (explained instanceof StoreError && explained.code === "store_busy") return { heldBy: readNote(note) };
    throw explained;
  }
  held.add(db);
  try {
    writeNote(note);
  } catch {
    // The lock counts, not the note: a full disk must not keep the engine from starting.
  }
  return {
    release() {
      if (!held.delete(db)) return;
      // Before the lock is gone: afterwards the note may be the next owner's. It is so already if someone removed the lock's file.
      if (readOwner(note)?.pid === process.pid) rmSync(note, { force: true });
      db.close();
    },
  };
}

function writeNote(note: string): void {
  const partial = `${note}.${process.pid}.partial`;
  const text = JSON.stringify({ pid: process.pid, startedAt: new Date().toISOString() });
  rmSync(partial, { force: true });
  writeFileSync(partial, `${text}\n`, { mode: 0o600, flag: "wx" });
  renameSync(partial, note);
}

export type LockOwner = { readonly pid: number; readonly startedAt: string };

/** The present holder of the lock; undefined if there is none, or if it is unknown. Takes and creates nothing. */
export function lockOwner(dir: string): LockOwner | undefined {
  const file = join(dir, "engine.lock.db");
  if (!existsSync(file)) return undefined;
  const db = new DatabaseSync(file, { timeout: 0 });
  try {
    db.exec("BEGIN EXCLUSIVE; ROLLBACK");
    return undefined;
  } catch {
    const owner = readOwner(join(dir, "engine.json"));
    // A process that has just taken the lock, or only probes it as we do, has written no note: the present note is from a dead owner.
    return owner !== undefined && isThere(owner.pid) ? owner : undefined;
  } finally {
    db.close();
  }
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // There, but another user's.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function readNote(note: string): string {
  const owner = readOwner(note);
  return owner === undefined ? "another process" : `process ${owner.pid} since ${owner.startedAt}`;
}

function readOwner(note: string): LockOwner | undefined {
  try {
    if (statSync(note).size > NOTE_MAX_BYTES) return undefined;
    const owner: unknown = JSON.parse(readFileSync(note, "utf8"));
    if (typeof owner !== "object" || owner === null || !("pid" in owner) || !("startedAt" in owner)) return undefined;
    const since = new Date(String(owner.startedAt));
    if (!Number.isSafeInteger(owner.pid) || Number(owner.pid) < 1 || Number.isNaN(since.getTime())) return undefined;
    return { pid: Number(owner.pid), startedAt: since.toISOString() };
  } catch {
    return undefined;
  }
}
