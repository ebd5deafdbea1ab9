// Whole copies of a store, to and fro between a file and a real Postgres.

import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../test/harness/postgres.ts";
import { type DatabaseAddress, readAddress } from "../settings/database.ts";
import { backUpStore, migrateStore, restoreStore } from "./copy-store.ts";
import { openStore, type StorePlace, takePerformerLock } from "./open-store.ts";
import type { Store } from "./store.ts";
import { after, changeOf, commitAll, eventAt, minute, newRun, startMetered, wholeRun } from "./store.testsuite.ts";

let dir: string;
let database: TestDatabase;
let address: DatabaseAddress;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "passrail-copy-"));
  database = await createDatabase();
  const read = readAddress(database.url, "the test's database");
  if (!read.ok) throw new Error(read.error.message);
  address = read.value;
});

afterEach(async () => {
  rmSync(dir, { recursive: true });
  await database.drop();
});

async function using<T>(place: StorePlace, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(place, { owner: false });
  try {
    return await use(store);
  } finally {
    store.close();
  }
}

/** Every kind of row: also a deleted subject, odd text, work, a request and what was spent. */
async function fill(store: Store): Promise<void> {
  const [odd, metered] = [newRun("odd", { subjectId: "odd\u0000\ud800" }), newRun("metered")];
  const start = startMetered(metered, { usd: 1, tokens: 10 });
  const gone = changeOf(after(newRun("gone")), [eventAt(minute(1), { type: "run.canceled", reason: "no" })]);
  await commitAll(store, [newRun("gone"), gone, { ...odd, enqueue: [{ type: "release-workspace" }] }, metered, start]);
  await commitAll(store, wholeRun("whole"));
  await store.noteAttempt("whole", "coder", 1, { pid: 7, text: 'ä"' });
  await store.deleteSubject("v0.1:gone");
  await store.claimRequest({ caller: "c", key: "k", request: "r", at: minute(0), forgetBefore: minute(-9) });
}

/** Postgres holds no NUL in a column; what is stored as JSON keeps it. */
const everything = async (store: Store) => {
  const found = await all(store);
  return [found[0].map((run) => JSON.stringify(run).replaceAll("\\u0000", "\ufffd")), ...found.slice(1)];
};

const all = (store: Store) =>
  Promise.all([
    store.listRuns({ limit: 100 }),
    store.events({ after: 0, limit: 1000 }),
    store.lastSeq(),
    store.attempts("whole"),
    store.handoffRows({ subjectId: "v0.1:whole" }),
    store.pendingWork(),
    store.spending({ by: "day" }),
    store.verify(),
  ]);

const ended = changeOf(after(startMetered(newRun("metered"), { usd: 1, tokens: 10 })), [
  eventAt(minute(2), { type: "stage.interrupted", track: "main", stage: "analyst", attempt: 1, cause: "killed" }),
]);

test("R-X-04: a store goes to Postgres, into a backup, and back into a file; nothing differs and numbers go on", async () => {
  const file = { home: join(dir, "home"), database: null };
  await using(file, fill);
  // An attempt is at work.
  await expect(migrateStore(file, address)).rejects.toMatchObject({ code: "store_busy" });
  await using(file, (store) => commitAll(store, [ended]));
  const before = await using(file, everything);
  expect(before.at(-1)).toEqual([]);
  const to = { home: join(dir, "home"), database: address };
  expect(await migrateStore(file, address)).toMatchObject({ to: address.shown, events: before[2] });
  expect(await using(to, everything)).toEqual(before);
  await expect(migrateStore(file, address)).rejects.toMatchObject({ code: "store_not_empty" });
  await expect(migrateStore(to, null)).rejects.toMatchObject({ code: "store_not_empty" });

  chmodSync(dir, 0o755);
  const backup = join(dir, "backup.db");
  await backUpStore(to, backup);
  expect([statSync(backup).mode & 0o777, statSync(dir).mode & 0o777]).toEqual([0o600, 0o755]);
  await expect(backUpStore(to, backup)).rejects.toMatchObject({ code: "store_not_empty" });
  const fresh = { home: join(dir, "fresh"), database: null };
  await restoreStore(fresh, backup);
  expect(await using(fresh, everything)).toEqual(before);
  expect(readdirSync(dir).toSorted()).toEqual(["backup.db", "fresh", "home"]);
  expect(readdirSync(fresh.home).filter((name) => name.includes("partial"))).toEqual([]);
  await expect(restoreStore(fresh, backup)).rejects.toMatchObject({ code: "store_not_empty" });
  const numbers = await using(fresh, async (store) => [
    await store.commit(newRun("next")),
    await store.findRuns("next"),
  ]);
  const again = await using(to, async (store) => [await store.commit(newRun("next")), await store.findRuns("next")]);
  expect(numbers).toEqual(again);
  // The copy is another store: files of attempts of the first one do not count in it.
  expect(await using(fresh, async (store) => store.incarnation())).not.toBe(
    await using(to, async (store) => store.incarnation()),
  );
});

test("a damaged store is not copied, a store at work is not moved, and nothing is left behind", async () => {
  const file = { home: join(dir, "home"), database: null };
  await using(file, (store) => commitAll(store, wholeRun("a")));
  const lock = await takePerformerLock(file);
  await expect(migrateStore(file, address)).rejects.toMatchObject({ code: "store_busy" });
  await backUpStore(file, join(dir, "beside.db"));
  await lock.release();
  const raw = new DatabaseSync(join(file.home, "passrail.db"));
  raw.exec("UPDATE runs SET word = 'Edited'");
  raw.close();
  await expect(migrateStore(file, address)).rejects.toMatchObject({ code: "store_damaged" });
  await expect(backUpStore(file, join(dir, "bad.db"))).rejects.toMatchObject({ code: "store_damaged" });
  expect(existsSync(join(dir, "bad.db"))).toBe(false);
  expect(await using({ ...file, database: address }, (store) => store.countRuns())).toMatchObject({ completed: 0 });
  writeFileSync(join(dir, "text"), "no database");
  const fresh = { home: join(dir, "fresh"), database: null };
  await expect(restoreStore(fresh, join(dir, "text"))).rejects.toMatchObject({ code: "store_foreign" });
  await expect(restoreStore(fresh, join(dir, "nowhere"))).rejects.toMatchObject({ code: "store_missing" });
  copyFileSync(join(dir, "beside.db"), join(dir, "copy.db"));
  await restoreStore({ ...fresh, database: address }, join(dir, "copy.db"));
  expect(await using({ ...fresh, database: address }, (store) => store.verify())).toEqual([]);
});
