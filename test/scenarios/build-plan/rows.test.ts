// The rows of the task's Definition of Done on their way through a build plan: the developer's coverage is compared with them, Passrail looks
// at what it cites, and the checker gets that and accounts for every row.

import { afterAll, beforeAll, expect, test } from "vitest";
import { evidenceTable } from "../../../src/core/view/evidence-table.ts";
import { APPROVED, hands } from "../../harness/handoff-text.ts";
import { HAPPY, openPlanBench, type PlanBench } from "./plan-bench.ts";
import { openItems, type Run } from "../../../src/core/run/run.ts";

let bench: PlanBench;
beforeAll(async () => {
  bench = await openPlanBench("standard", { settings: () => ({ test_files: ["checks/**"] }) });
});
afterAll(() => bench.close());

const attempts = (run: Run, stage: string) =>
  bench.passrail.store.attempts(run.id).then((all) => all.filter((each) => each.stage === stage));
const covers = (...dod: readonly string[]) => hands({ dod, gates: ["Tests: 1 passed"] }, { rows: false });
const ROUTE = "✓ the route exists — work-dev.txt:1";
const TEST = "⚠️ Tester scope a test proves it (tester)";

test("R-002-15: a row of the task that the coverage leaves out counts as ✗; the developer does not pass, and the counts say so", async () => {
  const run = await bench.signedOff({ ...HAPPY, dev: [covers(ROUTE, "✓ some other row — README.md:1")] });
  const [dev] = await attempts(run, "dev");
  expect(dev?.outcome).toMatchObject({
    health: "failed",
    cause: "verdict_contradicted",
    payload: { dod_counts: { met: 2, missing: 1, tester: 0, other: 0 } },
  });
  expect(dev?.outcome?.["reason"]).toContain(
    "leaves out a row of the task, which counts as ✗ (a test proves it (tester))",
  );
  expect(dev?.facts).toMatchObject({ repaired: true });
  expect(await attempts(run, "dod")).toEqual([]);
  const table = evidenceTable(await bench.passrail.store.attempts(run.id));
  expect(table.find(({ what }) => what === "DoD coverage")).toMatchObject({
    stage: "dev",
    isGood: false,
    evidence: "2 ✓, 1 ✗, 0 ⚠️ Tester scope, 0 ⚠️",
  });
});

test("R-002-11, R-002-15, R-002-16: the checker gets Passrail's look at the cited places, and accounts for every ✓ row", async () => {
  const lazy = hands({ verdict: "APPROVED", dod: [] }, { rows: false });
  const run = await bench.signedOff({
    ...HAPPY,
    dev: [covers(ROUTE, TEST)],
    dod: [lazy],
    // Where this project has its tests, its tester may write; the usual places are production code here.
    test: [hands({ verdict: "APPROVED", gates: ["Tests: 1 passed"] }, { write: { "checks/route.js": "test" } })],
  });
  const told = bench.prompt(run, "dod-1");
  expect(told).toContain("the rows of dev, iteration 1, cite (1 met, 0 of them without evidence that holds)");
  expect(told).toContain("- found: the route exists — what it cites is in the commit");
  const [refused] = await attempts(run, "dod");
  expect(refused?.outcome).toMatchObject({ health: "failed", cause: "section_missing" });
  expect(refused?.outcome?.["reason"]).toContain(
    'does not account for a row that is marked as met: "the route exists"',
  );
});

test("R-002-57: a project says which files its testers may change", async () => {
  const script = (path: string) => ({
    ...HAPPY,
    dev: [covers(ROUTE, TEST)],
    dod: [APPROVED],
    test: [hands({ verdict: "APPROVED", gates: ["Tests: 1 passed"] }, { write: { [path]: "test" } })],
  });
  const warnings = async (path: string): Promise<string> => {
    const run = await bench.signedOff(script(path));
    expect(openItems(run)).toMatchObject([{ kind: "gate", stage: "merge" }]);
    const [tester] = await attempts(run, "test");
    return JSON.stringify(tester?.outcome?.["warnings"] ?? []);
  };
  expect(await warnings("checks/route.js")).not.toContain("changed_outside_scope");
  // The usual name counts no longer.
  expect(await warnings("src/route.test.js")).toContain("changed_outside_scope: test changed src/route.test.js");
});
