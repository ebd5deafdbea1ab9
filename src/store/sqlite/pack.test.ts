// Unpacking a row returns what was packed, byte for byte.

import { DatabaseSync } from "node:sqlite";
import { beforeEach, expect, test } from "vitest";
import type { RunEvent } from "../../core/run/event.ts";
import { type EventRow, eventColumns } from "../rows.ts";
import { newRun, wholeRun } from "../store.testsuite.ts";
import { rowsIn } from "./history.ts";
import { MIGRATIONS } from "./migrations.ts";
import { type CommitRow, prepareOpening, prepareShapes } from "./shapes.ts";

let db: DatabaseSync;
let shapes: ReturnType<typeof prepareShapes>;

beforeEach(() => {
  db = new DatabaseSync(":memory:");
  for (const sql of MIGRATIONS) db.exec(sql);
  shapes = prepareShapes(db);
});

const AT = "2026-01-01T00:00:00.000Z";
const event = (body: object): RunEvent => ({ ...body, at: AT, actor: "engine" }) as RunEvent;

function rowsOf(commit: CommitRow): readonly EventRow[] {
  const place = { seq: 100, run_number: 1, run_id: "r", version: 100, hash: "h" };
  return rowsIn({ ...place, ...commit }, prepareOpening(db));
}

const columns = (rows: readonly EventRow[]) => rows.map(({ type, at, actor, body }) => ({ type, at, actor, body }));
const countShapes = () => Number(db.prepare("SELECT count(*) AS n FROM shapes").get()?.["n"]);

test("R-X-04: the events of whole runs come back as they were, with the keys in their order", () => {
  for (const { events } of [newRun("a"), ...wholeRun("b")])
    expect(columns(rowsOf(shapes.packAll(events)))).toEqual(events.map(eventColumns));
  const before = countShapes();
  for (const { events } of wholeRun("c")) shapes.packAll(events);
  expect(countShapes()).toBe(before);
});

test("R-X-04: odd events come back as well: empty objects, keys with signs, prototypes, half characters, what is undefined", () => {
  const odd = [
    { type: "stage.ready", carry: {}, track: "main" },
    { type: "stage.ready", carry: { "a.b": 1, from: null }, track: undefined },
    { type: "stage.ready", "a=": 1 },
    { type: "stage.ready", "carry.from": 1, carry: { from: 2 } },
    { type: "stage.ready", carry: JSON.parse('{"__proto__":{"x":1},"constructor":2}') },
    { type: "stage.finished", outcome: { payload: null, summary: "s" } },
    { type: "stage.finished", outcome: { summary: undefined, payload: { summary: "\ud800 \u0000 \u2028", n: 1e21 } } },
    { type: "stage.finished", outcome: [1, 2], item: "text", carry: null },
    { type: "run.created", at: "earlier", 7: "seven" },
    { type: "two words", x: 1 },
    { type: "run.created", ...Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`k${index}`, index])) },
  ].map(event);
  odd.push({ ...event({ type: "run.resumed" }), at: "2026-01-02T00:00:00.000Z", actor: "human:\ud800" });
  for (const events of [odd, odd.toReversed()])
    expect(columns(rowsOf(shapes.packAll(events)))).toEqual(events.map(eventColumns));
});

test("what an agent's record says is stored once, and read in both places", () => {
  const issues = [{ file: "a.ts", what: "a long text that nobody wants twice" }];
  const payload = { verdict: "revise", summary: "said at length", issues, more: true };
  const outcome = { summary: "said at length", issues, questions: [], verdict: "revise", health: "complete", payload };
  const finished = event({ type: "stage.finished", track: "main", stage: "qa", attempt: 1, outcome });
  const commit = shapes.packAll([finished]);
  expect(commit.body.split("said at length")).toHaveLength(2);
  expect(commit.body.split("nobody wants twice")).toHaveLength(2);
  expect(columns(rowsOf(commit))).toEqual([eventColumns(finished)]);
});

test("rows of another store keep their text, also one that this program would not have written", () => {
  const row = { seq: 1, run_id: "r", version: 1, type: "run.resumed", at: AT, actor: "engine", hash: "h" };
  const bodies = ['{"a":1}', '{ "a": 1 }', '{"a":1,"a":2}', '{"at":"x"}', '{"n":1.0}', "no JSON"];
  const rows = bodies.map((body) => ({ ...row, body }));
  const packed = shapes.packRows(rows.slice(0, -1));
  expect(columns(rowsOf(packed)).map(({ body }) => body)).toEqual(bodies.slice(0, -1));
  // An unreadable row stays as it is, and every reader reports it as damage.
  expect(() => rowsOf(shapes.packRows(rows.slice(-1)))).toThrow("JSON");
});

test("names that nobody knows do not fill the table without end", () => {
  const many = Array.from({ length: 5100 }, (_, index) => event({ type: "run.resumed", [`made_up_${index}`]: index }));
  const commit = shapes.packAll(many);
  expect(countShapes()).toBe(5000);
  expect(columns(rowsOf(commit))).toEqual(many.map(eventColumns));
});
