// Reads that go through much of the store do not hold up the engine.

import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Store } from "../store.ts";
import { after, changeOf, commitAll, eventAt, minute, newRun, startMetered } from "../store.testsuite.ts";
import { openAside } from "./aside.ts";
import { openSqliteStore } from "./open.ts";

let folder: string;
let file: string;
let owner: Store;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "passrail-aside-"));
  file = join(folder, "passrail.db");
  owner = openSqliteStore({ file, owner: true });
});
afterEach(async () => {
  owner.close();
  await rm(folder, { recursive: true });
});

const heavyReads = (store: Store) =>
  [
    () => store.insights({ limit: 100 }),
    () => store.flowStats({ flow: "x", limit: 100 }),
    () => store.spending({ by: "run" }),
    () => store.spending({ by: "agent", since: "2025-12-31T12:00:00.000Z" }),
    () => store.listRuns({ text: "a", limit: 10 }),
  ] as const;

test("they answer as they do in a process without an engine", async () => {
  const run = newRun("a");
  const started = startMetered(run, { usd: 1, tokens: 10, at: "2025-12-31T23:59:00.000Z" });
  const failed = changeOf(after(started), [eventAt(minute(1), { type: "run.stopped", reason: "exit 7" })]);
  await commitAll(owner, [run, started, failed]);
  const reader = openSqliteStore({ file, readOnly: true });
  const here = await Promise.all(heavyReads(reader).map((read) => read()));
  reader.close();
  expect(await Promise.all(heavyReads(owner).map((read) => read()))).toEqual(here);
  expect(here[2]).toMatchObject([{ key: "a", attempts: 1 }]);
});

test("the engine goes on meanwhile, and what it commits is seen by the next one", async () => {
  for (const [at, read] of heavyReads(owner).entries()) {
    // A read in this thread is over before anything else has its turn.
    const first = await Promise.race([read().then(() => "the read"), otherWork().then(() => "other work")]);
    expect(first).toBe("other work");
    await owner.commit(newRun(`a${at}`));
    expect(await owner.listRuns({ text: `a${at}`, limit: 10 })).toHaveLength(1);
  }
});

async function otherWork(): Promise<void> {
  for (let step = 0; step < 50; step += 1) await Promise.resolve();
}

test("a file that cannot be read is told with its code, the next question is asked anew, and a closed store answers nobody", async () => {
  const other = join(folder, "other.db");
  await writeFile(other, "not a database, and longer than its header would be ".repeat(100));
  const aside = openAside(other, () => Promise.reject(new Error("not here")));
  await expect(aside.ask("insights", { limit: 100 })).rejects.toMatchObject({ code: "store_foreign" });
  const whole = join(folder, "whole.db");
  openSqliteStore({ file: whole }).close();
  await copyFile(whole, other);
  expect(await aside.ask("insights", { limit: 100 })).toMatchObject({ runs: 0 });
  const reading = aside.ask("insights", { limit: 100 });
  aside.close();
  await expect(reading).rejects.toMatchObject({ code: "store_closed" });
});

test("where the thread cannot start, the installation having been replaced, the reads happen here", async () => {
  const aside = openAside(file, async (name) => [name] as never, join(folder, "gone.js"));
  const first = await Promise.all([
    aside.ask("insights", { limit: 1 }),
    aside.ask("flowStats", { flow: "x", limit: 1 }),
  ]);
  expect(first).toEqual([["insights"], ["flowStats"]]);
  expect(await aside.ask("insights", { limit: 1 })).toEqual(["insights"]);
  aside.close();
});
