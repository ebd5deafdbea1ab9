// Copies a whole store: to another database, into a file that is a backup, and back. A copy is verified before it counts, and gets an
// identity of its own.

import { existsSync } from "node:fs";
import type { DatabaseAddress } from "../settings/database.ts";
import { storeFile } from "../settings/site.ts";
import { type StorePlace, takePerformerLock } from "./open-store.ts";
import { copyToFile, withCopiedSource, withFileSource } from "./sqlite/copy-file.ts";
import { StoreError } from "./store.ts";
import type { TableSource } from "./tables.ts";

export type CopiedStore = { readonly from: string; readonly to: string; readonly events: number };

/** Refused while a process performs or attempts are at work, on either side. `to` null: the file of the state folder. */
export async function migrateStore(place: StorePlace, to: DatabaseAddress | null): Promise<CopiedStore> {
  if ((place.database?.shown ?? null) === (to?.shown ?? null))
    throw new StoreError("store_same", "The store is there already.", "passrail database show   says where it is");
  return alone(place, () =>
    withSource(place, async (source) => {
      if (source.running > 0)
        throw new StoreError(
          "store_busy",
          `${source.running} attempts are at work.`,
          "passrail down --drain   waits for them; passrail up adopts or repeats those of a daemon that died",
        );
      return to === null
        ? intoFile(source, storeFile(place.home), place.home)
        : aloneIn(to, () => intoDatabase(source, to));
    }),
  );
}

/** One moment of the store, also while a process performs. */
export async function backUpStore(place: StorePlace, file: string): Promise<CopiedStore> {
  return withSource(place, (source) => intoFile(source, file, place.home));
}

/** Into a store that is empty. */
export async function restoreStore(place: StorePlace, file: string): Promise<CopiedStore> {
  if (!existsSync(file))
    throw new StoreError("store_missing", `There is no file ${file}.`, "Name a file that passrail backup wrote.");
  const { home, database } = place;
  return alone(place, () =>
    withCopiedSource(file, home, (source) =>
      database === null ? intoFile(source, storeFile(home), home) : intoDatabase(source, database),
    ),
  );
}

async function withSource(
  { home, database }: StorePlace,
  use: (source: TableSource) => Promise<CopiedStore>,
): Promise<CopiedStore> {
  if (database !== null) {
    const { withDatabaseSource } = await import("./postgres/copy-database.ts");
    return withDatabaseSource(database, use);
  }
  const file = storeFile(home);
  if (!existsSync(file))
    throw new StoreError(
      "store_missing",
      `There is no store at ${file}.`,
      "Start a run first, or name the state folder: --home",
    );
  return withFileSource(file, use);
}

async function intoFile(source: TableSource, file: string, folder: string): Promise<CopiedStore> {
  await copyToFile(source, file, folder);
  return { from: source.shown, to: file, events: source.last.seq };
}

async function intoDatabase(source: TableSource, to: DatabaseAddress): Promise<CopiedStore> {
  const { copyToDatabase } = await import("./postgres/copy-database.ts");
  await copyToDatabase(source, to);
  return { from: source.shown, to: to.shown, events: source.last.seq };
}

async function alone<T>(place: StorePlace, work: () => Promise<T>): Promise<T> {
  const lock = await takePerformerLock(place);
  try {
    if (lock.type === "held") throw performed(lock.heldBy);
    return await work();
  } finally {
    await lock.release();
  }
}

async function aloneIn<T>(database: DatabaseAddress, work: () => Promise<T>): Promise<T> {
  const { takeLease } = await import("./postgres/lock.ts");
  const lease = await takeLease(database);
  if ("heldBy" in lease) {
    lease.close();
    throw performed(lease.heldBy);
  }
  try {
    return await work();
  } finally {
    await lease.release();
  }
}

function performed(heldBy: string): StoreError {
  return new StoreError(
    "store_busy",
    `Another process works on the store: ${heldBy}.`,
    "passrail down   stops a daemon",
  );
}
