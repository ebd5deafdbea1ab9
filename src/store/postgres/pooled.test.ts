// The store behind a real PgBouncer in transaction mode with two sessions of the server, by a role without special rights: statements of
// one process come from now this session, now that one, and nothing may rest on it.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../test/harness/postgres.ts";
import { pgbouncer, type Pooler, startPooler } from "../../../test/harness/pgbouncer.ts";
import { type DatabaseAddress, readAddress } from "../../settings/database.ts";
import { newRun, storeSuite } from "../store.testsuite.ts";
import type { Store } from "../store.ts";
import { takeLease } from "./lock.ts";
import { openPostgresStore } from "./open.ts";

const isHere = pgbouncer !== undefined;
if (!isHere && process.env["CI"]) throw new Error("pgbouncer is missing: apt-get install pgbouncer");

describe.skipIf(!isHere)("through PgBouncer in transaction mode", () => {
  let database: TestDatabase;
  let pooler: Pooler;
  let address: DatabaseAddress;
  let role: string;

  beforeAll(async () => {
    database = await createDatabase();
    const read = readAddress(database.url, "the test's database");
    if (!read.ok) throw new Error(read.error.message);
    const { host, port, database: name } = read.value;
    role = `pooled_${name.slice(-6)}`;
    await database.query(`CREATE ROLE ${role} LOGIN; GRANT CREATE ON DATABASE ${name} TO ${role}`);
    pooler = await startPooler({ host, port, user: role, sessions: 2 });
    address = { ...read.value, host: "127.0.0.1", port: pooler.port };
  });

  afterAll(async () => {
    await pooler.stop();
    await database.query(`DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}`);
    await database.drop();
  });

  storeSuite("Postgres behind PgBouncer", async () => {
    await database.query("DROP SCHEMA IF EXISTS passrail CASCADE");
    const stores: Store[] = [await openPostgresStore({ address })];
    const open = async (owner: boolean): Promise<Store> => {
      const store = await openPostgresStore({ address, owner });
      stores.push(store);
      return store;
    };
    const close = (): void => {
      for (const store of stores) store.close();
    };
    return {
      store: stores[0] as Store,
      async reopen() {
        close();
        return open(false);
      },
      takeOver: () => open(true),
      cleanup: close,
    };
  });

  test("R-X-14, R-X-16: four processes that start at once make the schema once, and one of them performs", async () => {
    await database.query("DROP SCHEMA IF EXISTS passrail CASCADE");
    const leases = await Promise.all(Array.from({ length: 4 }, () => takeLease(address)));
    expect(leases.filter((lease) => !("heldBy" in lease))).toHaveLength(1);
    const store = await openPostgresStore({ address, owner: true });
    expect(await store.commit(newRun("a"))).toMatchObject({ type: "ok" });
    expect(await store.verify()).toEqual([]);
    store.close();
    for (const lease of leases) await ("heldBy" in lease ? lease.close() : lease.release());
  });
});
