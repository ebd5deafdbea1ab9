// A stage that is played outside, in a flow with checks: Passrail runs them on the commit that the report names, if its branch has it; otherwise
// the evidence says that they are missing.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { attemptFacts } from "../../../src/core/attempt-facts.ts";
import type { Run } from "../../../src/core/run/run.ts";
import { evidenceTable } from "../../../src/core/view/evidence-table.ts";
import { openWorkbench, type Workbench } from "../../harness/workbench.ts";
import { check } from "./checks.ts";

let bench: Workbench;
beforeAll(async () => {
  bench = await openWorkbench();
});
afterAll(() => bench.close());

let stories = 0;
/** The analyst is a program, so the run has its worktree; the implementer is somebody else. */
async function toImplementer(checks: JsonObject): Promise<{ readonly run: Run; readonly dir: string }> {
  const run = await bench.run(
    "story",
    { analyst: [{ verdict: "approved", payload: { plan: ["one"] } }] },
    {
      subject: `v0.1:9.${++stories}`,
      facts: { config: { checks }, runners: { implementer: { runner: "outside" }, reviewer: { runner: "outside" } } },
    },
  );
  const [analyst] = await bench.passrail.store.attempts(run.id);
  return { run, dir: analyst === undefined ? "" : (attemptFacts(analyst).workspace ?? "") };
}

function commitIn(dir: string, text: string): string {
  writeFileSync(join(dir, "work.txt"), text);
  const git = (...args: readonly string[]): string =>
    execFileSync("git", ["-C", dir, "-c", "user.name=o", "-c", "user.email=o@localhost", ...args], {
      encoding: "utf8",
    });
  git("add", "-A");
  git("commit", "-q", "-m", "work from outside");
  return git("rev-parse", "HEAD").trim();
}

async function report(run: Run, payload: JsonObject): Promise<Run> {
  const given = { structured: true, verdict: "approved", payload: { ...payload, build_passes: true } };
  const finished = {
    type: "attempt.finished",
    stage: "implementer",
    attempt: 1,
    report: given,
    outside: true,
  } as const;
  await bench.passrail.engine.deliver(run.id, finished, "agent:implementer");
  await bench.passrail.engine.idle();
  return bench.load(run.id);
}

const evidence = async (run: Run) =>
  evidenceTable(await bench.passrail.store.attempts(run.id))
    .filter(({ stage }) => stage === "implementer")
    .map(({ what, state, isGood, evidence: why }) => ({ what, state, isGood, why }));

test("a green check of the named commit is evidence; a red one sends the work back with its output", async () => {
  const checks = { unit: check(bench.dir, "!require('fs').readFileSync('work.txt', 'utf8').includes('broken')") };
  const green = await toImplementer(checks);
  const passed = await report(green.run, { commit: commitIn(green.dir, "fine\n") });
  expect(passed.tracks["main"]).toMatchObject({ stage: "reviewer" });
  expect(await evidence(passed)).toMatchObject([{ what: "unit", state: "run", isGood: true }]);

  const red = await toImplementer(checks);
  const back = await report(red.run, { commit: commitIn(red.dir, "broken\n") });
  expect(back.tracks["main"]).toMatchObject({ stage: "implementer", attempt: 2 });
  expect(await evidence(back)).toMatchObject([{ what: "unit", state: "run", isGood: false }]);
});

test("without a commit that Passrail has, the work goes on and the evidence says what is missing", async () => {
  const checks = { unit: check(bench.dir, "true") };
  const silent = await toImplementer(checks);
  const after = await report(silent.run, {});
  expect(after.tracks["main"]).toMatchObject({ stage: "reviewer" });
  expect(await evidence(after)).toEqual([
    { what: "checks", state: "missing", isGood: null, why: expect.stringContaining("the report names no commit of") },
  ]);

  const elsewhere = await toImplementer(checks);
  const other = await report(elsewhere.run, { commit: "0123456789abcdef" });
  expect(await evidence(other)).toMatchObject([
    { what: "checks", state: "missing", why: expect.stringContaining("and the report is about 0123456789ab") },
  ]);
});
