// The end of a build plan in the documents: as-built notes in the spec, which Passrail reads in the commit, and the plan and the task, which
// leave the branch with them or move to its archive.

import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { openItems, type Run } from "../../../src/core/run/run.ts";
import { hands } from "../../harness/handoff-text.ts";
import { HAPPY, openPlanBench, type PlanBench, planSaying } from "./plan-bench.ts";

let bench: PlanBench;
afterEach(() => bench.close());

const onBranch = (run: Run): readonly string[] =>
  bench.git("ls-tree", "-r", "--name-only", `passrail/${run.id}`, "docs").trim().split("\n");
const onBranchText = (run: Run, path: string): string => bench.git("show", `passrail/${run.id}:${path}`);
const outcomeOf = async (run: Run) =>
  (await bench.passrail.store.attempts(run.id)).findLast(({ stage }) => stage === "update-specs")?.outcome;
const PARTS = ["Complexity", "Scope boundaries", "Deviations", "Tests added", "Open follow-ups"];

describe("R-002-22: as-built notes", () => {
  test.each<[string, readonly string[]]>([
    ["simple", ["docs/spec.md"]],
    ["standard", ["docs/spec.md"]],
    ["complex", ["docs/archive/plan.md", "docs/archive/task.md", "docs/spec.md"]],
  ])("of a %s plan are in the spec on the branch, and plan and task leave it", async (complexity, files) => {
    bench = await openPlanBench(complexity);
    const run = await bench.signedOff();
    expect(openItems(run)).toMatchObject([{ kind: "gate", stage: "merge" }]);
    expect(onBranch(run)).toEqual(files);
    for (const part of PARTS) expect(onBranchText(run, "docs/spec.md")).toContain(`### ${part}\n`);
    // One commit has all of it, and the user's own folder is as it was.
    expect(bench.git("log", "-1", "--format=%s", `passrail/${run.id}`)).toContain("update-specs");
    expect(bench.git("status", "--porcelain")).toBe("");
    const told = bench.prompt(run, "update-specs-1");
    expect(told).toContain('docs/spec.md must have exactly one section "## As-built notes", with "### Complexity"');
    expect(told).toContain("docs/plan.md and docs/task.md");
    await bench.answer(run, "gate", "approve");
    expect(await bench.load(run.id)).toMatchObject({ status: "completed", word: "done" });
    expect(bench.git("ls-tree", "-r", "--name-only", "main", "docs").trim().split("\n")).toEqual(files);
  });

  test("that are missing are asked for once; then the attempt fails, and nothing is removed", async () => {
    bench = await openPlanBench("simple");
    const lazy = hands({}, { notes: false });
    const run = await bench.signedOff({ ...HAPPY, "update-specs": [lazy] });
    expect(run).toMatchObject({ status: "stopped", stages: { "update-specs": { attempts: 1 } } });
    expect(await outcomeOf(run)).toMatchObject({ health: "failed", cause: "section_missing" });
    const attempt = (await bench.passrail.store.attempts(run.id)).find(({ stage }) => stage === "update-specs");
    expect(attempt).toMatchObject({ facts: { repaired: true } });
    expect(attempt?.outcome?.["reason"]).toContain('docs/spec.md has no section "## As-built notes"');
    expect(onBranch(run)).toEqual(["docs/plan.md", "docs/spec.md", "docs/task.md"]);
  });

  test("that are there after the repair count", async () => {
    bench = await openPlanBench("simple");
    const whole = `## As-built notes\\n\\n${PARTS.map((part) => `### ${part}\\n\\nNone`).join("\\n\\n")}\\n`;
    const player = join(bench.dir, "late.mjs");
    // Writes the notes only when it is asked again.
    writeFileSync(
      player,
      `if (process.env.PASSRAIL_REPAIR === "1" && process.env.PASSRAIL_STAGE === "update-specs")
  (await import("node:fs")).appendFileSync("docs/spec.md", "\\n${whole}");
process.argv[1] = ${JSON.stringify(join(import.meta.dirname, "../../fixtures/player/play.mjs"))};
await import(process.argv[1]);\n`,
    );
    const script = join(bench.dir, "late.json");
    writeFileSync(script, JSON.stringify({ ...HAPPY, "update-specs": [hands({}, { notes: false })] }));
    const run = await bench.signedOff(HAPPY, { runners: [`*=${process.execPath} ${player} ${script}`] });
    expect(openItems(run)).toMatchObject([{ kind: "gate", stage: "merge" }]);
    expect(onBranch(run)).toEqual(["docs/spec.md"]);
  });

  test("in a file that no commit holds are none: the attempt fails", async () => {
    bench = await openPlanBench("simple");
    bench.write(".gitignore", "docs/private.md\n");
    bench.commit();
    bench.write("docs/private.md", "# Private spec\n");
    const input = Object.entries({
      "plan.spec": "docs/private.md",
      "plan.plan": "docs/plan.md",
      "plan.task": "docs/task.md",
    });
    const run = await bench.signedOff(HAPPY, { input });
    expect(await outcomeOf(run)).toMatchObject({ health: "failed", cause: "notes_missing" });
  });

  test("of an earlier run are not those of this one", async () => {
    bench = await openPlanBench("simple");
    appendFileSync(
      join(bench.project, "docs/spec.md"),
      `\n## As-built notes\n\n${PARTS.map((part) => `### ${part}\n\nOld.`).join("\n\n")}\n`,
    );
    bench.commit();
    const run = await bench.signedOff();
    expect(await outcomeOf(run)).toMatchObject({ health: "failed", cause: "section_missing" });
    expect(JSON.stringify(await outcomeOf(run))).toContain("before this run");
  });

  test("wait for a person where spec and code differ: a question first, and the files stay until it is answered", async () => {
    bench = await openPlanBench("standard");
    const differs = "The spec says 404, the code answers 410. Which one is right?";
    const run = await bench.signedOff({
      ...HAPPY,
      "update-specs#1": [
        hands({ status: "blocked", reason: "a contract changed", questions: [differs] }, { notes: false }),
      ],
      "update-specs#2": [hands()],
    });
    expect(openItems(run)).toMatchObject([{ kind: "question", stage: "update-specs", questions: [differs] }]);
    expect(onBranch(run)).toEqual(["docs/plan.md", "docs/spec.md", "docs/task.md"]);
    await bench.answer(run, "question", "", "The code is right: 410.");
    const after = await bench.load(run.id);
    expect(openItems(after)).toMatchObject([{ kind: "gate", stage: "merge" }]);
    expect(bench.prompt(after, "update-specs-2")).toContain("The code is right: 410.");
    expect(onBranch(after)).toEqual(["docs/spec.md"]);
  });

  test("do not count as complete beside an open question: nobody blesses a difference alone", async () => {
    bench = await openPlanBench("simple");
    const run = await bench.signedOff({ ...HAPPY, "update-specs": [hands({ questions: ["Is 410 right?"] })] });
    expect(await outcomeOf(run)).toMatchObject({ health: "failed", cause: "verdict_contradicted" });
    expect(onBranch(run)).toEqual(["docs/plan.md", "docs/spec.md", "docs/task.md"]);
  });

  test("stay where one file is spec and plan at once, and an archive never overwrites", async () => {
    bench = await openPlanBench("complex");
    bench.write("docs/spec.md", planSaying("Complexity: complex"));
    bench.git("mv", "docs/plan.md", "docs/archive-plan.md");
    bench.write("docs/task.md", "# Task\n\n## Definition of Done\n\n- [ ] the route exists\n");
    bench.git("rm", "-q", "--cached", "docs/task.md");
    bench.commit();
    const input = Object.entries({
      "plan.spec": "docs/spec.md",
      "plan.plan": "docs/spec.md",
      "plan.task": "docs/task.md",
    });
    const first = await bench.signedOff(HAPPY, { input });
    await bench.answer(first, "gate", "approve");
    bench.git("reset", "-q", "--hard", "main");
    bench.write("docs/task.md", "# Second task\n\n## Definition of Done\n\n- [ ] the route exists\n");
    bench.write("docs/spec.md", planSaying("Complexity: complex", "Second"));
    bench.commit();
    const second = await bench.signedOff(HAPPY, { input });
    expect(onBranch(second)).toEqual([
      "docs/archive-plan.md",
      "docs/archive/task-2.md",
      "docs/archive/task.md",
      "docs/spec.md",
    ]);
  });
});
