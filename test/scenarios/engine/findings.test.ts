// Findings with ids, end to end: real agents' processes, real handoff files and JSON blocks, the real store.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { openItems, type Run } from "../../../src/core/run/run.ts";
import { itemFindings } from "../../../src/core/view/findings.ts";
import { APPROVED, each, handoffText, hands } from "../../harness/handoff-text.ts";
import { openWorkbench, type Script, type Workbench } from "../../harness/workbench.ts";

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

const DEV = hands({ gates: ["Lint: 0 errors"] });
const CHANGES = (findings: readonly string[], more: JsonObject = {}) =>
  hands({ verdict: "REQUEST_CHANGES", findings }, more);
const BLOCKED = (...gaps: string[]) => hands({ verdict: "BLOCKED", gaps });
const happy: Script = { dev: [DEV], dod: [APPROVED], review: [APPROVED], test: [APPROVED], "update-specs": [hands()] };

async function build(script: Script, facts: JsonObject = {}): Promise<Run> {
  const run = await bench.run("build-plan-standard", script, { facts });
  await bench.answer(run, "gate", "approve");
  return bench.load(run.id);
}

async function feature(script: Script): Promise<Run> {
  const run = await bench.run("feature", script);
  await bench.answer(run, "gate", "approve");
  return bench.load(run.id);
}

const fileOf = (run: Run, attempt: string, name = "prompt.md") =>
  readFileSync(join(bench.home, "runs", run.id, attempt, name), "utf8");
const lastOutcome = async (run: Run, stage: string) => {
  const ended = (await bench.events(run.id)).findLast(
    (event) => event.type === "stage.finished" && event.stage === stage,
  );
  return ended?.type === "stage.finished" ? ended.outcome : undefined;
};
const states = (run: Run) => (run.findings?.list ?? []).map(({ id, stage, state }) => `${id} ${stage} ${state}`);

test("build-plan: the developer and the next review are told the open findings by id, and a withdrawn one is closed", async () => {
  const run = await build({
    ...happy,
    "dev#2": [hands({ gates: ["Lint: 0 errors"], findings: ["F1: src/a.ts:3 now checks the length"] })],
    ...each(
      "review",
      CHANGES(["src/a.ts:3 does not check the length", "the name is bad"]),
      hands(
        { verdict: "APPROVED" },
        {
          findings: [
            { id: "F1", state: "fixed", reason: "seen" },
            { id: "F2", state: "withdrawn", reason: "taste" },
          ],
        },
      ),
    ),
  });
  expect(run.word).toBe("merge question");
  expect(states(run)).toEqual(["F1 review fixed", "F2 review withdrawn"]);
  expect(fileOf(run, "dev-2")).toMatch(
    /Open findings, by id:\n\n```text\nF1 review#1, src\/a\.ts:3: src\/a\.ts:3 does not check/u,
  );
  expect(fileOf(run, "review-1")).not.toContain("## Open findings");
  const second = fileOf(run, "review-2");
  expect(second).toMatch(/## Open findings of your earlier reviews\n\n```text\nF1 review#1/u);
  expect(second).toContain("  dev#2 said: src/a.ts:3 now checks the length");
  expect(second).toContain("`- F1: fixed — how you know`");
});

test("build-plan: a review that leaves an open finding out gets the one repair, then has failed", async () => {
  const run = await build({
    ...happy,
    ...each("review", CHANGES(["one"]), hands({ verdict: "APPROVED" }, { findings: null })),
  });
  expect(fileOf(run, "review-2", "repair-prompt.md")).toMatch(/says nothing about F1\..*\n/u);
  expect(await lastOutcome(run, "review")).toMatchObject({ health: "failed", cause: "findings_left_out" });
  expect(run).toMatchObject({ status: "stopped", reason: expect.stringContaining("says nothing about F1") });
  expect(states(run)).toEqual(["F1 review open"]);
});

test("build-plan: an approval with a finding that is not fixed may be repaired, and counts then", async () => {
  const contradicting = hands(
    { verdict: "APPROVED", findings: ["F1: not fixed — still there"] },
    {
      findings: [],
      repair: {
        via: "handoff-file",
        text: handoffText({ verdict: "APPROVED", findings: ["F1: fixed — looked again"] }),
      },
    },
  );
  const run = await build({ ...happy, ...each("review", CHANGES(["one"]), contradicting) });
  expect(run.word).toBe("merge question");
  expect(states(run)).toEqual(["F1 review fixed"]);
  const warnings = (await lastOutcome(run, "review"))?.warnings.join("\n");
  expect(warnings).toMatch(/verdict_repaired: .*F1 is not fixed/u);
});

test("build-plan: reworded gaps of one DoD row are one finding, recognised by the task's own list", async () => {
  mkdirSync(join(bench.project, "docs"), { recursive: true });
  writeFileSync(
    join(bench.project, "docs/task.md"),
    "# Task\n\n## Definition of Done\n\n- [ ] DoD-1 The route exists\n- [ ] DoD-2 It is logged\n",
  );
  const run = await build(
    {
      ...happy,
      ...each(
        "dod",
        BLOCKED("DoD-1 The route exists — no file"),
        BLOCKED("`DoD-1`: nothing serves it"),
        BLOCKED("DoD-1 the route exists, it says, but does not"),
      ),
    },
    { plan: { task: "docs/task.md" } },
  );
  expect(run).toMatchObject({ word: "ESCALATED", stages: { dod: { attempts: 3 } } });
  expect(states(run)).toEqual(["F1 dod open"]);
  expect(run.tracks["main"]).toMatchObject({ item: { reason: "F1 was not fixed 2 times" } });
});

test("build-plan: gaps that are other rows every time end at the ceiling of the DoD loop", async () => {
  const run = await build({ ...happy, ...each("dod", ...[1, 2, 3, 4, 5, 6].map((n) => BLOCKED(`row ${n}`))) });
  expect(run).toMatchObject({ word: "ESCALATED", stages: { dod: { attempts: 6 } }, counters: { dod: { loops: 5 } } });
  expect(run.tracks["main"]).toMatchObject({
    item: { kind: "escalation", reason: "the limit of 5 dod loops is reached" },
  });
});

const QA = (verdict: string, more: JsonObject = {}) => ({ via: "json-tail", verdict, ...more });
const built = { via: "json-tail", verdict: "COMPLETE", write: { "work.txt": "line" }, commit: true };
const shipping: Script = {
  spec: [QA("APPROVED")],
  design: [QA("APPROVED")],
  build: [built],
  qa: [QA("SHIP")],
};

test("feature: a finding that comes back is escalated with what QA and the builder said, in every iteration", async () => {
  const run = await feature({
    ...shipping,
    "build#2": [{ ...built, findings: [{ id: "F1", note: "guarded the empty name" }] }],
    "build#3": [{ ...built, findings: [{ id: "F2", note: "renamed it" }] }],
    ...each(
      "qa",
      QA("REVISE", { issues: [{ severity: "major", description: "empty names crash", file: "src/name.ts", line: 7 }] }),
      QA("REVISE", { issues: ["the log is noisy"], findings: [{ id: "F1", state: "fixed", reason: "no crash" }] }),
      QA("REVISE", {
        issues: [],
        findings: [
          { id: "F1", state: "not_fixed", reason: "it crashes again with a space" },
          { id: "F2", state: "fixed", reason: "quiet" },
        ],
      }),
    ),
  });
  expect(run).toMatchObject({ status: "waiting", word: "escalated" });
  const [item] = openItems(run);
  if (item === undefined) throw new Error("nothing waits");
  const [row, ...others] = itemFindings(run, item);
  expect(others).toEqual([]);
  expect(row).toMatchObject({
    id: "F1",
    severity: "major",
    where: "src/name.ts:7",
    text: "empty names crash",
    state: "open",
  });
  expect(row?.history.map(({ by, iteration, said, text }) => `${by}#${iteration} ${said}: ${text}`)).toEqual([
    "build#2 note: guarded the empty name",
    "qa#2 fixed: no crash",
    "qa#3 not fixed: it crashes again with a space",
  ]);
});

test("feature: accepted by the person the finding stays open, and the run says so", async () => {
  const run = await feature({
    ...shipping,
    ...each("qa", ...Array.from({ length: 3 }, (_, at) => QA("REVISE", { issues: [`issue ${at}`] }))),
  });
  expect(run.word).toBe("escalated");
  await bench.answer(run, "escalation", "accept");
  const after = await bench.load(run.id);
  expect(after.findings?.list.at(-1)).toMatchObject({
    id: "F3",
    state: "open",
    acceptedBy: expect.stringMatching(/^human:/u),
  });
});
