// Single facts about recovery, each with one crash at one known place: quick to run and quick to understand when one breaks.
// The breadth is in kill.test.ts and failpoints.test.ts.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { findMarked } from "../../src/runner/process/process-table.ts";
import type { Performer } from "../../src/compose.ts";
import { openIdle } from "../harness/open-performer.ts";
import { endLease, openStored, storeEnvironment } from "../harness/test-store.ts";
import type { Run } from "../../src/core/run/run.ts";
import type { Signal, SignalBody } from "../../src/core/run/signal.ts";
import { transition } from "../../src/core/run/transition.ts";
import { storeMark } from "../../src/attempt/attempt-files.ts";
import { openWriter } from "../../src/store/sqlite/connection.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import type { Change } from "../../src/store/store.ts";
import { shippedFlow } from "../harness/shipped.ts";
import { openWorkbench } from "../harness/workbench.ts";
import { closeStage, drive, openStage, type Stage } from "./drive.ts";
import { scenarioOf } from "./seeds.ts";

const stages: Stage[] = [];
afterEach(async () => {
  for (const stage of stages.splice(0)) await closeStage(stage);
});

/** A scenario whose program has just died at the given place. */
async function crashed(scenario: string, failpoint: string): Promise<Stage> {
  const stage = openStage(scenarioOf(scenario));
  stages.push(stage);
  expect(await drive(stage, { failpoint })).toMatchObject({ end: "killed" });
  return stage;
}

test("P1: the connection that commits waits for the disk each time", () => {
  const stage = openStage(scenarioOf("feature"));
  stages.push(stage);
  const db = openWriter(join(stage.home, "passrail.db"), "never");
  expect(db.prepare("PRAGMA synchronous").get()).toEqual({ synchronous: 2 });
  expect(db.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
  db.close();
});

test("R-X-05: a first start that was killed while it made the database can be repeated", async () => {
  const stage = openStage(scenarioOf("feature"));
  stages.push(stage);
  mkdirSync(stage.home, { mode: 0o700 });
  const file = join(stage.home, "passrail.db");
  // Before a new file is in WAL mode it has a rollback journal; more pages than fit into the cache are in the file already.
  const program = `
    const { DatabaseSync } = require("node:sqlite");
    const db = new DatabaseSync(${JSON.stringify(file)});
    db.exec("PRAGMA cache_size = 1; BEGIN; CREATE TABLE t (x)");
    for (let i = 0; i < 200; i++) db.exec("INSERT INTO t VALUES (zeroblob(5000))");
    process.kill(process.pid, "SIGKILL");`;
  expect(spawnSync(process.execPath, ["-e", program]).signal).toBe("SIGKILL");
  expect(statSync(`${file}-journal`).size).toBeGreaterThan(0);
  expect(await drive(stage)).toMatchObject({ end: "settled" });
});

test("R-001-39: what a killed engine left running is ended by the next one", async () => {
  // The second program is the designer, who leaves a child in a session of its own; without its engine nobody ends that.
  const stage = await crashed("feature", "process-noted:2");
  const marked = () => findMarked(`${storeMark(stage.home)}/`);
  await expect.poll(marked, { timeout: 10_000 }).not.toEqual([]);
  expect(await drive(stage)).toMatchObject({ end: "settled" });
  expect(marked()).toEqual([]);
});

test("R-001-40, R-X-05: an interrupted attempt uses up no loop and is told the same as the one before", async () => {
  // The fifth program is the builder in its revision.
  const stage = await crashed("feature", "spawned:5");
  expect(await drive(stage)).toMatchObject({ end: "settled" });
  const store = await openStored(stage.home);
  const run = (await store?.loadRun("rfeature"))?.run;
  const builds = (await store?.attempts("rfeature"))
    ?.filter(({ stage: id }) => id === "build")
    .map(({ status }) => status);
  store?.close();
  expect(run).toMatchObject({ status: "completed", counters: { revision: { loops: 1 } } });
  expect(builds).toEqual(["done", "interrupted", "done"]);
  const prompt = (attempt: number) =>
    readFileSync(join(stage.home, "runs", "rfeature", `build-${attempt}`, "prompt.md"), "utf8");
  expect(prompt(2)).toContain("revision loop 1 of 2");
  expect(prompt(3)).toContain("revision loop 1 of 2");
});

const FLOW = shippedFlow("feature");
const REQUESTED: SignalBody = {
  type: "run.requested",
  runId: "r1",
  flowHash: "h",
  subject: { id: "F-1", title: "t", body: "" },
  facts: {},
};
const APPROVED: SignalBody = { type: "item.answered", number: 1, kind: "gate", answer: "approve", text: "" };
let signals = 0;
const signal = (body: SignalBody): Signal => ({
  ...body,
  id: `s${signals++}`,
  at: "2026-01-01T00:00:00.000Z",
  actor: "human:driver",
});

test("R-X-03: the report of an attempt that was cut off does not count for the next one", () => {
  const before: SignalBody[] = [
    APPROVED,
    { type: "attempt.started", stage: "spec", attempt: 1 },
    { type: "attempt.interrupted", stage: "spec", attempt: 1, cause: "a crash" },
    { type: "attempt.started", stage: "spec", attempt: 2 },
  ];
  const run = before.reduce(
    (state, body) => transition(FLOW, state, signal(body)).run,
    transition(FLOW, undefined, signal(REQUESTED)).run,
  );
  const report = { verdict: "APPROVED" };
  const late = transition(FLOW, run, signal({ type: "attempt.finished", stage: "spec", attempt: 1, report }));
  expect(late.ignored).toBe("attempt 1 of spec is not running");
  expect(late.run).toEqual(run);
});

test("R-000-16: what was decided before another process changed the run conflicts, even by who wrote the run last but one", async () => {
  const stage = openStage(scenarioOf("feature"));
  stages.push(stage);
  const file = join(stage.home, "passrail.db");
  const [first, second] = [openSqliteStore({ file }), openSqliteStore({ file })];
  const change = (run: Run | undefined, expectedVersion: number, body: SignalBody): Change => {
    const given = signal(body);
    const step = transition(FLOW, run, given);
    return { runId: "r1", expectedVersion, signalIds: [given.id], events: step.events, run: step.run, enqueue: [] };
  };
  const created = change(undefined, 0, REQUESTED);
  const version = created.events.length;
  expect(await first.commit(created)).toMatchObject({ type: "ok", version });
  expect(await second.commit(change(created.run, version, APPROVED))).toMatchObject({ type: "ok" });
  const late: SignalBody = { type: "cancel.requested", reason: "too late" };
  expect(await first.commit(change(created.run, version, late))).toEqual({ type: "conflict" });
  expect((await first.loadRun("r1"))?.run.status).toBe("running");
  expect(await first.verify()).toEqual([]);
  first.close();
  second.close();
});

test("R-X-03: a review that was there before the attempt is no review", async () => {
  const bench = await openWorkbench({ workspace: "in-place" });
  mkdirSync(join(bench.project, ".brain"));
  writeFileSync(join(bench.project, ".brain", "REVIEW.md"), "Verdict: APPROVE\n");
  try {
    const run = await bench.run("routed", { reviewer: [{ via: "none" }] }, { facts: { input: { agent: "reviewer" } } });
    expect(run.status).toBe("stopped");
    const finished = (await bench.events(run.id)).find((event) => event.type === "stage.finished");
    expect(finished).not.toMatchObject({ outcome: { verdict: "pass" } });
  } finally {
    await bench.close();
  }
});

for (const failpoint of ["workspace-opened:1", "spawned:1", "report-read:2"]) {
  test(`R-X-05: a run that is canceled after a crash at ${failpoint} leaves no worktree`, async () => {
    const stage = await crashed("feature", failpoint);
    const passrail = await openCanceling(stage, "rfeature");
    try {
      await passrail.engine.idle();
      expect((await passrail.store.loadRun("rfeature"))?.run.status).toBe("canceled");
    } finally {
      await passrail.close();
    }
    const listed = execFileSync("git", ["worktree", "list", "--porcelain"], { cwd: stage.project, encoding: "utf8" });
    expect(listed.match(/^worktree /gmu)).toHaveLength(1);
    const folder = join(stage.home, "worktrees");
    expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([]);
    expect(findMarked(`${storeMark(stage.home)}/`)).toEqual([]);
  });
}

/** As a person does who starts Passrail again only to cancel. */
async function openCanceling({ home, project }: Stage, runId: string): Promise<Performer> {
  await endLease(home);
  const passrail = await openIdle({
    home,
    project,
    environment: { ...process.env, ...(await storeEnvironment(home)) },
    flags: {},
    onError: (_runId, error) => expect.unreachable(String(error)),
  });
  const signal = { type: "cancel.requested", reason: "not wanted any more" } as const;
  await passrail.engine.deliver(runId, signal, "human:driver");
  await passrail.perform();
  return passrail;
}

test("R-X-05: a program that was killed in the middle of a commit does not keep the next attempt from committing", async () => {
  const stage = await crashed("feature", "process-noted:3");
  const worktrees = join(stage.project, ".git", "worktrees");
  const [name = ""] = readdirSync(worktrees);
  writeFileSync(join(worktrees, name, "index.lock"), "");
  expect(await drive(stage)).toMatchObject({ end: "settled" });
  const store = await openStored(stage.home);
  const [run] = (await store?.listRuns({ limit: 1 })) ?? [];
  const attempts = (await store?.attempts(run?.id ?? "")) ?? [];
  store?.close();
  expect(run?.status).toBe("completed");
  expect(attempts.filter(({ status }) => status === "done").map(({ facts }) => facts["exitCode"])).not.toContain(128);
});
