// Opens the store where it is: in a file of the state folder, or in the Postgres that the user names. The driver loads only for the latter.

import { existsSync } from "node:fs";
import { type DatabaseAddress, databaseOf } from "../settings/database.ts";
import { type Site, storeFile } from "../settings/site.ts";
import { type EngineLock, takeEngineLock } from "./sqlite/lock.ts";
import { openSqliteStore } from "./sqlite/open.ts";
import { type Store, StoreError } from "./store.ts";

/** `database`: null for SQLite. */
export type StorePlace = { readonly home: string; readonly database: DatabaseAddress | null };

export type TakenLock = { readonly type: "taken"; release(): Promise<void> } | HeldLock;

/** Another process performs. */
export type HeldLock = {
  readonly type: "held";
  readonly heldBy: string;
  /** Null if it performs on the same state folder. Otherwise it has another one and the same database; returns whether it has ended. */
  readonly isFree: (() => Promise<boolean>) | null;
  release(): Promise<void>;
};

/** Who performs must have both: the lock of the state folder, whose files have one writer, and the lease of the database. */
export async function takePerformerLock({ home, database }: StorePlace): Promise<TakenLock> {
  const own = takeEngineLock(home);
  if ("heldBy" in own) {
    // The process with this state folder may itself stand by.
    const heldBy = (await performerOn(database)) ?? own.heldBy;
    return { type: "held", heldBy, isFree: null, release: async () => undefined };
  }
  if (database === null) return { type: "taken", release: async () => own.release() };
  return takeBoth(own, database);
}

async function performerOn(database: DatabaseAddress | null): Promise<string | undefined> {
  if (database === null) return undefined;
  const { openPool } = await import("./postgres/pool.ts");
  const { leaseHolder } = await import("./postgres/lock.ts");
  const pool = openPool(database, 1);
  try {
    return await leaseHolder(pool);
  } catch {
    // It only helps to name the owner.
    return undefined;
  } finally {
    pool.close();
  }
}

async function takeBoth(own: EngineLock, database: DatabaseAddress): Promise<TakenLock> {
  try {
    const { takeLease } = await import("./postgres/lock.ts");
    const lease = await takeLease(database);
    if ("heldBy" in lease) {
      const { heldBy, isFree } = lease;
      return {
        type: "held",
        heldBy,
        isFree,
        async release() {
          lease.close();
          own.release();
        },
      };
    }
    return {
      type: "taken",
      async release() {
        await lease.release();
        own.release();
      },
    };
  } catch (error) {
    own.release();
    throw error;
  }
}

export async function openStore(
  { home, database }: StorePlace,
  { owner }: { readonly owner: boolean },
): Promise<Store> {
  if (database === null) return openSqliteStore({ file: storeFile(home), owner });
  const { openPostgresStore } = await import("./postgres/open.ts");
  return openPostgresStore({ address: database, owner });
}

/** Opens an existing store read-only: creates nothing and takes no lock. Undefined where there is none yet. */
export async function openForReading({
  home,
  environment,
}: Pick<Site, "home" | "environment">): Promise<Store | undefined> {
  const database = await requireDatabase(environment);
  if (database === null)
    return existsSync(storeFile(home)) ? openSqliteStore({ file: storeFile(home), readOnly: true }) : undefined;
  const { openPostgresStore } = await import("./postgres/open.ts");
  try {
    return await openPostgresStore({ address: database, readOnly: true });
  } catch (error) {
    if (error instanceof StoreError && error.code === "store_missing") return undefined;
    throw error;
  }
}

/** An address that is wrong never means SQLite. */
async function requireDatabase(environment: Site["environment"]): Promise<DatabaseAddress | null> {
  const database = await databaseOf(environment);
  if (database.ok) return database.value;
  throw new StoreError("database_invalid", database.error.message, database.error.hint ?? "");
}
