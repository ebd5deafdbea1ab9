// Where the store of a test is, by its state folder: a file in it, or with PASSRAIL_TEST_STORE=postgres a database of its own. The tests are
// the same; vitest.config.ts says which of them also run on Postgres.

import { openPostgresStore } from "../../src/store/postgres/open.ts";
import type { Store } from "../../src/store/store.ts";
import { readAddress } from "../../src/settings/database.ts";
import { openForReading } from "./open-for-reading.ts";
import { createDatabase, databaseAt, type TestDatabase } from "./postgres.ts";

const databases = new Map<string, Promise<TestDatabase>>();

/** What a process that uses this state folder must be told; nothing for a file. */
export async function storeEnvironment(home: string): Promise<Readonly<Record<string, string>>> {
  const database = await databaseOf(home);
  return database === undefined ? {} : { PASSRAIL_DATABASE_URL: database.url };
}

export async function openTestStore(home: string): Promise<Store | undefined> {
  const database = await databaseOf(home);
  return database === undefined ? undefined : openPostgresStore({ address: addressOf(database) });
}

/** Undefined where there is no store yet. */
export async function openStored(home: string): Promise<Store | undefined> {
  const database = await databaseOf(home);
  if (database === undefined) return openForReading(home);
  const made = await database.query("SELECT 1 FROM pg_namespace WHERE nspname = 'passrail'");
  return made.length === 0 ? undefined : openPostgresStore({ address: addressOf(database), readOnly: true });
}

/** As if the lease of a process that was killed had run out: a test need not wait for it. */
export async function endLease(home: string): Promise<void> {
  const database = await databases.get(home);
  const made = await database?.query(
    "SELECT 1 FROM pg_tables WHERE schemaname = 'passrail' AND tablename = 'performer'",
  );
  if (made?.length === 1) await database?.query("UPDATE passrail.performer SET until = '-infinity'");
}

export async function dropStore(home: string): Promise<void> {
  const database = databases.get(home);
  databases.delete(home);
  await (await database)?.drop();
}

function databaseOf(home: string): Promise<TestDatabase> | undefined {
  if (process.env["PASSRAIL_TEST_STORE"] !== "postgres") return undefined;
  // A process that a test has started gets its database from there.
  const given = process.env["PASSRAIL_DATABASE_URL"];
  const known = databases.get(home) ?? (given === undefined ? createDatabase() : Promise.resolve(databaseAt(given)));
  databases.set(home, known);
  return known;
}

function addressOf({ url }: TestDatabase) {
  const read = readAddress(url, "the test's database");
  if (!read.ok) throw new Error(read.error.message);
  return read.value;
}
