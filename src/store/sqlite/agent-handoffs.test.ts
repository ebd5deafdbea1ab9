// The view `agent_handoffs` on a real file: stories only, every row with a sender and a receiver, and gates that end when they are answered.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parse } from "yaml";
import { type Flow, resolveFlow } from "../../core/flow/flow.ts";
import { flowFileSchema } from "../../core/flow/flow-file.ts";
import { type ScriptedOutcome, simulate } from "../../core/run/simulate.ts";
import type { Store } from "../store.ts";
import { after, changeOf, commitAll, eventAt, minute } from "../store.testsuite.ts";
import { intoVersion10, intoVersion12 } from "./older.testsuite.ts";
import { openSqliteStore } from "./open.ts";

let folder: string;
let file: string;
let store: Store;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "passrail-handoffs-"));
  file = join(folder, "passrail.db");
  store = openSqliteStore({ file });
});

afterEach(async () => {
  store.close();
  await rm(folder, { recursive: true });
});

const flowWith = (handoffs: string): Flow =>
  resolveFlow(
    flowFileSchema.parse(
      parse(`
flow: gated
version: 1
subject: story
${handoffs}
stages:
  - { id: analyst, agent: analyst }
  - { id: check, kind: gate, route: { approve: next, revise: analyst } }
  - { id: coder, agent: coder }
  - { id: ship, kind: gate }
`),
    ),
  );
const story = flowWith("handoffs: { entry: orchestrator, exit: orchestrator }");
const other = flowWith("");

/** A run played through the rule, committed as one change. */
async function commitRun(id: string, flow: Flow, script: readonly ScriptedOutcome[]) {
  await store.saveFlow({ flow, agents: {}, prompts: {}, hash: flow === story ? "story" : "other" });
  const { events, problem } = simulate(flow, script, { facts: {} });
  expect(problem).toBeNull();
  const change = changeOf(
    undefined,
    events.map((event) =>
      event.type === "run.created" ? { ...event, id, flowHash: flow === story ? "story" : "other" } : event,
    ),
  );
  await commitAll(store, [change]);
  return change;
}

function rows(): readonly Record<string, unknown>[] {
  const raw = new DatabaseSync(file, { readOnly: true });
  try {
    return raw.prepare("SELECT * FROM agent_handoffs ORDER BY id").all();
  } finally {
    raw.close();
  }
}

const shown = (): readonly string[] =>
  rows().map((row) => `${String(row["from_agent"])} → ${String(row["to_agent"])} ${String(row["status"])}`);

const analyzed: ScriptedOutcome = { stage: "analyst", health: "complete" };
const approve = (at: string): ScriptedOutcome => ({ at, kind: "gate", answer: "approve", text: "" });

test("R-003-03: only stories are shown, and no row is without a sender or a receiver", async () => {
  await commitRun("a", other, [analyzed, approve("check")]);
  expect(shown()).toEqual([]);
  await commitRun("b", story, [analyzed]);
  expect(shown()).toEqual(["orchestrator → analyst accepted", "analyst → check pending"]);
});

test("R-003-05: a handoff to a gate is processed when a person answers, also one that is sent back", async () => {
  const sentBack: ScriptedOutcome = { at: "check", kind: "gate", answer: "revise", text: "more" };
  await commitRun("a", story, [analyzed, sentBack, analyzed, approve("check")]);
  expect(shown()).toEqual([
    "orchestrator → analyst accepted",
    "analyst → check accepted",
    "check → analyst accepted",
    "analyst → check accepted",
    "check → coder accepted",
  ]);
  expect(rows().every((row) => row["processed_at"] !== null)).toBe(true);
  expect(await store.verify()).toEqual([]);
});

test("R-003-07: a gate that the run withdraws leaves no pending handoff", async () => {
  const change = await commitRun("a", story, [analyzed]);
  const reason = "no longer wanted";
  await commitAll(store, [
    changeOf(after(change), [
      eventAt(minute(1), { type: "item.withdrawn", track: "main", number: 1, reason }),
      eventAt(minute(1), { type: "run.canceled", reason }),
    ]),
  ]);
  expect(rows().at(-1)).toMatchObject({ status: "rejected", rejection_reason: reason, processed_at: minute(1) });
  expect(await store.verify()).toEqual([]);
});

test("R-003-20: what the receiver added when it accepted is part of the payload, key by key", async () => {
  const payload = { plan: "short", steps: { one: 1, two: 2 }, "a.b": null };
  const change = await commitRun("a", story, []);
  const outcome = { health: "complete", verdict: "pass", issues: [], questions: [], warnings: [], payload } as const;
  const at = { track: "main", stage: "analyst", attempt: 1 };
  const edge = { fromStage: "analyst", fromAgent: "analyst", fromAttempt: 1, toStage: "coder", toAgent: "coder" };
  await commitAll(store, [
    changeOf(after(change), [
      eventAt(minute(1), { type: "stage.finished", ...at, outcome }),
      eventAt(minute(1), { type: "handoff.created", track: "main", number: 2, ...edge, loop: 0 }),
    ]),
  ]);
  const added = { steps: { three: 3 }, note: 'said "so"', done: true };
  await store.noteAttempt("a", "analyst", 1, { accepted: { handoff: 2, payload: added } });
  expect(JSON.parse(String(rows().at(-1)?.["payload"]))).toEqual({ ...payload, ...added });
  expect(rows()).toHaveLength(2);
});

test("an older store is brought to the same rows: gates answered or withdrawn long ago are not pending", async () => {
  const decided = await commitRun("a", story, [analyzed, approve("check"), { stage: "coder", health: "complete" }]);
  const second = await commitRun("b", story, [analyzed]);
  const withdrawn = eventAt(minute(2), { type: "item.withdrawn", track: "main", number: 1, reason: "went back" });
  await commitAll(store, [changeOf(after(second), [withdrawn])]);
  expect(decided.run.status).toBe("waiting");
  const before = rows();
  store.close();
  intoVersion12(file);
  intoVersion10(file);
  const raw = new DatabaseSync(file);
  raw.exec(
    "UPDATE handoffs SET state = 'pending', processed_at = NULL, rejection_reason = NULL WHERE to_agent IS NULL",
  );
  raw.exec(
    "DROP TABLE identity; DROP TABLE checks; DROP TABLE holds; DROP VIEW agent_handoffs; DROP VIEW handoff_rows",
  );
  raw.exec("ALTER TABLE handoffs DROP COLUMN added; CREATE VIEW agent_handoffs AS SELECT 1");
  raw.exec("CREATE VIEW handoff_rows AS SELECT 1; PRAGMA user_version = 5");
  raw.close();
  store = openSqliteStore({ file });
  expect(rows()).toEqual(before);
  expect(shown()).toEqual([
    "orchestrator → analyst accepted",
    "analyst → check accepted",
    "check → coder accepted",
    "coder → ship pending",
    "orchestrator → analyst accepted",
    "analyst → check rejected",
  ]);
  expect(await store.verify()).toEqual([]);
});
