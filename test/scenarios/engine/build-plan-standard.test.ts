// Source 002, standard flow, end to end: agents are real processes that write real handoff files.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Run } from "../../../src/core/run/run.ts";
import { APPROVED, each, hands } from "../../harness/handoff-text.ts";
import { openWorkbench, type Script, verdictsOf, type Workbench, wordsOf } from "../../harness/workbench.ts";

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

const CLEAN = ["Lint: 0 errors", "Tests: OK (42 tests, 87 assertions)"];
const DEV = hands({ gates: CLEAN });
const BLOCKED = (...gaps: string[]) => hands({ verdict: "BLOCKED", gaps });
const CHANGES = (...findings: string[]) => hands({ verdict: "REQUEST_CHANGES", findings });
const happy: Script = { dev: [DEV], dod: [APPROVED], review: [APPROVED], test: [APPROVED], "update-specs": [hands()] };

async function build(script: Script, facts: JsonObject = {}): Promise<Run> {
  const run = await bench.run("build-plan-standard", script, { facts });
  await bench.answer(run, "gate", "approve");
  return bench.load(run.id);
}
const prompt = (run: Run, attempt: string) =>
  readFileSync(join(bench.home, "runs", run.id, attempt, "prompt.md"), "utf8");
const started = async (run: Run) =>
  (await bench.events(run.id)).flatMap((event) => (event.type === "stage.started" ? [event.stage] : []));
const bundle = (run: Run, name: string) => join(bench.home, "runs", run.id, "bundles", `${name}-bundle.md`);

test("R-002-04: no bundle and no agent before the sign-off; both bundles before the first agent", async () => {
  let run = await bench.run("build-plan-standard", happy);
  expect(run).toMatchObject({
    status: "waiting",
    word: "sign-off pending",
    tracks: { main: { item: { kind: "gate", stage: "signoff" } } },
  });
  expect(await started(run)).toEqual([]);
  expect(existsSync(bundle(run, "dev"))).toBe(false);
  await bench.answer(run, "gate", "approve");
  run = await bench.load(run.id);
  expect((await started(run)).slice(0, 2)).toEqual(["bundles", "dev"]);
  expect(existsSync(bundle(run, "dev")) && existsSync(bundle(run, "tester"))).toBe(true);
  expect(prompt(run, "dev-1")).toContain("# Bundle for those who build");
});

test("a plan that is not signed off ends as aborted, and nothing was started", async () => {
  const run = await bench.run("build-plan-standard", happy);
  await bench.answer(run, "gate", "decline");
  expect(await bench.load(run.id)).toMatchObject({ status: "canceled", word: "aborted", stages: {} });
});

test("R-002-09, R-002-20, R-002-39: developer, DoD-checker, reviewer, tester, update-specs, then the merge question", async () => {
  const run = await build(happy);
  expect(verdictsOf(await bench.events(run.id))).toEqual([
    "bundles:pass",
    "dev:n/a",
    "dod:APPROVED",
    "review:APPROVED",
    "test:APPROVED",
    "update-specs:n/a",
  ]);
  expect(run).toMatchObject({
    status: "waiting",
    word: "merge question",
    tracks: { main: { item: { kind: "gate", stage: "merge" } } },
  });
  expect(bench.errors).toEqual([]);
});

test("nothing is merged before a person confirms", async () => {
  const run = await build(happy);
  await bench.answer(run, "gate", "approve");
  expect(await bench.load(run.id)).toMatchObject({ status: "completed", word: "done" });
  expect(wordsOf(await bench.events(run.id))).toEqual(["sign-off pending", "signed off", "merge question", "done"]);
});

test("declined at the merge question, the run is completed and not merged", async () => {
  const run = await build(happy);
  await bench.answer(run, "gate", "decline");
  expect(await bench.load(run.id)).toMatchObject({ status: "completed", word: "not-merged" });
});

test("DevOps runs before the developer if the plan says new infrastructure, and only then", async () => {
  const without = await build(happy, { plan: { new_infra: false } });
  expect(await started(without)).not.toContain("devops");
  const run = await build({ ...happy, devops: [hands()] }, { plan: { new_infra: true } });
  expect((await started(run)).slice(0, 3)).toEqual(["bundles", "devops", "dev"]);
  expect(prompt(run, "devops-1")).toContain("# Bundle for those who build");
});

test("R-002-12: BLOCKED sends the gaps verbatim to the developer, and the reviewer is not started", async () => {
  const gap = "`GET /users` — row 3: no such route (src/routes.ts)";
  const run = await build({ ...happy, ...each("dod", BLOCKED(gap, "row 4"), APPROVED) });
  expect(await started(run)).toEqual(["bundles", "dev", "dod", "dev", "dod", "review", "test", "update-specs"]);
  expect(prompt(run, "dev-1")).not.toContain(gap);
  expect(prompt(run, "dev-2")).toContain(`- ${gap}\n- row 4`);
  expect(run.counters).toMatchObject({ dod: { loops: 1 } });
  expect(run.counters["review"]).toBeUndefined();
});

test("R-002-13: five DoD bounces use nothing of the review budget; three reviews are still possible", async () => {
  const gaps = [1, 2, 3, 4, 5].map((n) => BLOCKED(`gap ${n}`));
  const run = await build({
    ...happy,
    ...each("dod", ...gaps, APPROVED),
    ...each("review", CHANGES("a"), CHANGES("b"), APPROVED),
  });
  expect(run).toMatchObject({ word: "merge question", counters: { dod: { loops: 5 }, review: { loops: 2 } } });
  expect(run.stages).toMatchObject({ dev: { attempts: 8 }, review: { attempts: 3 } });
});

test("R-002-14: the same gaps in three developer iterations in a row are escalated", async () => {
  const run = await build({ ...happy, dod: [BLOCKED("row 1", "row 2")] });
  expect(run).toMatchObject({
    status: "waiting",
    word: "ESCALATED",
    stages: { dev: { attempts: 3 }, dod: { attempts: 3 } },
  });
  expect(run.tracks["main"]).toMatchObject({
    item: { kind: "escalation", reason: "F1 was not fixed 2 times; F2 was not fixed 2 times" },
  });
  expect(run.stages["review"]).toBeUndefined();
});

test("R-002-14: a gap that comes back after it was gone is escalated with both sides' words", async () => {
  const run = await build({
    ...happy,
    ...each("dod", BLOCKED("row 1 — none"), BLOCKED("row 2"), BLOCKED("row 1 — gone")),
  });
  expect(run).toMatchObject({ word: "ESCALATED", stages: { dod: { attempts: 3 } } });
  expect(run.tracks["main"]).toMatchObject({ item: { reason: "F1 came back after it was closed" } });
  const [first] = run.findings?.list ?? [];
  expect(first?.said.map(({ by, attempt, state }) => [by, attempt, state])).toEqual([
    ["dev", 2, undefined],
    ["dod", 2, "fixed"],
    ["dod", 3, "not_fixed"],
  ]);
});

test("R-002-17: two requests for changes go back to the developer and through the DoD-checker; the third is ESCALATED", async () => {
  const run = await build({ ...happy, ...each("review", CHANGES("one"), CHANGES("two"), CHANGES("three")) });
  expect(await started(run)).toEqual(["bundles", ...Array.from({ length: 3 }, () => ["dev", "dod", "review"]).flat()]);
  expect(run).toMatchObject({ status: "waiting", word: "ESCALATED", counters: { review: { loops: 2 } } });
  expect(prompt(run, "dev-2")).toContain("- one");
  expect(prompt(run, "dev-3")).toContain("- two");
  expect(bench.notices.filter(({ event }) => event === "escalation")).toMatchObject([
    { to: "human", text: expect.stringContaining("three") },
  ]);
});

test("R-002-17: a reviewer that says ESCALATED itself needs no further iteration", async () => {
  const run = await build({ ...happy, review: [hands({ verdict: "ESCALATED", findings: ["by design"] })] });
  expect(run).toMatchObject({ status: "waiting", word: "ESCALATED", stages: { review: { attempts: 1 } } });
});

test("R-002-19: an escalation offers three choices; accepting goes on to the tester", async () => {
  const run = await build({ ...happy, review: [CHANGES("known")] });
  const offered = ["accept-with-known-issues", "fixed-by-hand-review-again", "abort"];
  expect(Object.keys((run.tracks["main"] as { item: { choices: object } }).item.choices)).toEqual(offered);
  await bench.answer(run, "escalation", "accept-with-known-issues", "ticket 12 follows");
  const after = await bench.load(run.id);
  expect(after).toMatchObject({ word: "merge question", stages: { review: { attempts: 3 }, test: { attempts: 1 } } });
  const resolved = (await bench.events(run.id)).find(({ type }) => type === "escalation.resolved");
  expect(resolved).toMatchObject({
    choice: "accept-with-known-issues",
    note: "ticket 12 follows",
    actor: "human:tester",
  });
});

test("R-002-19: fixed by hand gives exactly one more review", async () => {
  const run = await build({
    ...happy,
    ...each("review", CHANGES("a"), CHANGES("b"), CHANGES("c"), CHANGES("d"), APPROVED),
  });
  await bench.answer(run, "escalation", "fixed-by-hand-review-again", "I fixed c");
  const again = await bench.load(run.id);
  expect(again).toMatchObject({ word: "ESCALATED", stages: { review: { attempts: 4 }, dev: { attempts: 3 } } });
  expect(prompt(run, "review-4")).toContain("I fixed c");
  await bench.answer(again, "escalation", "fixed-by-hand-review-again", "and d");
  expect(await bench.load(run.id)).toMatchObject({
    word: "merge question",
    stages: { review: { attempts: 5 }, dev: { attempts: 3 } },
  });
});

test("R-002-19: abort ends the run", async () => {
  const run = await build({ ...happy, review: [CHANGES("no")] });
  await bench.answer(run, "escalation", "abort");
  expect(await bench.load(run.id)).toMatchObject({ status: "canceled", word: "aborted" });
});

test("R-002-21: a failed test goes back to the developer with the failures; it starts a new review budget and is escalated the third time", async () => {
  const failure = (n: number) => CHANGES(`test ${n} fails: expected 1, got 2`);
  const run = await build({
    ...happy,
    ...each("review", CHANGES("x"), CHANGES("y"), APPROVED, CHANGES("z"), APPROVED),
    ...each("test", failure(1), failure(2), failure(3)),
  });
  expect(run).toMatchObject({ word: "ESCALATED", stages: { test: { attempts: 3 } }, counters: { test: { loops: 2 } } });
  expect(prompt(run, "dev-4")).toContain("test 1 fails: expected 1, got 2");
  // Two review loops before the first bounce, one after it: together more than one budget.
  expect(run.stages["review"]?.attempts).toBe(6);
});

test("R-002-33: every attempt is a process of its own, with a prompt of its own", async () => {
  const run = await build({ ...happy, ...each("review", CHANGES("a"), APPROVED) });
  const attempts = (await bench.passrail.store.attempts(run.id)).filter(({ stage }) => stage !== "bundles");
  expect(attempts).toHaveLength(8);
  const pids = attempts.map(({ facts }) => (facts["process"] as { pid: number }).pid);
  expect(new Set(pids).size).toBe(8);
  expect(prompt(run, "review-2")).not.toContain(prompt(run, "review-1"));
});

test("R-002-60: the same outcomes lead the same way", async () => {
  const script = {
    ...happy,
    ...each("dod", BLOCKED("g"), APPROVED),
    ...each("review", CHANGES("a"), APPROVED),
    ...each("test", CHANGES("t"), APPROVED),
  };
  const [one, two] = await Promise.all([
    bench.run("build-plan-standard", script, { wait: false }),
    bench.run("build-plan-standard", script, { wait: false, subject: "F-2" }),
  ]);
  await bench.answer(one, "gate", "approve");
  await bench.answer(two, "gate", "approve");
  expect(await started(one)).toEqual(await started(two));
  expect(verdictsOf(await bench.events(one.id))).toEqual(verdictsOf(await bench.events(two.id)));
});
