// Reads that go through many runs do not hold up the engine.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Store } from "../store.ts";
import { commitAll, newRun, wholeRun } from "../store.testsuite.ts";
import { openSqliteStore } from "./open.ts";

const RUNS = 400;
let folder: string;
let store: Store;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "passrail-insight-"));
  store = openSqliteStore({ file: join(folder, "passrail.db") });
  await commitAll(store, Array.from({ length: RUNS }, (_, at) => wholeRun(`w${at}`)).flat());
});
afterAll(async () => {
  store.close();
  await rm(folder, { recursive: true });
});

test.for([
  ["insights", () => store.insights({ limit: RUNS })],
  ["the results of a flow", () => store.flowStats({ flow: "story", limit: RUNS })],
  ["verify", () => store.verify()],
] as const)("a commit made while %s looks at hundreds of runs is stored before the answer", async ([name, read]) => {
  const order: string[] = [];
  const reading = read().then(() => order.push("the answer"));
  // The commits of a turn are stored when the next one begins, which a read of one piece would keep from coming.
  const stored = store.commit(newRun(`beside-${name.length}`)).then(() => order.push("the commit"));
  await Promise.all([reading, stored]);
  expect(order).toEqual(["the commit", "the answer"]);
});
