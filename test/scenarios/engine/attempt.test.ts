// What can happen to an attempt besides a verdict: limits, restarts, a person's hand. Real programs, a real store.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findMarked } from "../../../src/runner/process/process-table.ts";
import type { RunEvent } from "../../../src/core/run/event.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Run } from "../../../src/core/run/run.ts";
import type { SignalBody } from "../../../src/core/run/signal.ts";
import { storeMark } from "../../../src/attempt/attempt-files.ts";
import { customFlow } from "../../harness/custom-flow.ts";
import { until } from "../../harness/until.ts";
import { openWorkbench, type Script, verdictsOf, type Workbench } from "../../harness/workbench.ts";

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

const say = (verdict: string, more: JsonObject = {}): JsonObject => ({ via: "json-tail", verdict, ...more });
const happy: Script = {
  spec: [say("APPROVED")],
  design: [say("APPROVED")],
  build: [say("COMPLETE")],
  qa: [say("SHIP")],
};
const hold = () => join(bench.dir, "go");
const approve = { type: "item.answered", number: 1, kind: "gate", answer: "approve", text: "" } as const;
const alive = () => findMarked(`${storeMark(bench.home)}/`);

/** Approves and waits until the stage is at work. */
async function startAt(script: Script, stage: string, flow: Parameters<Workbench["run"]>[0] = "feature"): Promise<Run> {
  const run = await bench.run(flow, script);
  await bench.passrail.engine.deliver(run.id, approve, "human:lance");
  return atWork(run, stage, 1);
}

function atWork(run: Run, stage: string, attempt: number): Promise<Run> {
  return until(`${stage} ${attempt} is at work`, async () => {
    const records = await bench.passrail.store.attempts(run.id);
    const record = records.find((one) => one.stage === stage && one.attempt === attempt);
    return record?.facts["process"] === undefined ? undefined : bench.load(run.id);
  });
}

const deliver = (run: Run, body: SignalBody) => bench.passrail.engine.deliver(run.id, body, "human:lance");
const ofType = <T extends RunEvent["type"]>(events: readonly RunEvent[], type: T) =>
  events.filter((event): event is RunEvent & { type: T } => event.type === type);

describe("limits", () => {
  const limited = (limits: JsonObject) =>
    customFlow("feature", (file) => ({
      ...file,
      stages: file.stages.map((stage) => (stage.id === "build" ? { ...stage, limits } : stage)),
    }));

  test("R-000-24: a stage that takes too long fails with cause timeout, its processes are ended, people are asked", async () => {
    const child = join(bench.dir, "child.pid");
    let run = await bench.run(limited({ total: "300ms" }), {
      ...happy,
      build: [say("COMPLETE", { hold: hold(), child })],
    });
    await bench.answer(run, "gate", "approve");
    run = await bench.load(run.id);
    expect(run).toMatchObject({
      status: "waiting",
      word: "escalated",
      tracks: { main: { item: { kind: "escalation", stage: "build" } } },
    });
    const events = await bench.events(run.id);
    expect(ofType(events, "stage.finished").at(-1)).toMatchObject({
      stage: "build",
      outcome: { health: "failed", cause: "timeout" },
    });
    expect(ofType(events, "stage.timed_out")).toMatchObject([{ stage: "build", attempt: 1, cause: "timeout" }]);
    expect(bench.notices.filter(({ event }) => event === "escalation")).toHaveLength(1);
    expect(alive()).toEqual([]);
    expect(run.counters).toEqual({});
  });

  test("R-000-24: without a limit of its own a stage has 30 minutes", () => {
    const { flow } = customFlow("feature", (file) => file);
    for (const stage of flow.stages) if (stage.kind === "agent") expect(stage.limits.totalMs).toBe(30 * 60_000);
  });

  test("R-001-35: a silent agent is ended by the idle limit", async () => {
    let run = await bench.run(limited({ idle: "300ms" }), { ...happy, build: [say("COMPLETE", { hold: hold() })] });
    await bench.answer(run, "gate", "approve");
    run = await bench.load(run.id);
    expect(run).toMatchObject({ status: "waiting", word: "escalated" });
    expect(ofType(await bench.events(run.id), "stage.finished").at(-1)).toMatchObject({
      outcome: { health: "failed", cause: "idle_timeout" },
    });
    expect(alive()).toEqual([]);
  });

  test("R-001-35: an agent that says nothing at all is ended by the startup limit, and tried again later", async () => {
    const run = await bench.run(limited({ startup: "300ms" }), {
      ...happy,
      build: [say("COMPLETE", { hold: hold() })],
    });
    const answer = { type: "item.answered", number: 1, kind: "gate", answer: "approve", text: "" } as const;
    await bench.passrail.engine.deliver(run.id, answer, "human:tester");
    const postponed = async () => ofType(await bench.events(run.id), "stage.postponed");
    await expect.poll(postponed, { timeout: 20_000 }).toHaveLength(1);
    expect(await postponed()).toMatchObject([{ stage: "build", cause: "startup_timeout", retry: 1, of: 2 }]);
    expect(ofType(await bench.events(run.id), "stage.finished").at(-1)).toMatchObject({
      outcome: { health: "failed", cause: "startup_timeout" },
    });
    expect(alive()).toEqual([]);
  });

  test("an agent that writes too much is ended", async () => {
    let run = await bench.run(limited({ output: "1kb" }), {
      ...happy,
      build: [{ via: "text", text: "x".repeat(100_000) }],
    });
    await bench.answer(run, "gate", "approve");
    run = await bench.load(run.id);
    expect(ofType(await bench.events(run.id), "stage.finished").at(-1)).toMatchObject({
      outcome: { health: "failed", cause: "output_limit" },
    });
  });

  test("again after a timeout runs the stage that broke once more", async () => {
    const script = { ...happy, "build#1": [say("COMPLETE", { hold: hold() })] };
    let run = await bench.run(limited({ total: "4s" }), script);
    await bench.answer(run, "gate", "approve");
    run = await bench.load(run.id);
    await bench.answer(run, "escalation", "again", "be quick");
    run = await bench.load(run.id);
    expect(run).toMatchObject({
      status: "waiting",
      word: "review",
      stages: { spec: { attempts: 1 }, build: { attempts: 2 } },
    });
  });
});

describe("restarts", () => {
  test("R-X-05, R-000-43: a restart in the middle of build: interrupted, started again, not counted, nothing finished runs again", async () => {
    const started = await startAt({ ...happy, "build#1": [say("COMPLETE", { hold: hold() })] }, "build");
    await bench.restart();
    expect(alive().filter(({ marker }) => marker.endsWith("/build/1"))).toEqual([]);
    await bench.passrail.engine.idle();
    const run = await bench.load(started.id);
    expect(run).toMatchObject({ status: "waiting", word: "review", counters: {} });
    expect(run.stages).toMatchObject({
      spec: { attempts: 1 },
      design: { attempts: 1 },
      build: { attempts: 2, interruptions: 0 },
      qa: { attempts: 1 },
    });
    const events = await bench.events(run.id);
    expect(ofType(events, "stage.interrupted")).toMatchObject([{ stage: "build", attempt: 1 }]);
    expect(verdictsOf(events)).toEqual(["spec:APPROVED", "design:APPROVED", "build:COMPLETE", "qa:SHIP"]);
    const records = await bench.passrail.store.attempts(run.id);
    expect(records.map(({ stage, attempt, status }) => `${stage}-${attempt}:${status}`)).toEqual([
      "spec-1:done",
      "design-1:done",
      "build-1:interrupted",
      "build-2:done",
      "qa-1:done",
    ]);
  });

  test("R-X-05: the new attempt gets what the interrupted one got", async () => {
    const script = {
      ...happy,
      qa: [say("REVISE", { issues: ["keep me"] }), say("SHIP")],
      "build#2": [say("COMPLETE", { hold: hold() })],
    };
    const run = await bench.run("feature", script);
    await deliver(run, approve);
    await atWork(run, "build", 2);
    await bench.restart();
    await bench.passrail.engine.idle();
    const prompt = readFileSync(join(bench.home, "runs", run.id, "build-3", "prompt.md"), "utf8");
    expect(prompt).toContain("- keep me");
    expect(prompt).toContain("revision loop 1 of 2");
    expect(await bench.load(run.id)).toMatchObject({ word: "review", counters: { revision: { loops: 1 } } });
  });

  test("R-X-05: a stage that is interrupted again and again stops instead of running for ever", async () => {
    const flow = customFlow("feature", (file) => ({ ...file, max_interruptions: 1 }));
    const started = await startAt({ ...happy, spec: [say("APPROVED", { hold: hold() })] }, "spec", flow);
    await bench.restart();
    await atWork(started, "spec", 2);
    await bench.restart();
    await bench.passrail.engine.idle();
    expect(await bench.load(started.id)).toMatchObject({
      status: "stopped",
      word: "escalated",
      reason: expect.stringContaining("interrupted 2 times"),
    });
  });

  test("R-X-05: runs that wait for people, and runs in the queue, are as they were", async () => {
    const waiting = await bench.run("feature", happy, { subject: "F-1" });
    await bench.restart();
    expect(await bench.load(waiting.id)).toEqual(waiting);
    await bench.answer(waiting, "gate", "approve");
    expect(await bench.load(waiting.id)).toMatchObject({ word: "review" });
  });
});

describe("a person's hand", () => {
  test("pause lets the running stage end and starts no other; resume goes on", async () => {
    const run = await startAt({ ...happy, spec: [say("APPROVED", { hold: hold() })] }, "spec");
    await deliver(run, { type: "pause.requested", reason: "lunch" });
    writeFileSync(hold(), "");
    await bench.passrail.engine.idle();
    expect(await bench.load(run.id)).toMatchObject({
      paused: true,
      tracks: { main: { at: "ready", stage: "design" } },
    });
    await bench.restart();
    await bench.passrail.engine.idle();
    expect(await bench.load(run.id)).toMatchObject({
      paused: true,
      tracks: { main: { at: "ready", stage: "design" } },
    });
    await deliver(run, { type: "resume.requested" });
    await bench.passrail.engine.idle();
    expect(await bench.load(run.id)).toMatchObject({ paused: false, word: "review" });
    const events = await bench.events(run.id);
    expect([...ofType(events, "run.paused"), ...ofType(events, "run.unpaused")].map(({ actor }) => actor)).toEqual([
      "human:lance",
      "human:lance",
    ]);
  });

  test("R-001-39: cancel ends the agent's whole process tree and the run", async () => {
    const child = join(bench.dir, "child.pid");
    const run = await startAt({ ...happy, spec: [say("APPROVED", { hold: hold(), child })] }, "spec");
    await until("the child lives", () => (alive().length >= 2 ? true : undefined));
    await deliver(run, { type: "cancel.requested", reason: "not needed" });
    await bench.passrail.engine.idle();
    expect(await bench.load(run.id)).toMatchObject({
      status: "canceled",
      word: "canceled",
      by: "human:lance",
      reason: "not needed",
    });
    expect(alive()).toEqual([]);
    const [record] = await bench.passrail.store.attempts(run.id);
    expect(record).toMatchObject({ stage: "spec", status: "canceled" });
  });

  test("R-X-03: what a canceled attempt says afterwards changes nothing", async () => {
    const run = await startAt({ ...happy, spec: [say("APPROVED", { hold: hold() })] }, "spec");
    await deliver(run, { type: "cancel.requested", reason: "stop" });
    const late: SignalBody = { type: "attempt.finished", stage: "spec", attempt: 1, report: { verdict: "APPROVED" } };
    expect(await bench.passrail.engine.deliver(run.id, late, "agent:IN1")).toMatchObject({
      ignored: "the run is canceled",
    });
    await bench.passrail.engine.idle();
    expect(await bench.load(run.id)).toMatchObject({ status: "canceled" });
  });

  test("retry ends the running attempt and starts a new one with the note", async () => {
    const run = await startAt({ ...happy, "spec#1": [say("APPROVED", { hold: hold() })] }, "spec");
    await deliver(run, { type: "retry.requested", note: "use the other model" });
    await bench.passrail.engine.idle();
    expect(await bench.load(run.id)).toMatchObject({ word: "review", stages: { spec: { attempts: 2 } }, counters: {} });
    expect(readFileSync(join(bench.home, "runs", run.id, "spec-2", "prompt.md"), "utf8")).toContain(
      "use the other model",
    );
    expect(ofType(await bench.events(run.id), "stage.canceled")).toMatchObject([
      { stage: "spec", attempt: 1, reason: "retried" },
    ]);
    expect(alive()).toEqual([]);
  });

  test("a stopped run can be retried", async () => {
    const flow = customFlow("feature", (file) => ({
      ...file,
      defaults: { ...file.defaults, route: { failed: "stop" } },
    }));
    const run = await bench.run(flow, { ...happy, "spec#1": [{ via: "none", exit: 1 }] });
    await bench.answer(run, "gate", "approve");
    expect(await bench.load(run.id)).toMatchObject({ status: "stopped" });
    await deliver(run, { type: "retry.requested", note: "" });
    await bench.passrail.engine.idle();
    expect(await bench.load(run.id)).toMatchObject({ word: "review", stages: { spec: { attempts: 2 } } });
  });

  test("skip needs a reason, and goes on with the next stage", async () => {
    const run = await startAt({ ...happy, design: [say("APPROVED", { hold: hold() })] }, "design");
    expect(await deliver(run, { type: "skip.requested", reason: " " })).toMatchObject({
      ignored: "skipping needs a reason",
    });
    await deliver(run, { type: "skip.requested", reason: "no design needed" });
    await bench.passrail.engine.idle();
    expect(await bench.load(run.id)).toMatchObject({ word: "review" });
    const events = await bench.events(run.id);
    expect(ofType(events, "stage.skipped")).toMatchObject([
      { stage: "design", reason: "no design needed", actor: "human:lance" },
    ]);
    expect(verdictsOf(events)).toEqual(["spec:APPROVED", "build:COMPLETE", "qa:SHIP"]);
    expect(alive()).toEqual([]);
  });

  test("R-X-03: a gate cannot be skipped", async () => {
    const run = await bench.run("feature", happy);
    expect(await deliver(run, { type: "skip.requested", reason: "hurry" })).toMatchObject({
      ignored: expect.stringContaining("cannot be skipped"),
    });
    expect(await bench.load(run.id)).toMatchObject({ status: "waiting", word: "pending" });
  });
});

describe("what is kept", () => {
  test("R-000-30, R-X-10: prompt, output, exit, duration, workspace, commits and changes of every attempt", async () => {
    const log = join(bench.dir, "log");
    const entries = Object.fromEntries(Object.entries(happy).map(([stage, [entry]]) => [stage, [{ ...entry, log }]]));
    const script = { ...entries, build: [say("COMPLETE", { log, write: { "work.txt": "line" }, commit: true })] };
    let run = await bench.run("feature", script);
    await bench.answer(run, "gate", "approve");
    run = await bench.load(run.id);
    const seen = readFileSync(log, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { stage: string; attempt: number; prompt: string });
    const records = await bench.passrail.store.attempts(run.id);
    expect(records).toHaveLength(4);
    for (const { stage, attempt, facts, startedAt, endedAt, outcome } of records) {
      const dir = join(bench.home, "runs", run.id, `${stage}-${attempt}`);
      expect(facts).toMatchObject({
        ended: "exited",
        exitCode: 0,
        workspace: expect.stringContaining("worktrees"),
        prompt: join(dir, "prompt.md"),
      });
      expect(facts["durationMs"]).toBeGreaterThan(0);
      expect(readFileSync(join(dir, "prompt.md"), "utf8")).toBe(
        // Whoever reads the record must not be able to speak for the attempt.
        seen.find((one) => one.stage === stage)?.prompt.replaceAll(/(?<="nonce": ")[0-9a-f]{32}/gu, "[nonce]"),
      );
      expect(readFileSync(join(dir, "output.log"), "utf8")).toContain('"verdict"');
      expect(startedAt).not.toBeNull();
      expect(endedAt).not.toBeNull();
      expect(outcome).not.toBeNull();
    }
    const build = records.find(({ stage }) => stage === "build");
    expect(build?.facts["from"]).toMatch(/^[0-9a-f]{40}$/u);
    expect(build?.facts["to"]).not.toBe(build?.facts["from"]);
    expect(readFileSync(join(bench.home, "runs", run.id, "build-1", "changes.diff"), "utf8")).toContain("+line");
    // Nothing that was not reported is shown as a number.
    for (const { facts } of records)
      for (const key of ["tokens", "cost", "turns"]) expect(facts[key] ?? null).toBeNull();
  });

  test("R-X-06: words are stored beside what they mean, and runs are found by either", async () => {
    let run = await bench.run("feature", happy);
    await bench.answer(run, "gate", "approve");
    run = await bench.load(run.id);
    const found = async (word: string) =>
      (await bench.passrail.store.listRuns({ word, limit: 10 })).map(({ id }) => id);
    expect(await found("review")).toEqual([run.id]);
    expect(await found("waiting")).toEqual([run.id]);
    expect(await found("shipped")).toEqual([]);
    expect(ofType(await bench.events(run.id), "stage.finished").at(-1)).toMatchObject({
      outcome: { verdict: "pass", word: "SHIP" },
    });
  });

  test("R-X-11: the loop and its limit are in the run, in the prompt, in the events and in the message", async () => {
    let run = await bench.run("feature", { ...happy, qa: [say("REVISE", { issues: ["x"] })] });
    await bench.answer(run, "gate", "approve");
    run = await bench.load(run.id);
    expect(run.counters).toEqual({ revision: { loops: 2, streak: 0 } });
    const events = await bench.events(run.id);
    expect(
      ofType(events, "stage.ready").flatMap(({ stage, carry }) =>
        stage === "build" ? [[carry.loop, carry.loopMax]] : [],
      ),
    ).toEqual([
      [0, null],
      [1, 2],
      [2, 2],
    ]);
    expect(ofType(events, "counter.spent")).toMatchObject([{ key: "revision", loops: 2, why: "limit" }]);
    expect(readFileSync(join(bench.home, "runs", run.id, "qa-3", "prompt.md"), "utf8")).toContain(
      "revision loop 2 of 2",
    );
    expect(bench.notices.at(-1)?.text).toContain("the limit of 2 ");
  });

  test("R-X-03: reports of attempts that are not running, or that come twice, change nothing", async () => {
    const run = await startAt({ ...happy, spec: [say("APPROVED", { hold: hold() })] }, "spec");
    const report = { structured: true, verdict: "pass" } as const;
    for (const [stage, attempt] of [
      ["spec", 2],
      ["design", 1],
      ["qa", 1],
      ["ship", 1],
      ["nowhere", 1],
    ] as const) {
      const late: SignalBody = { type: "attempt.finished", stage, attempt, report };
      expect(await bench.passrail.engine.deliver(run.id, late, "agent:IN1")).toMatchObject({
        ignored: expect.stringContaining("not running"),
      });
    }
    writeFileSync(hold(), "");
    await bench.passrail.engine.idle();
    const twice: SignalBody = { type: "attempt.finished", stage: "spec", attempt: 1, report };
    expect(await bench.passrail.engine.deliver(run.id, twice, "agent:IN1", "finish:spec:1")).toMatchObject({
      duplicate: true,
    });
    expect(await bench.passrail.engine.deliver(run.id, twice, "agent:IN1")).toMatchObject({
      ignored: expect.stringContaining("not running"),
    });
    expect(verdictsOf(await bench.events(run.id))).toEqual([
      "spec:APPROVED",
      "design:APPROVED",
      "build:COMPLETE",
      "qa:SHIP",
    ]);
  });

  test("a stage without a program fails and says how to name one", async () => {
    let run = await bench.run("feature", happy, { facts: { runners: { "*": [] } } });
    await bench.answer(run, "gate", "approve");
    run = await bench.load(run.id);
    expect(run).toMatchObject({
      status: "waiting",
      word: "escalated",
      tracks: { main: { item: { reason: expect.stringContaining("no runner plays agent IN1") } } },
    });
    expect(existsSync(join(bench.home, "runs", run.id, "spec-1", "output.log"))).toBe(false);
  });
});
