// Source 000 end to end: real processes, a real git repository, a real store.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openItems } from "../../../src/core/run/run.ts";
import { until } from "../../harness/until.ts";
import { openWorkbench, verdictsOf, type Workbench, wordsOf } from "../../harness/workbench.ts";

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

const promptOf = (run: string, stage: string, attempt: number) =>
  readFileSync(join(bench.home, "runs", run, `${stage}-${attempt}`, "prompt.md"), "utf8");

const SPEC = [{ via: "json-tail", verdict: "APPROVED" }];
const BUILD = [{ via: "json-tail", verdict: "COMPLETE", write: { "work.txt": "line" }, commit: true }];
const happy = { spec: SPEC, design: SPEC, build: BUILD, qa: [{ via: "json-tail", verdict: "SHIP" }] };
const revising = (times: number) => ({
  ...happy,
  qa: [
    ...Array.from({ length: times }, (_, i) => ({
      via: "json-tail",
      verdict: "REVISE",
      issues: [`issue ${i + 1}`, { severity: "major", description: "second", file: "a.ts", line: 3 }],
    })),
    { via: "json-tail", verdict: "SHIP" },
  ],
});

test("R-000-10, R-000-12, R-000-17, R-000-34: the stages follow each other with two human touches and the source's words", async () => {
  let run = await bench.run("feature", happy);
  expect(run).toMatchObject({ status: "waiting", word: "pending" });
  await bench.answer(run, "gate", "approve");
  run = await bench.load(run.id);
  expect(run).toMatchObject({ status: "waiting", word: "review" });
  await bench.answer(run, "gate", "approve");
  const events = await bench.events(run.id);
  expect(verdictsOf(events)).toEqual(["spec:APPROVED", "design:APPROVED", "build:COMPLETE", "qa:SHIP"]);
  expect(wordsOf(events)).toEqual([
    "pending",
    "approved",
    "speccing",
    "designing",
    "building",
    "qa",
    "review",
    "shipped",
  ]);
  expect(events.filter((event) => event.type === "gate.answered" && event.actor.startsWith("human:"))).toHaveLength(2);
  expect(bench.errors).toEqual([]);
});

test("R-000-07, R-000-14, R-000-19, R-000-29: REVISE sends the issues to the builder, counts once, and is tested again", async () => {
  let run = await bench.run("feature", revising(1));
  await bench.answer(run, "gate", "approve");
  run = await bench.load(run.id);
  expect(verdictsOf(await bench.events(run.id))).toEqual([
    "spec:APPROVED",
    "design:APPROVED",
    "build:COMPLETE",
    "qa:REVISE",
    "build:COMPLETE",
    "qa:SHIP",
  ]);
  expect(run.counters["revision"]?.loops).toBe(1);
  const prompt = (stage: string, attempt: number) =>
    readFileSync(join(bench.home, "runs", run.id, `${stage}-${attempt}`, "prompt.md"), "utf8");
  expect(prompt("build", 1)).not.toContain("revision loop");
  expect(prompt("build", 1)).not.toContain("issue 1");
  expect(prompt("build", 2)).toContain("revision loop 1 of 2");
  expect(prompt("build", 2)).toMatch(/- issue 1\n- \[major\] second \(a\.ts:3\)/u);
});

test("R-000-20 R-000-21: builds run three times, the third REVISE escalates, and a person's note goes to the next build", async () => {
  let run = await bench.run("feature", revising(3));
  await bench.answer(run, "gate", "approve");
  run = await bench.load(run.id);
  expect(run).toMatchObject({ status: "waiting", word: "escalated", counters: { revision: { loops: 2 } } });
  expect(run.stages["build"]?.attempts).toBe(3);
  expect(run.stages["qa"]?.attempts).toBe(3);
  expect(bench.notices.filter(({ event }) => event === "escalation")).toMatchObject([
    { to: "owner", text: expect.stringContaining("issue 3") },
  ]);
  await bench.answer(run, "escalation", "accept", "good enough");
  run = await bench.load(run.id);
  expect(run).toMatchObject({ status: "waiting", word: "review" });
});

test("R-000-15: REJECT escalates at once from any stage and starts nothing else", async () => {
  let run = await bench.run("feature", {
    ...happy,
    design: [{ via: "json-tail", verdict: "REJECT", issues: ["no way"] }],
  });
  await bench.answer(run, "gate", "approve");
  run = await bench.load(run.id);
  expect(run).toMatchObject({ status: "waiting", word: "escalated" });
  expect(run.stages["build"]).toBeUndefined();
});

test("R-000-09: no verdict gets one repair round, then the run is escalated with the raw tail", async () => {
  let run = await bench.run("feature", { ...happy, spec: [{ via: "text", text: "I think it is fine" }] });
  await bench.answer(run, "gate", "approve");
  run = await bench.load(run.id);
  expect(run).toMatchObject({ status: "waiting", word: "escalated" });
  const finished = (await bench.events(run.id)).find((event) => event.type === "stage.finished");
  expect(finished).toMatchObject({
    outcome: { health: "failed", cause: "verdict_missing", summary: "I think it is fine" },
  });
  expect(readFileSync(join(bench.home, "runs", run.id, "spec-1", "repair-prompt.md"), "utf8")).toContain(
    "not accepted",
  );
});

test("R-000-11: nothing is started before the approval, which starts IN1 by itself", async () => {
  let run = await bench.run("feature", happy);
  expect(await bench.passrail.store.attempts(run.id)).toEqual([]);
  expect(existsSync(join(bench.home, "runs", run.id))).toBe(false);
  await bench.restart();
  await bench.passrail.engine.idle();
  expect(await bench.passrail.store.attempts(run.id)).toEqual([]);
  await bench.answer(run, "gate", "approve");
  run = await bench.load(run.id);
  expect(run.stages["spec"]).toMatchObject({ attempts: 1 });
});

test("R-000-11: a declined feature starts nothing and is canceled", async () => {
  let run = await bench.run("feature", happy);
  await bench.answer(run, "gate", "decline");
  run = await bench.load(run.id);
  expect(run).toMatchObject({ status: "canceled", word: "canceled" });
  expect(await bench.passrail.store.attempts(run.id)).toEqual([]);
});

test("R-000-13: SHIP shows review, tells the owner once and starts nobody until the gate is answered", async () => {
  let run = await bench.run("feature", happy);
  await bench.answer(run, "gate", "approve");
  run = await bench.load(run.id);
  expect(run).toMatchObject({ status: "waiting", word: "review", tracks: { main: { at: "waiting", stage: "ship" } } });
  const about = bench.notices.filter(({ event }) => event !== "gate");
  expect(about).toMatchObject([{ event: "ready-for-review", to: "owner", item: `${run.id}.2` }]);
  await bench.restart();
  await bench.passrail.engine.idle();
  expect(await bench.passrail.store.attempts(run.id)).toHaveLength(4);
  expect(bench.notices.filter(({ event }) => event === "ready-for-review")).toHaveLength(1);
});

test("R-000-15: REJECT escalates at any loop and at any stage", async () => {
  const reject = { via: "json-tail", verdict: "REJECT", issues: ["stop here"] };
  const revise = { via: "json-tail", verdict: "REVISE", issues: ["again"] };
  const script = { ...happy, qa: [revise, reject] };
  let run = await bench.run("feature", script);
  await bench.answer(run, "gate", "approve");
  run = await bench.load(run.id);
  expect(run).toMatchObject({ status: "waiting", word: "escalated", counters: { revision: { loops: 1 } } });
  expect(run.stages).toMatchObject({ build: { attempts: 2 }, qa: { attempts: 2 } });
  expect(openItems(run)).toMatchObject([{ kind: "escalation", stage: "qa", issues: ["stop here"] }]);
});

test("R-000-16: verdict, count, route and the start of the next stage are one change", async () => {
  let run = await bench.run("feature", revising(1));
  await bench.answer(run, "gate", "approve");
  run = await bench.load(run.id);
  const events = await bench.events(run.id);
  const at = events.findIndex((event) => event.type === "stage.finished" && event.outcome.word === "REVISE");
  const change = events.slice(at).filter((event) => event.at === events[at]?.at);
  expect(change.map(({ type }) => type)).toEqual([
    "stage.finished",
    "handoff.rejected",
    "findings.reviewed",
    "counter.changed",
    "handoff.created",
    "stage.ready",
    "stage.started",
    "handoff.accepted",
    "status.changed",
  ]);
});

test("R-000-16: a spent counter escalates in the same change as the verdict that spent it", async () => {
  let run = await bench.run("feature", revising(3));
  await bench.answer(run, "gate", "approve");
  run = await bench.load(run.id);
  const events = await bench.events(run.id);
  const at = events.findLastIndex((event) => event.type === "stage.finished");
  const types = events.slice(at).map(({ type }) => type);
  expect(types).toEqual([
    "stage.finished",
    "handoff.rejected",
    "findings.reviewed",
    "counter.spent",
    "escalation.opened",
    "status.changed",
    "run.waiting",
  ]);
  expect(new Set(events.slice(at).map((event) => event.at)).size).toBe(1);
});

test("R-000-19: two features at once never share a counter", async () => {
  const runs = await Promise.all([
    bench.run("feature", revising(2), { subject: "F-1" }),
    bench.run("feature", revising(1), { subject: "F-2" }),
    bench.run("feature", happy, { subject: "F-3" }),
  ]);
  await Promise.all(runs.map((run) => bench.answer(run, "gate", "approve")));
  const loops = await Promise.all(runs.map(async ({ id }) => (await bench.load(id)).counters["revision"]?.loops ?? 0));
  expect(loops).toEqual([2, 1, 0]);
});

test("R-000-19: the count grows by exactly one per REVISE that is routed back, and not by the one that escalates", async () => {
  let run = await bench.run("feature", revising(3));
  await bench.answer(run, "gate", "approve");
  run = await bench.load(run.id);
  const counts = (await bench.events(run.id)).flatMap((event) =>
    event.type === "counter.changed" ? [[event.from, event.to]] : [],
  );
  expect(counts).toEqual([
    [0, 1],
    [1, 2],
  ]);
  expect(run.counters["revision"]?.loops).toBe(2);
});

test("the owner is told feature, stage, loops, issues and where to answer", async () => {
  let run = await bench.run("feature", revising(3), { subject: "F-77" });
  await bench.answer(run, "gate", "approve");
  run = await bench.load(run.id);
  const notice = bench.notices.find(({ event }) => event === "escalation");
  expect(notice).toMatchObject({ to: "owner", runId: run.id, item: `${run.id}.2` });
  for (const part of ["F-77", "qa", "the limit of 2 ", "issue 3", "[major] second (a.ts:3)"])
    expect(notice?.text).toContain(part);
});

test("R-000-21: again starts a new budget, with the person's note in the prompt and the author in the log", async () => {
  const script = { ...revising(3), "qa#4": [{ via: "json-tail", verdict: "SHIP" }] };
  let run = await bench.run("feature", script);
  await bench.answer(run, "gate", "approve");
  run = await bench.load(run.id);
  await bench.answer(run, "escalation", "again", "look at the cache first", "human:lance");
  run = await bench.load(run.id);
  expect(run).toMatchObject({ status: "waiting", word: "review" });
  expect(run.stages).toMatchObject({ build: { attempts: 4 }, qa: { attempts: 4 } });
  expect(run.counters["revision"]?.loops).toBe(0);
  const prompt = promptOf(run.id, "build", 4);
  expect(prompt).toContain("look at the cache first");
  expect(prompt).toContain("- issue 3");
  expect(prompt).not.toContain("revision loop 2 of 2");
  expect(prompt).toContain("A person asked for this attempt; 0 of 2 revision loops are used.");
  expect(promptOf(run.id, "qa", 4)).toContain("- issue 3");
  expect((await bench.events(run.id)).find(({ type }) => type === "escalation.resolved")).toMatchObject({
    actor: "human:lance",
    choice: "again",
    note: "look at the cache first",
  });
});

test("R-000-21: cancel at an escalation ends the feature", async () => {
  let run = await bench.run("feature", { ...happy, spec: [{ via: "json-tail", verdict: "REJECT" }] });
  await bench.answer(run, "gate", "approve");
  run = await bench.load(run.id);
  await bench.answer(run, "escalation", "cancel", "not worth it");
  expect(await bench.load(run.id)).toMatchObject({
    status: "canceled",
    word: "canceled",
    reason: "not worth it",
    by: "human:tester",
  });
});

test("R-000-22: sending back at the ship gate brings the comment to IN2 and costs no loop", async () => {
  let run = await bench.run("feature", { ...revising(2), "qa#4": [{ via: "json-tail", verdict: "SHIP" }] });
  await bench.answer(run, "gate", "approve");
  run = await bench.load(run.id);
  expect(run.counters["revision"]?.loops).toBe(2);
  await bench.answer(run, "gate", "revise", "the button should be green");
  run = await bench.load(run.id);
  expect(run).toMatchObject({ status: "waiting", word: "review", counters: { revision: { loops: 2 } } });
  expect(run.stages).toMatchObject({ build: { attempts: 4 }, qa: { attempts: 4 } });
  expect(promptOf(run.id, "build", 4)).toContain("the button should be green");
  expect(promptOf(run.id, "build", 4)).not.toContain("revision loop");
  expect(promptOf(run.id, "qa", 4)).not.toContain("the button should be green");
});

test("R-000-22: the ship gate can also cancel", async () => {
  let run = await bench.run("feature", happy);
  await bench.answer(run, "gate", "approve");
  run = await bench.load(run.id);
  await bench.answer(run, "gate", "decline", "changed our mind");
  expect(await bench.load(run.id)).toMatchObject({ status: "canceled", word: "canceled" });
});

test("a second answer to a gate is a no-op that says so, with the same id it is a repeat", async () => {
  const run = await bench.run("feature", happy);
  const answer = { type: "item.answered", number: 1, kind: "gate", answer: "approve", text: "" } as const;
  const { engine } = bench.passrail;
  const first = await engine.deliver(run.id, answer, "human:lance", "click-1");
  const repeated = await engine.deliver(run.id, answer, "human:lance", "click-1");
  const second = await engine.deliver(run.id, answer, "human:lance", "click-2");
  expect(first).toMatchObject({ duplicate: false });
  expect(first.ignored).toBeUndefined();
  expect(repeated).toMatchObject({ duplicate: true });
  expect(second).toMatchObject({ duplicate: false, ignored: "item 1 is not open" });
  await engine.idle();
  const events = await bench.events(run.id);
  expect(events.filter(({ type }) => type === "gate.answered")).toHaveLength(1);
  expect((await bench.load(run.id)).stages["spec"]).toMatchObject({ attempts: 1 });
});

test("an answer that the gate does not know, or to an item that is not there, changes nothing", async () => {
  const run = await bench.run("feature", happy);
  const say = (number: number, answer: string) =>
    bench.passrail.engine.deliver(
      run.id,
      { type: "item.answered", number, kind: "gate", answer, text: "" },
      "human:lance",
    );
  expect(await say(1, "perhaps")).toMatchObject({
    ignored: 'gate start does not know "perhaps"; answers: approve, decline',
  });
  expect(await say(1, "constructor")).toMatchObject({ ignored: expect.stringContaining("does not know") });
  expect(await say(9, "approve")).toMatchObject({ ignored: "item 9 is not open" });
  expect(await bench.load(run.id)).toMatchObject({ status: "waiting", word: "pending" });
  const nobody = bench.passrail.engine.deliver("r0000000000", { type: "pause.requested", reason: "" }, "human:lance");
  await expect(nobody).rejects.toThrow("there is no run r0000000000");
});

test("R-X-03: no agent and no engine can answer a gate", async () => {
  const run = await bench.run("feature", happy);
  for (const actor of ["agent:IN1", "engine", "system"] as const) {
    const answer = { type: "item.answered", number: 1, kind: "gate", answer: "approve", text: "" } as const;
    expect(await bench.passrail.engine.deliver(run.id, answer, actor)).toMatchObject({
      ignored: "only a person can do this",
    });
  }
  expect(await bench.load(run.id)).toMatchObject({ status: "waiting", word: "pending" });
});

test("R-000-43: a feature goes from approved to review without a routing decision of a person, also over a restart during the build", async () => {
  const hold = join(bench.dir, "go");
  let run = await bench.run("feature", { ...revising(1), "build#1": [{ ...BUILD[0], hold }] });
  const { engine } = bench.passrail;
  await engine.deliver(
    run.id,
    { type: "item.answered", number: 1, kind: "gate", answer: "approve", text: "" },
    "human:lance",
  );
  await until("build runs", async () => ((await bench.load(run.id)).word === "building" ? true : undefined));
  await bench.restart();
  await bench.passrail.engine.idle();
  run = await bench.load(run.id);
  expect(run).toMatchObject({ status: "waiting", word: "review", counters: { revision: { loops: 1 } } });
  const events = await bench.events(run.id);
  expect(events.filter(({ actor }) => actor.startsWith("human:")).map(({ type }) => type)).toEqual([
    "run.created",
    "gate.answered",
  ]);
});
