// Damage done behind the store's back, through a connection of its own, must be found and named.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Damage, Store } from "../store.ts";
import { after, commitAll, handOver, newRun, startMetered, wholeRun } from "../store.testsuite.ts";
import { openSqliteStore } from "./open.ts";

let folder: string;
let file: string;
let store: Store;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "passrail-verify-"));
  file = join(folder, "passrail.db");
  store = openSqliteStore({ file });
  const [a, b] = [newRun("a"), newRun("b")];
  const over = handOver(after(b), { from: "analyst", to: "coder" });
  await commitAll(store, [a, b, handOver(after(a), { from: "analyst", to: "coder" }), over, ...wholeRun("c")]);
  await commitAll(store, [handOver(after(over), { from: "coder", to: "reviewer" })]);
});

afterEach(async () => {
  store.close();
  await rm(folder, { recursive: true });
});

/** What someone with the file and a SQLite shell can do. */
async function tamper(sql: string): Promise<readonly Damage[]> {
  const raw = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  raw.exec(`DROP TRIGGER events_never_change; DROP TRIGGER events_never_go; ${sql}`);
  raw.close();
  return store.verify();
}

test("S26: an untouched store is clean, also while it is being written", async () => {
  expect(await store.verify()).toEqual([]);
  const [found] = await Promise.all([store.verify(), store.commit(newRun("d")), store.commit(newRun("e"))]);
  expect(found).toEqual([]);
});

test("S26: events cannot be changed or deleted through SQL as long as the triggers are there", () => {
  const raw = new DatabaseSync(file);
  expect(() => raw.exec("UPDATE events SET actor = 'human:eve' WHERE seq = 1")).toThrow("append-only");
  expect(() => raw.exec("DELETE FROM events WHERE seq = 1")).toThrow("append-only");
  raw.close();
});

describe("S26 R-X-04: an edited event is found at its exact sequence number", () => {
  const edits: Readonly<Record<string, string>> = {
    "the body": `body = replace(body, 'analyst did it', 'analyst did it all')`,
    "one space in the body": "body = body || ' '",
    "a body that is no JSON": "body = '{'",
    "the actor": "actor = 'human:eve'",
    "the time": "at = '2026-01-01T00:00:00.001Z'",
    "the type": "type = 'stage.interrupted'",
    "the version": "version = 99",
    "the run": "run_number = 2, run_id = 'b', version = 50",
    "the hash": `hash = '${"0".repeat(64)}'`,
    "an empty hash": "hash = ''",
    "the sequence number": "seq = 1000",
  };
  for (const [what, edit] of Object.entries(edits)) {
    test(what, async () => {
      const found = await tamper(`UPDATE events SET ${edit} WHERE seq = 7`);
      expect(found[0]?.seq).toBe(7);
    });
  }

  test("only that row is named, not the ones after it", async () => {
    const found = await tamper(`UPDATE events SET hash = '${"0".repeat(64)}' WHERE seq = 7`);
    expect(found.map((damage) => damage.seq)).toEqual([7]);
    const both = await tamper2("UPDATE events SET actor = 'human:eve' WHERE seq = 14");
    expect(both.map((damage) => damage.seq)).toEqual([7, 14]);
  });

  async function tamper2(sql: string): Promise<readonly Damage[]> {
    const raw = new DatabaseSync(file);
    raw.exec(sql);
    raw.close();
    return store.verify();
  }
});

test("S26: a deleted event is found, in the middle and at the end", async () => {
  const found = await tamper("DELETE FROM events WHERE seq = 8");
  expect(found[0]).toEqual({ seq: 8, runId: null, what: "event 8 is missing" });
  const last = await store.lastSeq();
  const raw = new DatabaseSync(file);
  raw.exec(`DELETE FROM events WHERE seq >= ${last - 1}`);
  raw.close();
  const more = await store.verify();
  expect(more.map((damage) => damage.what)).toContain(`events ${last - 1} to ${last} are missing`);
});

test("S26: an added or swapped event is found", async () => {
  const found = await tamper(
    "UPDATE events SET seq = -7 WHERE seq = 7; UPDATE events SET seq = 7 WHERE seq = 8; UPDATE events SET seq = 8 WHERE seq = -7",
  );
  expect(found[0]).toMatchObject({ seq: 7, runId: "a" });
  const raw = new DatabaseSync(file);
  raw.exec(
    "INSERT INTO events SELECT 500, run_number, run_id, version + 500, type, at, actor, body, hash FROM events WHERE seq = 20",
  );
  raw.close();
  expect((await store.verify()).map((damage) => damage.seq)).toContain(500);
});

describe("R-X-04: rows that are not what the events say are found", () => {
  const edits: Readonly<Record<string, [sql: string, what: string]>> = {
    state: [`UPDATE runs SET state = replace(state, '"paused":false', '"paused":true') WHERE id = 'b'`, "fold"],
    "white space in the state": ["UPDATE runs SET state = state || ' ' WHERE id = 'b'", "fold"],
    version: ["UPDATE runs SET version = 8 WHERE id = 'b'", "version 8"],
    head: ["UPDATE runs SET head = 'x' WHERE id = 'b'", "head"],
    status: ["UPDATE runs SET status = 'completed' WHERE id = 'b'", "column status"],
    word: ["UPDATE runs SET word = 'shipped' WHERE id = 'b'", "column word"],
    stage: ["UPDATE runs SET stage = NULL WHERE id = 'b'", "column stage"],
    subject: ["UPDATE runs SET subject_id = 'x' WHERE id = 'b'", "column subject_id"],
    "a handoff": ["UPDATE handoffs SET state = 'done' WHERE run_id = 'b'", "handoffs"],
    "an attempt": ["DELETE FROM attempts WHERE run_id = 'b' AND stage = 'coder'", "attempts"],
    "what was spent": [
      "INSERT INTO spending (run_number, run_id, stage, attempt, agent, runner, ticket, day, started_at, reserved_usd, reserved_tokens) VALUES (2, 'b', 's', 1, 'a', 'r', 't', 'd', 'x', 0, 0)",
      "spending",
    ],
    "an inbox item": ["INSERT INTO inbox VALUES (2, 'b', 1, 'gate', 's', 't', '{}')", "inbox"],
  };
  for (const [name, [sql, what]] of Object.entries(edits)) {
    test(name, async () => {
      expect(await tamper(sql)).toEqual([{ seq: null, runId: "b", what: expect.stringContaining(what) }]);
    });
  }

  test("a run that is gone, with all that refers to it", async () => {
    const found = await tamper(
      "DELETE FROM runs WHERE id = 'b'; INSERT INTO work (run_id, command) VALUES ('b', '{}')",
    );
    expect(found.every((damage) => damage.runId === "b")).toBe(true);
    expect(found.map((damage) => damage.what.split(" of ")[0])).toEqual([
      "events",
      "rows in attempts",
      "rows in handoffs",
      "rows in work",
    ]);
  });
});

test("R-X-04: a sum that is not that of its rows is found, by key", async () => {
  const run = newRun("m");
  await commitAll(store, [run, startMetered(run, { usd: 2, tokens: 5 })]);
  expect(await store.verify()).toEqual([]);
  const found = await tamper("UPDATE spent SET usd = usd - 1 WHERE scope IN ('day', 'run')");
  expect(found.map(({ runId, what }) => [runId, what])).toEqual([
    [null, "the sum for day 2026-01-01 is not that of its rows in spending"],
    ["m", "the sum for run m is not that of its rows in spending"],
  ]);
});

test("at most 100 damages are reported, the first bad row first", async () => {
  await Promise.all(Array.from({ length: 60 }, (_, index) => store.commit(newRun(`r${index}`))));
  const found = await tamper("UPDATE events SET at = 'never' WHERE seq > 5");
  expect(found).toHaveLength(100);
  expect(found[0]?.seq).toBe(6);
});

test("S26: a sum of costs that is not that of its rows is found, by its day", async () => {
  const metered = newRun("m");
  await commitAll(store, [metered, startMetered(metered, { usd: 1, tokens: 10 })]);
  expect(await store.verify()).toEqual([]);
  const found = await tamper("UPDATE spending_sums SET assumed_usd = assumed_usd - 1");
  expect(found).toEqual([
    { seq: null, runId: null, what: "the cost of 2026-01-01 is not that of its rows in spending" },
  ]);
});
