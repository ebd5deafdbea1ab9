// Liars in a build plan, each caught by Passrail: green claims on a red tree, cited files that do not exist, ✓ without evidence, another
// iteration's number.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { attemptFacts } from "../../../src/core/attempt-facts.ts";
import { openItems, type Run } from "../../../src/core/run/run.ts";
import { evidenceTable } from "../../../src/core/view/evidence-table.ts";
import { APPROVED, each, handoffText, hands } from "../../harness/handoff-text.ts";
import { openWorkbench, type Script, type Workbench } from "../../harness/workbench.ts";
import { check, checksOf } from "./checks.ts";

const CLEAN = ["Tests: 42 passed, 0 failed", "Types: 0 errors"];

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

async function build(dev: Script, checks: JsonObject = {}): Promise<Run> {
  const script: Script = { dod: [APPROVED], review: [APPROVED], test: [APPROVED], "*": [hands()], ...dev };
  const run = await bench.run("build-plan-standard", script, { facts: { config: { checks } } });
  await bench.answer(run, "gate", "approve");
  return bench.load(run.id);
}

const started = async (run: Run): Promise<readonly string[]> =>
  (await bench.events(run.id)).flatMap((event) =>
    event.type === "stage.started" ? [`${event.stage}#${event.attempt}`] : [],
  );
const prompt = (run: Run, attempt: string): string =>
  readFileSync(join(bench.home, "runs", run.id, attempt, "prompt.md"), "utf8");
const dodRow = (row: string): JsonObject =>
  hands(
    { gates: CLEAN },
    { text: handoffText({ gates: CLEAN }).replace("- ✓ the thing exists — README.md:1", `- ${row}`) },
  );

describe("liars do not advance", () => {
  test("R-002-53: green claims on a red tree go back to the developer with the log, and escalate; nobody judges the work", async () => {
    const red = { test: check(bench.dir, "(console.log('1 failed: adds'), false)") };
    const run = await build({ dev: [hands({ gates: CLEAN })] }, red);
    expect(await started(run)).toEqual(["bundles#1", "dev#1", "dev#2", "dev#3", "dev#4"]);
    expect(prompt(run, "dev-2")).toContain("1 failed: adds");
    expect(openItems(run).map(({ kind, stage }) => [kind, stage])).toEqual([["escalation", "dev"]]);
  });

  test.each([
    ["a cited file that does not exist", "✓ it works — src/invented.ts:3", "src/invented.ts is not in the commit"],
    ["a line that the file does not have", "✓ it works — README.md:999", "README.md has 1 lines, not 999"],
    ["✓ without evidence", "✓ it works", "no evidence"],
    ["words instead of evidence", "✓ it works — I checked it carefully", "it cites no file and no command"],
    ["a check that ended otherwise", "✓ it works — `probe` exit 1", "Passrail ran probe itself, and it ended with 0"],
  ])("R-002-15: %s", async (_what, row, why) => {
    const probe = { probe: check(bench.dir, "true") };
    const run = await build({ ...each("dev", dodRow(row), hands({ gates: CLEAN, iteration: 2 })) }, probe);
    expect((await started(run)).slice(0, 4)).toEqual(["bundles#1", "dev#1", "dev#2", "dod#1"]);
    expect(prompt(run, "dev-2")).toContain(why);
  });

  test("R-002-53: another iteration's number is not trusted, and the tester is told", async () => {
    const run = await build({ dev: [hands({ gates: CLEAN, iteration: 7 })] });
    expect(prompt(run, "test-1")).toContain(
      "it names iteration 7, and it is iteration 1. Run every quality gate from scratch.",
    );
  });
});

describe("what the tester is told", () => {
  test("R-002-53, R-002-55: Passrail's own green checks of exactly these files are the reason for trust", async () => {
    const run = await build({ dev: [hands({ gates: CLEAN })] }, { unit: check(bench.dir, "true") });
    expect(checksOf(await bench.events(run.id))).toEqual(["dev#1 unit:passed"]);
    expect(prompt(run, "test-1")).toContain("iteration 1: trusted.");
    expect(prompt(run, "test-1")).toContain("Basis: Passrail ran unit on exactly these files.");
  });

  test("R-002-53, R-002-56: a report that disagrees with Passrail's results is not trusted, and that is stored", async () => {
    const run = await build({ dev: [hands({ gates: ["Tests: 3 failed"] })] }, { unit: check(bench.dir, "true") });
    const text = "its report of Tests is not clean, although Passrail ran unit on exactly these files, and it passed";
    expect(prompt(run, "test-1")).toContain(`not trusted, because ${text}`);
    const tester = (await bench.passrail.store.attempts(run.id)).find(({ stage }) => stage === "test");
    expect(tester === undefined ? null : attemptFacts(tester).trust).toMatchObject([
      { stage: "dev", trusted: false, reasons: [text] },
    ]);
  });
});

test("R-002-15: the table of evidence says for each row who knows it", async () => {
  const rows =
    "✓ the tests pass — `unit` exit 0\n- ✓ the readme is there — README.md:1\n- ⚠️ Tester scope: the browser works";
  const run = await build({ dev: [dodRow(rows)] }, { unit: check(bench.dir, "true") });
  const table = evidenceTable(await bench.passrail.store.attempts(run.id)).filter(({ stage }) => stage === "dev");
  expect(table.map(({ what, state, isGood }) => [what, state, isGood])).toEqual([
    ["unit", "run", true],
    ["DoD coverage", "reported", true],
    ["the tests pass", "run", true],
    ["the readme is there", "reported", true],
    ["the browser works", "reported", null],
    ["Tests", "reported", true],
    ["Types", "reported", true],
  ]);
  const without = await build({ dev: [hands({ gates: CLEAN })] });
  const first = evidenceTable(await bench.passrail.store.attempts(without.id)).find(({ stage }) => stage === "dev");
  expect(first).toMatchObject({ what: "checks", state: "missing", evidence: "not run: no check is defined" });
});
