// The Postgres store passes the contract, and what only concerns a database on a network.

import { chownSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../test/harness/postgres.ts";
import { openWire } from "../../../test/harness/postgres-wire.ts";
import { SERVER_USER } from "../../../test/harness/postgres-server.ts";
import { smallDisk } from "../../../test/harness/small-disk.ts";
import { until } from "../../../test/harness/until.ts";
import { type DatabaseAddress, readAddress } from "../../settings/database.ts";
import { after, commitAll, handOver, minute, newRun, startMetered, storeSuite, wholeRun } from "../store.testsuite.ts";
import type { Store } from "../store.ts";
import { commitJob } from "./jobs.ts";
import { takeLease } from "./lock.ts";
import { openPostgresStore, type PostgresStoreOptions } from "./open.ts";

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

/** A server that is not ours sees other folders. */
const isInstalled = (process.env["DATABASE_URL"] ?? "") !== "";
const small = smallDisk(12);
const LEFT_BYTES = 200_000;

describe("a database on a network", () => {
  const stores: Store[] = [];
  const open = async (options: Partial<PostgresStoreOptions> = {}): Promise<Store> => {
    const store = await openPostgresStore({ address, ...options });
    stores.push(store);
    return store;
  };

  beforeEach(() => database.query("DROP SCHEMA IF EXISTS passrail CASCADE"));

  afterEach(() => {
    for (const store of stores.splice(0)) store.close();
  });

  test("eight processes that start at once on an empty database make its schema once", async () => {
    await Promise.all(Array.from({ length: 8 }, () => open()));
    expect(await database.query("SELECT version FROM passrail.schema_versions ORDER BY 1")).toEqual([
      { version: 1 },
      { version: 2 },
      { version: 3 },
      { version: 4 },
      { version: 5 },
    ]);
    await database.query("INSERT INTO passrail.schema_versions (version, name) VALUES (99, 'later')");
    await expect(open()).rejects.toMatchObject({ code: "schema_too_new" });
  });

  test("a database of version 3 is upgraded with the sums of its costs; until then a reader sees the same", async () => {
    const store = await open();
    const first = newRun("a");
    await commitAll(store, [first, startMetered(first, { usd: 1, tokens: 10 })]);
    const look = async (from: Store) => [
      await from.spending({ by: "model" }),
      await from.spending({ by: "day", since: "2026-01-01T00:00:30.000Z" }),
    ];
    const seen = await look(store);
    expect(seen).toMatchObject([[{ key: "opus", assumedUsd: 1 }], [{ key: "2026-01-01", attempts: 1 }]]);
    await database.query(`
      DROP TRIGGER spending_sums_kept ON passrail.spending; DROP TRIGGER summed_times_kept ON passrail.attempts;
      DROP FUNCTION passrail.keep_spending_sums; DROP FUNCTION passrail.keep_summed_times;
      DROP TABLE passrail.spending_sums; DROP INDEX passrail.runs_open;
      DROP FUNCTION passrail.commit_change;
      CREATE FUNCTION passrail.commit_change(job jsonb) RETURNS jsonb LANGUAGE sql AS 'SELECT job';
      DELETE FROM passrail.schema_versions WHERE version >= 4`);
    const reader = await open({ readOnly: true });
    expect(await look(reader)).toEqual(seen);
    expect(await reader.verify()).toEqual([]);
    const upgraded = await open();
    expect(await look(upgraded)).toEqual(seen);
    expect(await upgraded.verify()).toEqual([]);
    await database.query("UPDATE passrail.spending_sums SET usd = usd + 1");
    const what = "the cost of 2026-01-01 is not that of its rows in spending";
    expect(await upgraded.verify()).toEqual([{ seq: null, runId: null, what }]);
  });

  test("commits that share a transaction leave one version of the last numbers, so no call reads what earlier ones left", async () => {
    const store = await open();
    for (const letter of "abc")
      await Promise.all(Array.from({ length: 100 }, (_, at) => store.commit(newRun(`${letter}${at}`))));
    const [{ size, seq } = {}] = await database.query(
      "SELECT pg_relation_size('passrail.identity') AS size, last_seq AS seq FROM passrail.identity",
    );
    expect(Number(size)).toBeLessThanOrEqual(8192);
    expect(Number(seq)).toBe((await store.events({ after: 0, limit: 10_000 })).at(-1)?.seq);
  });

  test("R-X-16: an event that commits late is never missed: later numbers wait for it", async () => {
    const store = await open();
    await store.commit(newRun("a"));
    const slow = new Client({ connectionString: database.url });
    await slow.connect();
    await slow.query("BEGIN");
    const job = JSON.stringify([commitJob(newRun("slow"), undefined)]);
    await slow.query("SELECT passrail.write($1, $2, NULL)", [job, store.incarnation()]);
    const fast = store.commit(newRun("fast"));
    await until("the fast one waits for the slow one", async () => {
      const waiting = await database.query(
        "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%passrail.write%'",
      );
      return waiting.length > 0 ? true : undefined;
    });
    expect(await store.lastSeq()).toBe(3);
    expect(await store.events({ after: 3, limit: 10 })).toEqual([]);
    await slow.query("COMMIT");
    await slow.end();
    expect(await fast).toMatchObject({ type: "ok", seq: 9 });
    const later = await store.events({ after: 3, limit: 10 });
    expect(later.map(({ seq, runId }) => [seq, runId])).toEqual(
      [4, 5, 6, 7, 8, 9].map((seq) => [seq, seq < 7 ? "slow" : "fast"]),
    );
  });

  test("a look for changes that is answered after a later write of the same process is no sign of replaced content", async () => {
    const store = await open({ owner: true });
    let isDone = false;
    const look = async (): Promise<void> => {
      while (!isDone) await store.changedElsewhere();
    };
    const looking = Promise.all(Array.from({ length: 4 }, look));
    for (let run = 0; run < 60; run += 1) await store.commit(newRun(`r${run}`));
    isDone = true;
    await expect(looking).resolves.toHaveLength(4);
  });

  test("a commit whose answer is lost is stored once, and its caller learns it", async () => {
    const wire = await openWire(address);
    const store = await open({ address: { ...address, port: wire.port } });
    const first = newRun("a");
    await store.commit(first);
    wire.loseNextAnswer();
    const over = handOver(after(first), { from: "analyst", to: "coder", signalId: "s" });
    const claim = { caller: "c", key: "k", request: "r", at: minute(0), forgetBefore: minute(-9) };
    const [committed, claimed] = await Promise.all([store.commit(over), store.claimRequest(claim)]);
    expect([committed, claimed]).toEqual([{ type: "ok", seq: 9, version: 9 }, { type: "new" }]);
    expect(wire.lost()).toBe(1);
    expect(await store.commit(over)).toEqual({ type: "duplicate" });
    expect(await store.claimRequest(claim)).toEqual({ type: "unanswered" });
    expect(await store.verify()).toEqual([]);
    wire.close();
  });

  test("connections that the server ends are replaced, in the middle of reads and writes", async () => {
    const store = await open();
    const writes = Array.from({ length: 30 }, async (_, index) => {
      if (index % 10 === 5)
        await database.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'passrail' AND datname = current_database()",
        );
      await store.commit(newRun(`r${index}`));
      return (await store.loadRun(`r${index}`))?.version;
    });
    expect(new Set(await Promise.all(writes))).toEqual(new Set([3]));
    expect(await store.verify()).toEqual([]);
  });

  test("a handoff is one round trip, also the first of a run that was loaded", async () => {
    const wire = await openWire(address);
    const created = newRun("a");
    await (await open()).commit(created);
    const store = await open({ address: { ...address, port: wire.port } });
    const stored = await store.loadRun("a");
    const before = wire.requests();
    await store.commit(handOver(stored ?? after(created), { from: "analyst", to: "coder" }));
    expect(wire.requests() - before).toBe(1);
    wire.close();
  });

  test.skipIf(small === undefined || isInstalled)(
    "R-X-05: a database whose disk is full refuses commits with disk_full, keeps reads, and heals by itself",
    async () => {
      const disk = small?.mount() ?? "";
      const space = `small_${database.url.slice(-6)}`;
      try {
        chownSync(disk, SERVER_USER, SERVER_USER);
        await database.query(`CREATE TABLESPACE ${space} LOCATION '${disk}'`);
        await database.query(`ALTER DATABASE ${address.database} SET default_tablespace = ${space}`);
        const store = await open();
        await commitAll(store, [newRun("a")]);
        const { bavail, bsize } = statfsSync(disk);
        writeFileSync(join(disk, "ballast"), Buffer.alloc(bavail * bsize - LEFT_BYTES));
        const stored = ["a"];
        let refused: unknown;
        for (let turn = 0; refused === undefined && turn < 5000; turn += 1) {
          const id = `r${turn}`;
          await store.commit(newRun(id)).then(
            () => stored.push(id),
            (error: unknown) => (refused = error),
          );
        }
        expect(refused).toMatchObject({ name: "StoreError", code: "disk_full" });
        expect((await store.loadRun("a"))?.version).toBe(3);
        rmSync(join(disk, "ballast"));
        await commitAll(store, [newRun("later")]);
        for (const id of stored) expect((await store.loadRun(id))?.version).toBe(3);
        expect(await store.verify()).toEqual([]);
      } finally {
        for (const store of stores.splice(0)) store.close();
        await database.query("DROP SCHEMA IF EXISTS passrail CASCADE");
        await database.query(`ALTER DATABASE ${address.database} RESET default_tablespace`);
        await database.query(`DROP TABLESPACE IF EXISTS ${space}`);
        small?.unmount(disk);
      }
    },
  );

  test("a role without special rights works; one without any is told what it lacks", async () => {
    const name = `app_${database.url.slice(-6)}`;
    await database.query(`CREATE ROLE ${name} LOGIN PASSWORD 'pw'`);
    const poor = { ...address, user: name, password: "pw" };
    try {
      const refused = open({ address: poor });
      await expect(refused).rejects.toMatchObject({ code: "database_refused" });
      await expect(refused).rejects.not.toThrow("pw");
      await database.query(`GRANT CREATE ON DATABASE ${address.database} TO ${name}`);
      const store = await open({ address: poor });
      expect(await store.commit(newRun("a"))).toMatchObject({ type: "ok" });
      expect(await store.verify()).toEqual([]);
    } finally {
      for (const store of stores.splice(0)) store.close();
      await database.query(`DROP OWNED BY ${name} CASCADE`);
      await database.query(`DROP ROLE ${name}`);
    }
  });

  test("S26: events cannot be changed through SQL; an edited one is found at its number", async () => {
    const store = await open();
    await commitAll(store, wholeRun("a"));
    await expect(database.query("UPDATE passrail.events SET actor = 'human:eve'")).rejects.toThrow("append-only");
    await expect(database.query("DELETE FROM passrail.events")).rejects.toThrow("append-only");
    await expect(database.query("TRUNCATE passrail.events CASCADE")).rejects.toThrow("append-only");
    await database.query(`
      ALTER TABLE passrail.events DISABLE TRIGGER ALL;
      UPDATE passrail.events SET actor = 'human:eve' WHERE seq = 4;
      UPDATE passrail.handoffs SET state = 'done' WHERE number = 2;`);
    expect((await store.verify()).map(({ seq, what }) => [seq, what])).toEqual([
      [4, "the event is not as it was written: its hash does not fit"],
      [null, "the run's rows in handoffs are not what its events say"],
    ]);
  });

  test("R-X-14: one process performs; another takes over when its lease has run out, and only then", async () => {
    const first = await takeLease(address);
    const second = await takeLease(address);
    if ("heldBy" in first || !("heldBy" in second)) throw new Error("the first one holds it");
    expect(second.heldBy).toContain(`process ${process.pid} on `);
    expect(await second.isFree()).toBe(false);
    // As after its death.
    await database.query("UPDATE passrail.performer SET until = now() - interval '1 second', token = token || '?'");
    expect(await second.isFree()).toBe(true);
    const third = await takeLease(address);
    if ("heldBy" in third) throw new Error("it was free");
    await third.release();
    expect(await second.isFree()).toBe(true);
    await first.release();
    second.close();
  });

  test("a database that is not there is an error that names it without its password", async () => {
    const lost = { ...address, port: 1, password: "secret" };
    await expect(open({ address: lost })).rejects.toMatchObject({
      code: "store_io",
      message: expect.not.stringContaining("secret"),
    });
    await expect(open({ address: { ...address, database: "nowhere" } })).rejects.toMatchObject({
      code: "database_refused",
    });
    await expect(open({ readOnly: true })).rejects.toMatchObject({ code: "store_missing" });
  });
});
