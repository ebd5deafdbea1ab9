// The data that nodes share in the database.

import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../test/harness/postgres.ts";
import { readAddress } from "../../settings/database.ts";
import type { NodeShare } from "../node-share.ts";
import type { Store } from "../store.ts";
import { openPostgresStore } from "./open.ts";

let database: TestDatabase;
let store: Store;
let share: NodeShare;

beforeEach(async () => {
  database = await createDatabase();
  const address = readAddress(database.url, "the test");
  if (!address.ok) throw new Error(address.error.message);
  store = await openPostgresStore({ address: address.value });
  if (store.nodes === null) throw new Error("a database is shared");
  share = store.nodes;
});
afterEach(async () => {
  store.close();
  await database.drop();
});

test("copies come back byte for byte, in the order of their saving; the last of a name counts", async () => {
  const large = randomBytes(5_000_000);
  const copy = { runId: "r1", by: "n1", about: "{}" };
  await share.saveCopy({ ...copy, name: "record/a-1", data: randomBytes(3_000_000) });
  await share.saveCopy({ ...copy, name: "commits/a-1", about: '{"x":1}', data: Buffer.alloc(0) });
  await share.saveCopy({ ...copy, name: "record/a-1", by: "n2", data: large });
  await share.saveCopy({ ...copy, runId: "r2", name: "texts", data: Buffer.from("x") });
  expect(await share.copies("r1")).toEqual([
    { name: "commits/a-1", by: "n1", about: '{"x":1}' },
    { name: "record/a-1", by: "n2", about: "{}" },
  ]);
  expect((await share.loadCopy("r1", "record/a-1"))?.equals(large)).toBe(true);
  expect(await share.loadCopy("r1", "commits/a-1")).toEqual(Buffer.alloc(0));
  expect(await share.loadCopy("r1", "record/b-1")).toBeUndefined();
});

test("nodes that were heard of lately are named", async () => {
  await share.announce("one", "{}");
  await share.announce("two", "{}");
  await share.announce("one", '{"host":"a"}');
  expect(await share.nodes()).toEqual([
    { id: "one", body: '{"host":"a"}' },
    { id: "two", body: "{}" },
  ]);
  await database.query("UPDATE passrail.nodes SET seen_at = seen_at - interval '2 minutes' WHERE id = 'two'");
  expect((await share.nodes()).map(({ id }) => id)).toEqual(["one"]);
});
