// The Postgres store passes the contract, and what only concerns a database on a network.

import { afterAll, beforeAll } from "vitest";
import { createDatabase, type TestDatabase } from "../../../test/harness/postgres.ts";
import { readAddress, type DatabaseAddress } from "../../settings/database.ts";
import { storeSuite } from "../store.testsuite.ts";
import type { Store } from "../store.ts";
import { openPostgresStore } from "./open.ts";

let database: TestDatabase;
let address: DatabaseAddress;

beforeAll(async () => {
  database = await createDatabase();
  const read = readAddress(database.url, "the test's database");
  if (!read.ok) throw new Error(read.error.message);
  address = read.value;
});

afterAll(() => database.drop());

storeSuite("Postgres", async () => {
  await database.query("DROP SCHEMA IF EXISTS passrail CASCADE");
  const stores: Store[] = [await openPostgresStore({ address })];
  const open = async (owner: boolean): Promise<Store> => {
    const store = await openPostgresStore({ address, owner });
    stores.push(store);
    return store;
  };
  return {
    store: stores[0] as Store,
    async reopen() {
      for (const store of stores) store.close();
      return open(false);
    },
    takeOver: () => open(true),
    cleanup() {
      for (const store of stores) store.close();
    },
  };
});
