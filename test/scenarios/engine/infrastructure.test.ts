// A vendor's limit or outage is nobody's work: the stage waits and starts again by itself, whatever happens to the engine meanwhile.

import { afterEach, expect, test } from "vitest";
import type { Report } from "../../../src/core/flow/outcome.ts";
import type { Run } from "../../../src/core/run/run.ts";
import { flowOf, openScripted, type Scripted, type ScriptedOptions } from "../../harness/scripted-engine.ts";

let scripted: Scripted;
afterEach(async () => {
  await scripted.close();
});

const LIMITED: Report = { cause: "rate_limit", reason: "too many requests" };
const PASS: Report = { structured: true, verdict: "pass" };
const MINUTE = 60_000;

/** Answers with these in turn, per stage; then passes. */
async function open(script: Record<string, Report[]>, options: Partial<ScriptedOptions> = {}): Promise<string[]> {
  const calls: string[] = [];
  scripted = await openScripted({
    agent: ({ stage, attempt, run }) => {
      calls.push(`${run.id}/${stage.id}/${attempt}`);
      return script[stage.id]?.shift() ?? PASS;
    },
    ...options,
  });
  return calls;
}

const isPutOff = (run: Run): boolean =>
  Object.values(run.tracks).some((track) => track.at === "ready" && track.notBefore !== undefined);
const isDone = (run: Run): boolean => run.status === "completed";

test("a rate limit is waited for, with longer and longer waits, and costs nothing", async () => {
  const calls = await open({ build: [LIMITED, { cause: "server_error" }] });
  await scripted.start("r1");
  const first = await scripted.until("r1", "is put off", isPutOff);
  expect(first.tracks["main"]).toMatchObject({
    attempt: 2,
    notBefore: "2026-01-01T12:00:15.000Z",
    because: "rate_limit",
  });
  await scripted.advance(14_999);
  expect(calls).toHaveLength(1);
  await scripted.advance(1);
  const second = await scripted.until("r1", "is put off again", (run) => run.stages["build"]?.attempts === 3);
  expect(second.tracks["main"]).toMatchObject({ notBefore: "2026-01-01T12:00:45.000Z", because: "server_error" });
  await scripted.advance(30_000);
  const done = await scripted.until("r1", "is completed", isDone);
  expect(done.counters).toEqual({});
  expect(done.stages["build"]).not.toHaveProperty("postponed");
  expect((await scripted.types("r1")).filter((type) => type === "stage.postponed")).toHaveLength(2);
});

test("nobody is idle while something will start by itself", async () => {
  await open({ build: [LIMITED] });
  await scripted.start("r1");
  let isIdle = false;
  await scripted.until("r1", "is put off", isPutOff);
  const idle = scripted.engine.idle().then(() => (isIdle = true));
  await scripted.engine.catchUp();
  await new Promise((resolve) => setImmediate(resolve));
  expect(isIdle).toBe(false);
  await scripted.advance(15_000);
  await idle;
  expect((await scripted.load("r1")).status).toBe("completed");
});

test("who waits for one run is not held up by what another run waits for", async () => {
  await open({ build: [LIMITED] });
  await scripted.start("r1");
  await scripted.until("r1", "is put off", isPutOff);
  await scripted.start("r2", flowOf([{ id: "second", agent: "second" }]));
  await scripted.engine.idle("r2");
  expect(await scripted.until("r2", "is completed", isDone)).toMatchObject({ status: "completed" });
  let idle = false;
  const rest = scripted.engine.idle("r1").then(() => {
    idle = true;
  });
  await scripted.advance(1);
  expect(idle).toBe(false);
  await scripted.advance(15 * MINUTE);
  await rest;
});

test("the wait survives a restart, also one that lasts longer than the wait", async () => {
  const calls = await open({ build: [{ ...LIMITED, resetsAt: "2026-01-01T17:00:00Z" }] });
  await scripted.start("r1");
  expect((await scripted.until("r1", "is put off", isPutOff)).tracks["main"]).toMatchObject({
    notBefore: "2026-01-01T17:00:00.000Z",
  });
  await scripted.restart();
  await scripted.advance(4 * 60 * MINUTE);
  expect(calls).toHaveLength(1);
  await scripted.engine.close();
  scripted.setWall(Date.parse("2026-01-02T00:00:00Z"));
  await scripted.restart();
  await scripted.until("r1", "is completed", isDone);
  expect(calls).toEqual(["r1/build/1", "r1/build/2"]);
});

test("a clock that is set back by a year does not make the wait longer, one that jumps ahead ends it", async () => {
  await open({ build: [LIMITED, LIMITED] });
  await scripted.start("r1");
  await scripted.until("r1", "is put off", isPutOff);
  scripted.setWall(Date.parse("2025-01-01T00:00:00Z"));
  await scripted.advance(15_000);
  await scripted.until("r1", "has tried again", (run) => run.stages["build"]?.attempts === 3);
  scripted.setWall(Date.parse("2030-01-01T00:00:00Z"));
  await scripted.engine.catchUp();
  await scripted.until("r1", "is completed", isDone);
});

test("a limit that is told to last for months is waited for eight days at most", async () => {
  const calls = await open({ build: [LIMITED, { ...LIMITED, resetsAt: "2026-03-01T00:00:00Z" }] });
  await scripted.start("r1");
  await scripted.until("r1", "is put off", isPutOff);
  await scripted.advance(15_000);
  const far = await scripted.until("r1", "is put off for long", (run) => run.stages["build"]?.attempts === 3);
  // At most eight days, whatever is told.
  expect(far.tracks["main"]).toMatchObject({ notBefore: "2026-01-09T12:00:15.000Z" });
  await scripted.advance(7 * 24 * 60 * MINUTE);
  expect(calls).toHaveLength(2);
});

test("a person who retries starts it at once; pausing and canceling end the wait", async () => {
  const calls = await open({ build: [LIMITED], other: [LIMITED], third: [LIMITED] });
  for (const [id, stage] of [
    ["r1", "build"],
    ["r2", "other"],
    ["r3", "third"],
  ] as const)
    await scripted.start(id, flowOf([{ id: stage, agent: "builder" }]));
  for (const id of ["r1", "r2", "r3"]) await scripted.until(id, "is put off", isPutOff);
  await scripted.engine.deliver("r1", { type: "retry.requested", note: "" }, "human:t");
  await scripted.until("r1", "is completed", isDone);
  await scripted.engine.deliver("r2", { type: "pause.requested", reason: "" }, "human:t");
  await scripted.engine.deliver("r3", { type: "cancel.requested", reason: "enough" }, "human:t");
  // With both waits gone nothing starts by itself.
  await scripted.engine.idle();
  await scripted.advance(MINUTE);
  expect(calls).not.toContain("r2/other/2");
  await scripted.engine.deliver("r2", { type: "resume.requested" }, "human:t");
  await scripted.until("r2", "is completed", isDone);
  expect(calls).not.toContain("r3/third/2");
});

test("five outages in a row, or two crashes, and the failure takes the flow's way; it is counted anew after that", async () => {
  await open({ build: Array.from({ length: 6 }, () => LIMITED) });
  await scripted.start("r1", flowOf([{ id: "build", agent: "builder", route: { failed: "escalate" } }]));
  for (let retry = 1; retry <= 5; retry += 1) {
    await scripted.until("r1", `is put off ${retry}`, (run) => run.stages["build"]?.postponed?.outages === retry);
    await scripted.advance(15 * MINUTE);
  }
  const escalated = await scripted.until("r1", "waits", (run) => run.status === "waiting");
  expect(escalated.tracks["main"]).toMatchObject({ item: { kind: "escalation", reason: "failed: too many requests" } });
  expect(escalated.stages["build"]).not.toHaveProperty("postponed");
});

test("a limit of the account holds back the other stages of the same runner, and only those", async () => {
  const metered: NonNullable<ScriptedOptions["metered"]> = (stage) =>
    stage === "free"
      ? null
      : { runner: stage === "other" ? "codex" : "claude", model: null, reserveUsd: 0, reserveTokens: 0 };
  const limited: Report = { cause: "quota", reason: "5-hour limit", resetsAt: "2026-01-01T15:00:00Z" };
  const calls = await open({ build: [limited] }, { metered });
  await scripted.start("r1");
  await scripted.until("r1", "is put off", isPutOff);
  for (const stage of ["second", "other", "free"]) await scripted.start(stage, flowOf([{ id: stage, agent: stage }]));
  for (const id of ["other", "free"]) await scripted.until(id, "is completed", isDone);
  const held = await scripted.until("second", "is held", isPutOff);
  expect(held.tracks["main"]).toMatchObject({ attempt: 1, notBefore: "2026-01-01T15:00:00.000Z", because: "quota" });
  expect(await scripted.types("second")).toContain("stage.held");
  await scripted.advance(3 * 60 * MINUTE);
  for (const id of ["r1", "second"]) await scripted.until(id, "is completed", isDone);
  expect(calls.filter((call) => call.startsWith("second/"))).toEqual(["second/second/1"]);
});

test("who is told by a person to start again tries, though its runner is held; once it worked nobody is held any more", async () => {
  const metered = () => ({ runner: "claude", model: null, reserveUsd: 0, reserveTokens: 0 });
  const calls = await open({ build: [{ cause: "quota", resetsAt: "2026-01-01T15:00:00Z" }] }, { metered });
  await scripted.start("r1");
  await scripted.until("r1", "is put off", isPutOff);
  await scripted.start("r2", flowOf([{ id: "second", agent: "second" }]));
  await scripted.until("r2", "is held", isPutOff);
  await scripted.advance(1000);
  await scripted.engine.deliver("r2", { type: "retry.requested", note: "" }, "human:t");
  await scripted.until("r2", "is completed", isDone);
  await scripted.start("r3", flowOf([{ id: "third", agent: "third" }]));
  await scripted.until("r3", "is completed", isDone);
  // The run that had found the limit need not wait for its end either.
  await scripted.until("r1", "is completed", isDone);
  expect(calls.toSorted()).toEqual(["r1/build/1", "r1/build/2", "r2/second/2", "r3/third/1"]);
});

test("an attempt that waited for its slot and finds its runner held starts by itself when the limit is over", async () => {
  const calls = await open(
    { build: [{ cause: "quota", reason: "used up", resetsAt: "2026-01-01T13:00:00.000Z" }] },
    { slots: 1, metered: () => ({ runner: "claude", model: null, reserveUsd: 1, reserveTokens: 1 }) },
  );
  await Promise.all([scripted.start("r1"), scripted.start("r2")]);
  for (const runId of ["r1", "r2"]) await scripted.until(runId, "is put off", isPutOff);
  expect(calls).toHaveLength(1);
  await scripted.advance(61 * MINUTE);
  for (const runId of ["r1", "r2"]) await scripted.until(runId, "is completed", isDone);
  expect(calls).toHaveLength(3);
});
