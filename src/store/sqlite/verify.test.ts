// Damage done behind the store's back, through a connection of its own, must be found and named.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Damage, Store } from "../store.ts";
import {
  after,
  changeOf,
  commitAll,
  eventAt,
  handOver,
  minute,
  newRun,
  startMetered,
  wholeRun,
} from "../store.testsuite.ts";
import { intoVersion12 } from "./older.testsuite.ts";
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

/** The possible edits of a user with the file and a SQLite shell. */
async function tamper(sql: string): Promise<readonly Damage[]> {
  const raw = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  raw.exec(`DROP TRIGGER events_never_change; DROP TRIGGER events_never_go; DROP TRIGGER events_never_come;
    DROP TRIGGER commits_never_change; DROP TRIGGER commits_never_go; ${sql}`);
  raw.close();
  return store.verify();
}

test("S26: an untouched store is clean, also while it is being written", async () => {
  expect(await store.verify()).toEqual([]);
  const [found] = await Promise.all([store.verify(), store.commit(newRun("d")), store.commit(newRun("e"))]);
  expect(found).toEqual([]);
});

/** The same store as a program before version 13 left it: each event in a row of its own. It continues in rows of commits. */
async function reopenAsOld(): Promise<void> {
  store.close();
  intoVersion12(file);
  store = openSqliteStore({ file });
  expect(await store.verify()).toEqual([]);
  await commitAll(store, [newRun("d")]);
}

test("S26: events cannot be changed, deleted or added through SQL as long as the triggers are there", async () => {
  await reopenAsOld();
  const raw = new DatabaseSync(file);
  for (const table of ["events", "commits"]) {
    expect(() => raw.exec(`UPDATE ${table} SET actor = 'human:eve'`)).toThrow("append-only");
    expect(() => raw.exec(`DELETE FROM ${table}`)).toThrow("append-only");
  }
  expect(() => raw.exec("INSERT INTO events SELECT * FROM events")).toThrow("rows of commits");
  raw.close();
});

describe("S26 R-X-04: an edited commit is found at the number of its last event", () => {
  // Run a's second commit: events 7 to 12.
  const edits: Readonly<Record<string, string>> = {
    "a value": `body = replace(body, 'analyst did it', 'analyst did it all')`,
    "one space": "body = replace(body, ',', ', ')",
    "one space at the end": "body = body || ' '",
    "a body that is no JSON": "body = '{'",
    "no events": "body = '[]'",
    "an event less": "body = json_remove(body, '$[2]')",
    "an event twice": "body = json_insert(body, '$[#]', body -> '$[2]')",
    "another order": "body = json_array(body -> '$[1]', body -> '$[0]')",
    "another shape": "body = json_set(body, '$[0][0]', (SELECT max(id) FROM shapes))",
    "a shape that is not there": "body = json_set(body, '$[0][0]', 999)",
    "a value too many": "body = json_insert(body, '$[0][#]', 'x')",
    "an event as text": `body = json_set(body, '$[0]', json_array(0, 'stage.finished', '{}', at, actor))`,
    "the actor": "actor = 'human:eve'",
    "the time": "at = '2026-01-01T00:00:00.001Z'",
    "the version": "version = 99",
    "the run": "run_number = 2, version = 50",
    "the hash": `hash = '${"0".repeat(64)}'`,
    "an empty hash": "hash = ''",
  };
  for (const [what, edit] of Object.entries(edits)) {
    test(what, async () => {
      const found = await tamper(`UPDATE commits SET ${edit} WHERE seq = 12`);
      expect(found.map(({ seq }) => seq)).toContain(12);
    });
  }

  test("only that row is named, not the ones after it", async () => {
    const found = await tamper(`UPDATE commits SET hash = '${"0".repeat(64)}' WHERE seq = 3`);
    expect(found.map((damage) => damage.seq)).toEqual([3]);
    const both = await untriggered("UPDATE commits SET actor = 'human:eve' WHERE seq = 18");
    expect(both.map((damage) => damage.seq)).toEqual([3, 18]);
    expect(both[1]?.what).toBe("events 13 to 18 are not as they were written: their hash does not fit");
  });

  test("the names of values, by every commit that has them", async () => {
    const found = await tamper(
      `UPDATE shapes SET names = replace(names, '"fromStage","fromAgent"', '"fromAgent","fromStage"')`,
    );
    expect(found.map((damage) => damage.seq)).toEqual(expect.arrayContaining([3, 6, 12, 18]));
  });

  test("a key that is there twice, of which SQL would read the first and this program the last", async () => {
    const found = await tamper(
      `UPDATE commits SET body = replace(body, '"summary":', '"summary":"evil","summary":') WHERE seq = 12`,
    );
    expect(found[0]).toMatchObject({ seq: 12, what: expect.stringContaining("not as they were written") });
  });
});

describe("S26 R-X-04: an edited row of an older program is found at its exact sequence number", () => {
  beforeEach(reopenAsOld);
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
    const both = await untriggered("UPDATE events SET actor = 'human:eve' WHERE seq = 14");
    expect(both.map((damage) => damage.seq)).toEqual([7, 14]);
  });

  test("a deleted, swapped or added one", async () => {
    const found = await tamper("DELETE FROM events WHERE seq = 8");
    expect(found[0]).toEqual({ seq: 8, runId: null, what: "event 8 is missing" });
    const swapped = await untriggered(
      "UPDATE events SET seq = -9 WHERE seq = 9; UPDATE events SET seq = 9 WHERE seq = 10; UPDATE events SET seq = 10 WHERE seq = -9",
    );
    expect(swapped.map(({ seq }) => seq)).toContain(9);
    const added = await untriggered(
      "INSERT INTO events SELECT 500, run_number, run_id, version + 500, type, at, actor, body, hash FROM events WHERE seq = 20",
    );
    expect(added.map(({ seq }) => seq)).toContain(500);
  });
});

/** Once the triggers are gone. */
async function untriggered(sql: string): Promise<readonly Damage[]> {
  const raw = new DatabaseSync(file);
  raw.exec(sql);
  raw.close();
  return store.verify();
}

test("S26: a deleted commit is found, in the middle and at the end", async () => {
  const found = await tamper("DELETE FROM commits WHERE seq = 12");
  expect(found[0]).toEqual({ seq: 7, runId: null, what: "events 7 to 12 are missing" });
  const last = await store.lastSeq();
  const more = await untriggered(`DELETE FROM commits WHERE seq = ${last}`);
  expect(more.map((damage) => damage.what)).toContain(`events ${last - 5} to ${last} are missing`);
});

test("S26: an added or swapped commit is found", async () => {
  const last = await store.lastSeq();
  const found = await tamper(
    `UPDATE commits SET seq = -7 WHERE seq = 18; UPDATE commits SET seq = 18 WHERE seq = ${last}; UPDATE commits SET seq = ${last} WHERE seq = -7`,
  );
  expect(found[0]).toMatchObject({ seq: 18, runId: "b" });
  const added = await untriggered(
    "INSERT INTO commits SELECT 500, run_number, version + 500, at, actor, body, hash, last_handoff FROM commits WHERE seq = 3",
  );
  expect(added.map((damage) => damage.seq)).toContain(500);
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
    "a handoff": ["UPDATE parts SET state = 'done' WHERE run_number = 2 AND kind = 'h'", "handoffs"],
    "an attempt": ["DELETE FROM parts WHERE run_number = 2 AND kind = 'a' AND name = 'coder'", "attempts"],
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
      "rows in work",
      "rows in attempts",
      "rows in places",
      "rows in handoffs",
    ]);
  });
});

test("a commit of very many events has several rows, each with a hash, and is read like any other", async () => {
  const first = newRun("long");
  const many = Array.from({ length: 250 }, (_, index) =>
    eventAt(minute(1), { type: "warning.raised", stage: "analyst", code: "w", message: `warning ${index}` }),
  );
  await commitAll(store, [first, changeOf(after(first), many)]);
  const events = await store.events({ runId: "long", after: 0, limit: 1000 });
  expect(events.slice(3).map(({ event }) => event)).toEqual(many);
  expect(events.map(({ version }) => version)).toEqual(events.map((_, index) => index + 1));
  expect(events.slice(3).filter(({ hash }) => hash !== "")).toHaveLength(3);
  expect(await store.verify()).toEqual([]);
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
  await Promise.all(Array.from({ length: 110 }, (_, index) => store.commit(newRun(`r${index}`))));
  const found = await tamper("UPDATE commits SET at = 'never' WHERE seq > 5");
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

test("S26: the last runs, deleted with every row of theirs, are missed: the mark beside the file tells how far its owner got", async () => {
  store.close();
  store = openSqliteStore({ file, owner: true });
  const before = await store.lastSeq();
  await commitAll(store, [newRun("last")]);
  expect(await store.verify()).toEqual([]);
  const gone = `DELETE FROM commits WHERE run_number = N; DELETE FROM parts WHERE run_number = N; DELETE FROM runs WHERE number = N`;
  const found = await tamper(gone.replaceAll("N", "(SELECT max(number) FROM runs)"));
  expect(found).toEqual([expect.objectContaining({ seq: before + 1, what: expect.stringContaining("deleted") })]);
  // The next owner takes what it finds for an older copy, under a new name.
  store.close();
  store = openSqliteStore({ file, owner: true });
  expect(await store.verify()).toEqual([]);
});
