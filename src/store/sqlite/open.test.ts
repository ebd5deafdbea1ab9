// The SQLite store passes the contract, and what only concerns its file: who may read it, what it refuses to open.

import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Store } from "../store.ts";
import {
  after,
  changeOf,
  commitAll,
  eventAt,
  handOver,
  minute,
  newRun,
  startMetered,
  storeSuite,
  wholeRun,
} from "../store.testsuite.ts";
import { shippedFlow } from "../../../test/harness/shipped.ts";
import { MIGRATIONS, migrate } from "./migrations.ts";
import { prepareReads } from "./read.ts";
import { intoVersion10, intoVersion12 } from "./older.testsuite.ts";
import { openSqliteStore } from "./open.ts";
import { requireSqlite } from "./version.ts";

storeSuite("SQLite", async () => {
  const folder = await mkdtemp(join(tmpdir(), "passrail-store-"));
  const file = join(folder, "passrail.db");
  const stores: Store[] = [openSqliteStore({ file })];
  return {
    store: stores[0] as Store,
    reopen: async () => {
      for (const store of stores) store.close();
      const store = openSqliteStore({ file });
      stores.push(store);
      return store;
    },
    takeOver: async () => {
      const store = openSqliteStore({ file, owner: true });
      stores.push(store);
      return store;
    },
    cleanup: async () => {
      for (const store of stores) store.close();
      await rm(folder, { recursive: true });
    },
  };
});

let folder: string;
let file: string;
const stores: Store[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "passrail-store-"));
  file = join(folder, "data", "passrail.db");
});

afterEach(async () => {
  for (const store of stores.splice(0)) store.close();
  await rm(folder, { recursive: true });
});

function open(options: Omit<Parameters<typeof openSqliteStore>[0], "file"> = {}): Store {
  const store = openSqliteStore({ file, ...options });
  stores.push(store);
  return store;
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

test("S25: the folder is 0700 and every file 0600, whatever the umask", async () => {
  const umask = process.umask(0);
  try {
    await commitAll(open(), [newRun("a")]);
  } finally {
    process.umask(umask);
  }
  const names = [file, `${file}-wal`, `${file}-shm`];
  expect([join(folder, "data"), ...names].map(modeOf)).toEqual(["700", "600", "600", "600"]);
});

test("S25: files that others could read are tightened at opening", () => {
  open().close();
  chmodSync(file, 0o644);
  chmodSync(join(folder, "data"), 0o755);
  open();
  expect([modeOf(join(folder, "data")), modeOf(file)]).toEqual(["700", "600"]);
});

test("S25: a folder that others can write to is refused with the command that helps", () => {
  for (const mode of [0o777, 0o770, 0o1777]) {
    mkdirSync(join(folder, "data"), { recursive: true });
    chmodSync(join(folder, "data"), mode);
    expect(() => open()).toThrow(
      expect.objectContaining({ code: "data_dir_unsafe", hint: expect.stringContaining("chmod 700") }),
    );
    expect(existsSync(file)).toBe(false);
  }
});

test("S25: a database that is really a link to elsewhere is refused", () => {
  mkdirSync(join(folder, "data"), { mode: 0o700 });
  writeFileSync(join(folder, "other.db"), "");
  symlinkSync(join(folder, "other.db"), file);
  expect(() => open()).toThrow(expect.objectContaining({ code: "data_dir_unsafe" }));
});

test("SQLite below 3.51.3 is refused: the message names the version, the bug and the way out", () => {
  for (const version of ["3.51.2", "3.50.4", "3.46.0", "2.8.17", "", "x.y.z", "3.51"]) {
    expect(() => requireSqlite(version)).toThrow(expect.objectContaining({ code: "sqlite_too_old" }));
  }
  expect(() => requireSqlite("3.50.4")).toThrow(/3\.50\.4.*WAL reset/);
  for (const version of ["3.51.3", "3.51.10", "3.53.4", "4.0.0"]) expect(() => requireSqlite(version)).not.toThrow();
});

test("the connection keeps what the promises rest on", () => {
  const store = open();
  const raw = new DatabaseSync(file);
  const read = (pragma: string) => Object.values(raw.prepare(`PRAGMA ${pragma}`).get() ?? {})[0];
  expect([read("journal_mode"), read("user_version"), read("application_id")]).toEqual([
    "wal",
    MIGRATIONS.length,
    0x5053524c,
  ]);
  raw.close();
  store.close();
});

test("a database of a newer schema is refused and stays as it was", async () => {
  const store = open();
  await commitAll(store, [newRun("a")]);
  store.close();
  const raw = new DatabaseSync(file);
  raw.exec("PRAGMA journal_mode = DELETE; PRAGMA user_version = 99");
  raw.close();
  const before = readFileSync(file);
  for (const readOnly of [false, true]) {
    expect(() => open({ readOnly })).toThrow(expect.objectContaining({ code: "schema_too_new" }));
  }
  expect(() => open()).toThrow(new RegExp(`version 99.*up to ${MIGRATIONS.length}`, "u"));
  expect(readFileSync(file).equals(before)).toBe(true);
});

test("another program's database, and a file that is no database, are refused and stay as they were", () => {
  mkdirSync(join(folder, "data"), { mode: 0o700 });
  const raw = new DatabaseSync(file);
  raw.exec("CREATE TABLE mine (x)");
  raw.close();
  const before = readFileSync(file);
  expect(() => open()).toThrow(expect.objectContaining({ code: "store_foreign" }));
  expect(readFileSync(file).equals(before)).toBe(true);
  writeFileSync(file, "just some text, long enough to be taken for a header of a database file".repeat(20));
  expect(() => open()).toThrow(expect.objectContaining({ code: "store_foreign" }));
});

test("a damaged page is noticed at opening", async () => {
  const store = open();
  for (const index of Array.from({ length: 60 }).keys()) await store.commit(newRun(`r${index}`));
  store.close();
  const bytes = readFileSync(file);
  bytes.fill(0xff, 4096, 4096 * 12);
  writeFileSync(file, bytes);
  expect(() => open({ check: "always" })).toThrow(expect.objectContaining({ code: "store_damaged" }));
});

test("R-000-36: an upgrade is repeatable, copies the old file first and gives old rows the defaults", async () => {
  const store = open();
  await commitAll(store, wholeRun("a"));
  store.close();
  const upgraded = [...MIGRATIONS, "ALTER TABLE runs ADD COLUMN priority INTEGER NOT NULL DEFAULT 3"];
  const raw = new DatabaseSync(file);
  try {
    const broken = [...MIGRATIONS, "ALTER TABLE runs ADD COLUMN priority INTEGER; SELECT nonsense"];
    expect(() => migrate(raw, file, broken)).toThrow("nonsense");
    expect(raw.prepare("PRAGMA user_version").get()).toEqual({ user_version: MIGRATIONS.length });
    for (const _ of ["once", "again"]) migrate(raw, file, upgraded);
    expect(raw.prepare("SELECT id, priority FROM runs").all()).toEqual([{ id: "a", priority: 3 }]);
    expect(raw.prepare("PRAGMA user_version").get()).toEqual({ user_version: MIGRATIONS.length + 1 });
    expect(raw.prepare("PRAGMA foreign_keys").get()).toEqual({ foreign_keys: 1 });
  } finally {
    raw.close();
  }
  expect(() => open()).toThrow(expect.objectContaining({ code: "schema_too_new" }));
  const copy = `${file}.v${MIGRATIONS.length}.bak`;
  expect(modeOf(copy)).toBe("600");
  const old = openSqliteStore({ file: copy });
  stores.push(old);
  expect((await old.loadRun("a"))?.run.status).toBe("completed");
  expect(await old.verify()).toEqual([]);
});

const VERSION_1 = join(import.meta.dirname, "../../../test/fixtures/store/version-1.db");

test("R-000-36, R-X-04: a file that version 1 wrote is upgraded, folds to the same runs byte for byte, and goes on", async () => {
  mkdirSync(join(folder, "data"), { mode: 0o700 });
  copyFileSync(VERSION_1, file);
  const raw = new DatabaseSync(file);
  const rows = () => JSON.stringify(raw.prepare("SELECT id, state, version, head FROM runs ORDER BY number").all());
  expect(raw.prepare("PRAGMA user_version").get()).toEqual({ user_version: 1 });
  const before = rows();
  const store = open();
  expect(raw.prepare("PRAGMA user_version").get()).toEqual({ user_version: MIGRATIONS.length });
  expect(rows()).toBe(before);
  raw.close();
  expect(await store.lastSeq()).toBe(153);
  expect(await store.verify()).toEqual([]);
  expect(await store.spending({ by: "agent" })).toEqual([]);
  expect(await store.inbox()).toHaveLength(2);
  const first = newRun("a");
  await commitAll(store, [first, startMetered(first, { usd: 1, tokens: 10 })]);
  expect(await store.spending({ by: "agent" })).toMatchObject([{ key: "analyst", assumedUsd: 1 }]);
  expect(await store.verify()).toEqual([]);
  expect(existsSync(`${file}.v1.bak`)).toBe(true);
});

test("a file of version 10 is upgraded with the sums of its costs and the lists of its runs; until then a reader sees the same", async () => {
  const store = open();
  const [first, second] = [newRun("a"), newRun("b")];
  await commitAll(store, [first, second, startMetered(first, { usd: 1, tokens: 10 }), ...wholeRun("c")]);
  const look = async (from: Store) => ({
    cost: await from.spending({ by: "model" }),
    cut: await from.spending({ by: "day", since: "2026-01-01T00:00:30.000Z" }),
    counts: await from.countRuns(),
    active: await from.activeRuns(),
    words: await from.listRuns({ word: "Shipped", limit: 5 }),
    running: await from.listRuns({ status: "running", text: "a", limit: 5 }),
    completed: await from.listRuns({ status: "completed", limit: 5 }),
    open: await from.listSubjects({ open: true, limit: 5 }),
  });
  const seen = await look(store);
  expect(seen).toMatchObject({ counts: { running: 2, completed: 1 }, words: [{ id: "c" }], completed: [{ id: "c" }] });
  expect([seen.cost, seen.cut, seen.open].map(({ length }) => length)).toEqual([1, 1, 2]);
  store.close();
  intoVersion12(file);
  intoVersion10(file);
  const reader = openSqliteStore({ file, readOnly: true });
  stores.push(reader);
  expect(await look(reader)).toEqual(seen);
  expect(await reader.verify()).toEqual([]);
  const upgraded = open();
  expect(await look(upgraded)).toEqual(seen);
  // The reader is still open, and the indexes that it used are gone.
  expect(await look(reader)).toEqual(seen);
  expect(await upgraded.verify()).toEqual([]);
});

test("handoffs keep their ids through an upgrade and are found by them; later ones count on, and no id is given twice", async () => {
  const store = open();
  await commitAll(store, [newRun("a"), newRun("b"), ...wholeRun("c")]);
  store.close();
  intoVersion12(file);
  const reader = openSqliteStore({ file, readOnly: true });
  stores.push(reader);
  const idsOf = async (from: Store, runs: readonly string[]): Promise<readonly number[]> =>
    (await Promise.all(runs.map((run) => from.handoffs(run)))).flat().map(({ id }) => id);
  const before = await idsOf(reader, ["a", "b", "c"]);
  expect(before).toEqual([1, 2, 3, 4, 5]);
  const upgraded = open();
  expect(await idsOf(upgraded, ["a", "b", "c"])).toEqual(before);
  await commitAll(upgraded, [newRun("d"), ...wholeRun("e"), newRun("f")]);
  const ids = await idsOf(upgraded, ["a", "b", "c", "d", "e", "f"]);
  expect(ids).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  const found = await Promise.all(ids.map((id) => upgraded.handoffRows({ id })));
  expect(found.flat().map(({ id }) => id)).toEqual(ids);
  for (const id of [0, 11, 2 ** 52]) expect(await upgraded.handoffRows({ id })).toEqual([]);
  // The last ones go with their story; those after them do not get their ids.
  const ended = wholeRun("g");
  await commitAll(upgraded, ended);
  expect(await idsOf(upgraded, ["g"])).toEqual([11, 12, 13]);
  for (const each of ["c", "g"])
    expect(await upgraded.deleteSubject(`v0.1:${each}`)).toMatchObject({ type: "deleted" });
  for (const id of [3, 11, 13]) expect(await upgraded.handoffRows({ id })).toEqual([]);
  await commitAll(upgraded, [newRun("h")]);
  expect(await upgraded.handoffRows({ id: 14 })).toMatchObject([{ runId: "h" }]);
  expect(await upgraded.handoffRows({ id: 10 })).toMatchObject([{ runId: "f" }]);
  expect(await upgraded.verify()).toEqual([]);
});

test("an upgrade that would leave rows without their run is undone", async () => {
  const store = open();
  await commitAll(store, [newRun("a")]);
  store.close();
  const raw = new DatabaseSync(file);
  expect(() => migrate(raw, file, [...MIGRATIONS, "DELETE FROM runs"])).toThrow("without their run");
  expect(raw.prepare("SELECT count(*) AS n FROM runs").get()).toEqual({ n: 1 });
  raw.close();
});

test("R-003-05 R-003-07: agent_handoffs shows handoffs under the outward names and words", async () => {
  const store = open();
  await store.saveFlow({ flow: shippedFlow("story"), agents: {}, prompts: {}, hash: "f1" });
  const started = newRun("b", { subjectId: "v0.1:1.1.1" });
  await commitAll(store, [...wholeRun("a"), started]);
  await commitAll(store, [handOver(after(started), { from: "analyst", to: "coder", at: minute(5) })]);
  const withdrawn = newRun("c");
  const event = eventAt(minute(6), { type: "handoff.withdrawn", track: "main", number: 1, reason: "canceled" });
  await commitAll(store, [newRun("d"), withdrawn, changeOf(after(withdrawn), [event])]);
  const raw = new DatabaseSync(file, { readOnly: true });
  const rows = raw.prepare("SELECT * FROM agent_handoffs ORDER BY id").all();
  raw.close();
  expect(Object.keys(rows[0] ?? {})).toEqual([
    "id",
    "story_id",
    "from_agent",
    "to_agent",
    "status",
    "payload",
    "rejection_reason",
    "created_at",
    "processed_at",
  ]);
  expect(rows.map((row) => [row["id"], row["story_id"], row["status"]])).toEqual([
    [1, "v0.1:a", "accepted"],
    [2, "v0.1:a", "rejected"],
    [3, "v0.1:a", "rejected"],
    [4, "v0.1:1.1.1", "accepted"],
    [5, "v0.1:1.1.1", "accepted"],
    [6, "v0.1:d", "pending"],
    [7, "v0.1:c", "rejected"],
  ]);
  expect(rows[1]).toMatchObject({ rejection_reason: "the plan is unclear", processed_at: minute(22) });
  expect(rows[4]).toEqual({
    id: 5,
    story_id: "v0.1:1.1.1",
    from_agent: "analyst",
    to_agent: "coder",
    status: "accepted",
    payload: JSON.stringify({ summary: "analyst did it", files: ["a.ts"] }),
    rejection_reason: null,
    created_at: "2026-01-01T00:05:00.000Z",
    processed_at: "2026-01-01T00:05:00.000Z",
  });
  expect(rows[5]).toMatchObject({ processed_at: null, from_agent: "orchestrator" });
  expect(JSON.parse(String(rows[5]?.["payload"]))).toEqual({
    story: { id: "v0.1:d", title: 'Story d "ä" 😀', body: "Do it." },
  });
});

test("a reader creates nothing, writes nothing and sees what a writer commits", async () => {
  expect(() => open({ readOnly: true })).toThrow(expect.objectContaining({ code: "store_missing" }));
  expect(existsSync(file)).toBe(false);
  const writer = open();
  const reader = open({ readOnly: true });
  expect(await reader.changedElsewhere()).toBe(false);
  await commitAll(writer, [newRun("a")]);
  expect([await reader.changedElsewhere(), await reader.changedElsewhere()]).toEqual([true, false]);
  expect(await reader.listRuns({ limit: 5 })).toHaveLength(1);
  expect(await reader.verify()).toEqual([]);
  await expect(reader.commit(newRun("b"))).rejects.toMatchObject({ code: "store_read_only" });
});

test("two writers of one file never overwrite each other", async () => {
  const [left, right] = [open(), open()];
  const first = newRun("a");
  await commitAll(left, [first]);
  expect(await right.changedElsewhere()).toBe(true);
  const over = (signalId: string) => handOver(after(first), { from: "analyst", to: "coder", signalId });
  const results = await Promise.all([left.commit(over("l")), right.commit(over("r"))]);
  expect(results.map((result) => result.type).toSorted()).toEqual(["conflict", "ok"]);
  expect(await right.verify()).toEqual([]);
});

test("every filter of a list of runs, and a page far into a run, is found by an index in the right order", () => {
  open().close();
  const asked: string[] = [];
  const raw = new DatabaseSync(file);
  try {
    const prepare = raw.prepare.bind(raw);
    raw.prepare = (sql) => {
      if (asked.at(-1) !== sql) asked.push(sql);
      return prepare(sql);
    };
    const reads = prepareReads(raw);
    const page = { limit: 50, before: 9 };
    for (const filter of [{}, { status: "waiting" }, { flow: "x" }, { subject: "A" }, { word: "review" }] as const)
      reads.listRuns({ ...filter, ...page });
    reads.listRuns({ word: "review", flow: "x", ...page });
    const lists = asked.length;
    reads.events({ runId: "a", after: 7, limit: 50 });
    for (const time of ["00:00:00.000Z", "12:00:00.000Z"]) reads.spending({ by: "agent", since: `2026-01-01T${time}` });
    reads.spending({ by: "agent", runId: "a" });
    reads.handoffRows({ pending: true });
    reads.attempts("a");
    reads.handoffs("a");
    reads.handoffRows({ id: 5 });
    const plans = asked.map((sql) =>
      prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map(({ detail }) => String(detail)),
    );
    // The walk over a handoff's returns has names of its own, as have one commit, its values and the keys of one payload; pending handoffs are few.
    const scans = plans
      .flat()
      .filter((step) =>
        /^SCAN (?!s$|sent|origin|own|given|carried|place|named |first |more |\(subquery|CONSTANT)/.test(step),
      );
    expect(scans).toEqual(["SCAN parts USING INDEX handoffs_pending"]);
    expect(plans.flat()).toContainEqual(expect.stringContaining("s USING INDEX spending_by_time"));
    const sorts = plans.slice(0, lists).filter((plan) => plan.some((step) => step.includes("TEMP B-TREE")));
    expect(sorts).toEqual([]);
  } finally {
    raw.close();
  }
});
