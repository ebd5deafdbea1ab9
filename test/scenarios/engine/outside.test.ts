// A story whose stages are played outside: nothing is spawned for them, everything goes by signals, as the handoffs API delivers them.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Report } from "../../../src/core/flow/outcome.ts";
import { outwardStatus, storyState } from "../../../src/core/view/story.ts";
import { openItems, type Run } from "../../../src/core/run/run.ts";
import type { SignalBody } from "../../../src/core/run/signal.ts";
import { payloadProblems } from "../../../src/core/verdict/contract.ts";
import { shippedFlow } from "../../harness/shipped.ts";
import { openWorkbench, type Script, type Workbench } from "../../harness/workbench.ts";

let bench: Workbench;
beforeAll(async () => {
  bench = await openWorkbench();
});
afterAll(() => bench.close());

const OUTSIDE: JsonObject = { runners: { "*": { runner: "outside" } } };
const AGENTS = ["analyst", "implementer", "reviewer", "refactorer", "documenter"];
const flow = shippedFlow("story");

let stories = 0;
const start = (facts: JsonObject = OUTSIDE, script: Script = {}): Promise<Run> =>
  bench.run("story", script, { subject: `v0.1:${++stories}`, facts });

async function deliver(run: Run, body: SignalBody, by: string): Promise<string | undefined> {
  const actor = body.type.startsWith("attempt") ? (`agent:${by}` as const) : (`human:${by}` as const);
  return (await bench.passrail.engine.deliver(run.id, body, actor)).ignored;
}

async function attemptOf(run: Run, stage: string): Promise<number> {
  return (await bench.load(run.id)).stages[stage]?.attempts ?? 0;
}

async function take(run: Run, stage: string): Promise<string | undefined> {
  return deliver(run, { type: "attempt.started", stage, attempt: await attemptOf(run, stage), outside: true }, stage);
}

async function finish(run: Run, stage: string, report: Report): Promise<string | undefined> {
  const attempt = await attemptOf(run, stage);
  const whole = { structured: true, ...report };
  const ignored = await deliver(run, { type: "attempt.finished", stage, attempt, report: whole, outside: true }, stage);
  await bench.passrail.engine.idle();
  return ignored;
}

const passes = (payload: JsonObject = {}): Report => ({ verdict: "approved", payload });
const refuses = (reason: string): Report => ({ verdict: "rejected", reason });
const rows = (run: Run) => bench.passrail.store.handoffRows({ subjectId: run.subject.id });
const shown = async (run: Run) =>
  (await rows(run)).map((row) => `${row.fromAgent}→${row.toAgent} ${outwardStatus(row.state)}`);

test("R-003-02: a whole story is worked by outside agents alone; nothing is spawned for it", async () => {
  const run = await start();
  expect(run.status).toBe("running");
  expect(await shown(run)).toEqual(["orchestrator→analyst pending"]);
  const [first] = await rows(run);
  expect(first?.payload).toMatchObject({ story: { id: run.subject.id } });
  for (const agent of AGENTS) {
    expect(storyState(flow, await rows(run))).toMatchObject({ currentAgent: agent });
    expect(await take(run, agent)).toBeUndefined();
    expect(storyState(flow, await rows(run))).toMatchObject({ currentAgent: agent });
    expect(await finish(run, agent, passes({ by: agent }))).toBeUndefined();
  }
  expect(await bench.load(run.id)).toMatchObject({ status: "completed", word: "complete" });
  expect((await rows(run)).map(({ payload }) => payload).slice(1)).toEqual(AGENTS.map((agent) => ({ by: agent })));
  expect(existsSync(join(bench.home, "runs", run.id))).toBe(false);
  expect(await bench.passrail.store.spending({ by: "run", runId: run.id })).toEqual([]);
});

/** What the review says about the finding of the round before. */
const mended = (round: number): Partial<Report> =>
  round === 0 ? {} : { findings: [{ id: `F${round}`, state: "fixed", said: "" }] };

test("refused work goes back and forth, taken or not, until the counter is spent; a person is asked", async () => {
  const run = await start();
  await finish(run, "analyst", passes());
  for (const loop of [1, 2]) {
    await take(run, "implementer");
    await finish(run, "implementer", passes({ try: loop }));
    if (loop === 1) await take(run, "reviewer");
    await finish(run, "reviewer", { ...refuses(`no ${loop}`), ...mended(loop - 1) });
    const returned = (await rows(run)).at(-1);
    expect(returned).toMatchObject({ fromAgent: "reviewer", toAgent: "implementer", state: "pending" });
    expect(returned?.payload).toEqual({ try: loop, rejection_reason: `no ${loop}`, rejected_by: "reviewer" });
  }
  await finish(run, "implementer", passes());
  await finish(run, "reviewer", { ...refuses("no 3"), ...mended(2) });
  expect(openItems(await bench.load(run.id))).toMatchObject([{ kind: "escalation", stage: "reviewer" }]);
});

/** It opens the file. */
const isFile = process.env["PASSRAIL_TEST_STORE"] !== "postgres";

test.skipIf(!isFile)("by SQL the table shows the same rows and payloads as the port", async () => {
  const run = await start();
  await finish(run, "analyst", passes({ plan: "p" }));
  await finish(run, "implementer", refuses("unclear"));
  const db = new DatabaseSync(join(bench.home, "passrail.db"), { readOnly: true });
  const table = db.prepare("SELECT * FROM agent_handoffs WHERE story_id = ? ORDER BY id").all(run.subject.id);
  db.close();
  expect(table.map((row) => [row["status"], JSON.parse(String(row["payload"]))])).toEqual(
    (await rows(run)).map((row) => [outwardStatus(row.state), row.payload]),
  );
  expect(table.map((row) => row["status"])).toEqual(["accepted", "rejected", "pending"]);
});

test("spawned and outside agents share a story: each waits for the other", async () => {
  const run = await start(
    { runners: { implementer: { runner: "outside" }, documenter: { runner: "outside" } } },
    { "*": [{ verdict: "approved", payload: { spawned: true } }] },
  );
  expect(await shown(run)).toEqual(["orchestrator→analyst accepted", "analyst→implementer pending"]);
  await finish(run, "implementer", passes());
  expect(await bench.load(run.id)).toMatchObject({ tracks: { main: { at: "ready", stage: "documenter" } } });
  await finish(run, "documenter", passes());
  expect((await bench.load(run.id)).status).toBe("completed");
});

test("a restart leaves alone what somebody outside works on, and what waits for somebody", async () => {
  const [taken, waiting] = [await start(), await start()];
  await take(taken, "analyst");
  await bench.restart();
  await bench.passrail.engine.idle();
  expect((await bench.events(taken.id)).map(({ type }) => type)).not.toContain("stage.interrupted");
  expect(await bench.load(taken.id)).toMatchObject({ tracks: { main: { at: "running", outside: true, attempt: 1 } } });
  expect(await bench.load(waiting.id)).toMatchObject({ tracks: { main: { at: "ready", attempt: 1 } } });
  expect(await finish(taken, "analyst", passes())).toBeUndefined();
  expect(await finish(waiting, "analyst", passes())).toBeUndefined();
});

test("pausing, canceling and skipping work on what is outside", async () => {
  const run = await start();
  await deliver(run, { type: "pause.requested", reason: "lunch" }, "t");
  expect(await take(run, "analyst")).toBe("the run is paused");
  await deliver(run, { type: "resume.requested" }, "t");
  expect(await take(run, "analyst")).toBeUndefined();
  await deliver(run, { type: "skip.requested", reason: "known" }, "t");
  expect(await finish(run, "analyst", passes())).toBe("attempt 1 of analyst is not running");
  await deliver(run, { type: "cancel.requested", reason: "enough" }, "t");
  expect((await rows(run)).at(-1)).toMatchObject({ toAgent: "implementer", state: "withdrawn" });
  expect(await take(run, "implementer")).toBe("the run is canceled");
});

test("R-003-23: what nobody took goes to a person by the flow, and is pending again when that one goes on", async () => {
  const run = await start();
  const expire = (number: number, then: "route" | "stop") =>
    // oxlint-disable-next-line unicorn/no-thenable -- the signal's own word; nobody awaits it
    deliver(run, { type: "handoff.expired", number, reason: "Agent timed out", then }, "t");
  expect(await expire(1, "route")).toBeUndefined();
  expect((await rows(run))[0]).toMatchObject({ state: "expired", rejectionReason: "Agent timed out" });
  expect(await expire(1, "route")).toBe("handoff 1 does not wait to be taken");
  await bench.answer(await bench.load(run.id), "escalation", "again");
  expect(await shown(run)).toEqual(["orchestrator→analyst rejected", "orchestrator→analyst pending"]);
  expect(await expire(2, "stop")).toBeUndefined();
  expect(await bench.load(run.id)).toMatchObject({ status: "stopped", reason: "Agent timed out" });
  await deliver(run, { type: "retry.requested", note: "" }, "t");
  const last = (await rows(run)).at(-1);
  expect(last).toMatchObject({ number: 3, fromAgent: "orchestrator", toAgent: "analyst", state: "pending" });
  expect(last?.payload).toMatchObject({ story: { id: run.subject.id } });
  expect(await finish(run, "analyst", passes())).toBeUndefined();
});

test("R-003-27: of many who take or refuse the same handoff at once exactly one wins", async () => {
  const run = await start();
  await finish(run, "analyst", passes());
  const takes = Array.from({ length: 25 }, () => take(run, "implementer"));
  const refusals = Array.from({ length: 25 }, () => finish(run, "implementer", refuses("no")));
  const answers = await Promise.all([...takes, ...refusals]);
  const taken = answers.slice(0, 25).filter((ignored) => ignored === undefined).length;
  const refused = answers.slice(25).filter((ignored) => ignored === undefined).length;
  // Who has taken it may still refuse it: once.
  expect(taken).toBeLessThanOrEqual(1);
  expect(refused).toBe(1);
  expect((await rows(run)).filter(({ toAgent }) => toAgent === "analyst")).toHaveLength(2);
});

test("R-003-04: a story that is over goes with its handoffs", async () => {
  const run = await start();
  await deliver(run, { type: "cancel.requested", reason: "enough" }, "t");
  await bench.passrail.engine.idle();
  expect(await bench.passrail.store.deleteSubject(run.subject.id)).toEqual({ type: "deleted", runIds: [run.id] });
  expect(await rows(run)).toEqual([]);
  await expect(bench.passrail.engine.deliver(run.id, { type: "resume.requested" }, "human:t")).rejects.toThrow(
    "no run",
  );
  expect(await bench.passrail.store.verify()).toEqual([]);
});

test("R-003-40: the payload's contract can be asked for: a missing key is a warning, a build that fails is refused", () => {
  const implementer = flow.stages.find(({ id }) => id === "implementer");
  if (implementer?.kind !== "agent") throw new Error("unexpected");
  const whole = { files_changed: [], summary: "s", tests_added: [], build_passes: true, discoveries: {} };
  expect(payloadProblems(implementer, whole)).toEqual({ warnings: [] });
  expect(payloadProblems(implementer, { ...whole, build_passes: false }).refused).toContain("build_passes: false");
  expect(payloadProblems(implementer, undefined).warnings).toEqual([expect.stringContaining("files_changed, summary")]);
});

test("nothing went wrong in any of these stories, and the store is whole", async () => {
  expect(bench.errors).toEqual([]);
  expect(await bench.passrail.store.verify()).toEqual([]);
});
