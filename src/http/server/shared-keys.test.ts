// Two nodes of one database with files of keys of their own.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../test/harness/postgres.ts";
import { readAddress } from "../../settings/database.ts";
import { openPostgresStore } from "../../store/postgres/open.ts";
import type { Store } from "../../store/store.ts";
import { createKeys, type Keys } from "./keys.ts";
import { syncKeys } from "./shared-keys.ts";

let dir: string;
let database: TestDatabase;
let store: Store;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "passrail-keys-"));
  database = await createDatabase();
  const address = readAddress(database.url, "the test");
  if (!address.ok) throw new Error(address.error.message);
  store = await openPostgresStore({ address: address.value });
});
afterEach(async () => {
  store.close();
  await database.drop();
  rmSync(dir, { recursive: true, force: true });
});

const now = (): string => new Date().toISOString();

async function node(name: string): Promise<{ readonly keys: Keys; sync(): Promise<void> }> {
  const home = mkdtempSync(join(dir, name));
  const keys = await createKeys(home, { person: "human:owner", now });
  return {
    keys,
    async sync() {
      if (store.nodes !== null) await syncKeys(home, store.nodes);
    },
  };
}

test("a key made on one node is good on the others, and one revoked anywhere is good nowhere", async () => {
  const [one, two] = [await node("one"), await node("two")];
  const worker = await one.keys.create({ name: "box", kind: "worker" });
  const viewer = await two.keys.create({ name: "wall", kind: "viewer" });
  for (const each of [one, two, one]) await each.sync();
  expect(two.keys.find(worker.token)).toMatchObject({ kind: "worker", name: "box" });
  expect(one.keys.find(viewer.token)).toMatchObject({ kind: "viewer" });
  expect(await database.query("SELECT body FROM passrail.shared_keys")).not.toContain(worker.token);
  expect(await two.keys.revoke(worker.id)).toBe(true);
  for (const each of [two, one, two, one]) await each.sync();
  expect(one.keys.find(worker.token)).toBeUndefined();
  expect(two.keys.find(worker.token)).toBeUndefined();
  // A node that joins later never learns it.
  const late = await node("late");
  await late.sync();
  expect(late.keys.find(worker.token)).toBeUndefined();
  expect(late.keys.find(viewer.token)).toMatchObject({ kind: "viewer" });
});
