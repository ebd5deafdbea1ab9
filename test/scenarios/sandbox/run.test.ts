// Whole runs with scripted agents in bubblewrap workspaces: the engine, the store, git and the sandbox are real.

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { gateLines } from "../../../src/cli/gate-lines.ts";
import { waitingLines } from "../../../src/cli/terminal/progress.ts";
import { openItems } from "../../../src/core/run/run.ts";
import { projectOf } from "../../../src/core/run/run-settings.ts";
import { storeMark } from "../../../src/attempt/attempt-files.ts";
import { findMarked } from "../../../src/runner/process/process-table.ts";
import { userGit } from "../../../src/workspace/workspace.testsuite.ts";
import { attemptRow } from "../../../src/core/view/attempt-row.ts";
import { until } from "../../harness/until.ts";
import { openWorkbench, verdictsOf, type Workbench } from "../../harness/workbench.ts";
import { bubblewrapTests, whyLeftOut } from "./can-confine.ts";

const CONFINED = { config: { workspace: "bubblewrap" } };

describe.skipIf(bubblewrapTests === "left out")(`runs in bubblewrap${whyLeftOut}`, { timeout: 120_000 }, () => {
  let bench: Workbench;
  beforeEach(async () => {
    bench = await openWorkbench();
  });
  afterEach(() => bench.close());

  test("R-004-65, R-004-67: the stages of a ticket work in sandboxes, and what they made is on its branch", async () => {
    const run = await bench.run(
      "ticket",
      {
        "*": [{ via: "text", text: "done" }],
        implement: [{ via: "text", text: "built", write: { "made.txt": "by an agent" }, commit: true }],
      },
      { subject: "AGI-7", facts: { ...CONFINED, ticket: { status: "Needs Plan", repo: "org/app" } } },
    );
    const concluded = verdictsOf(await bench.events(run.id));
    expect(concluded.slice(0, 3)).toEqual(["plan:0", "implement:0", "validate:0"]);
    expect(bench.errors).toEqual([]);
    expect(userGit(bench.project, "show", "feat/AGI-7:made.txt")).toContain("by an agent");
    expect(existsSync(join(bench.project, "made.txt"))).toBe(false);
  });

  test("R-004-49: a stage fails when its agent looks for what is not there, and the daemon's files are what is not there", async () => {
    writeFileSync(join(bench.home, "canary"), "secret");
    const program = join(bench.dir, "spy.sh");
    const line = `#!/bin/sh\ncat ${bench.home}/canary ${bench.home}/passrail.db ${bench.project}/README.md && exit 0\nexit 9\n`;
    writeFileSync(program, line, { mode: 0o755 });
    const run = await bench.run(
      "ticket",
      {},
      {
        subject: "AGI-8",
        facts: { ...CONFINED, ticket: { status: "Needs Validate", repo: "org/app" }, runners: { "*": [program] } },
      },
    );
    expect(run).toMatchObject({ status: "stopped", word: "Blocked", reason: expect.stringContaining("9") });
    const [attempt] = await bench.passrail.store.attempts(run.id);
    expect(readFileSync(attempt?.facts["output"] as string, "utf8")).not.toContain("secret");
  });

  test("R11: a run that is canceled leaves no process and no sandbox", async () => {
    const ready = "ready.txt";
    const run = await bench.run(
      "ticket",
      { "*": [{ via: "text", text: "done", write: { [ready]: "now" }, child: "child.pid", sleepMs: 600_000 }] },
      { subject: "AGI-9", wait: false, facts: { ...CONFINED, ticket: { status: "Needs Validate", repo: "org/app" } } },
    );
    const clones = join(bench.home, "clones");
    const isThere = (): true | undefined =>
      (existsSync(clones) && readdirSync(clones).some((name) => existsSync(join(clones, name, ready)))) || undefined;
    await until("the agent works", isThere);
    expect(findMarked(`${storeMark(bench.home)}/`).length).toBeGreaterThan(0);
    // Known as soon as the program runs, also if it is cut off.
    const [working] = await bench.passrail.store.attempts(run.id);
    expect(working && attemptRow(working, 0).containment).toMatchObject({ label: "sandbox: bubblewrap" });
    await bench.passrail.engine.deliver(run.id, { type: "cancel.requested", reason: "enough" }, "human:tester");
    await bench.passrail.engine.idle();
    expect(await bench.load(run.id)).toMatchObject({ status: "canceled" });
    expect(findMarked(`${storeMark(bench.home)}/`)).toEqual([]);
    await until("every workspace is closed", () => leftOf(bench).length === 0 || undefined);
  });

  test("R-004-67: a flow with gates runs to its end in a sandbox as it runs without one, and no sandbox is left", async () => {
    const says = (verdict: string, more = {}) => [{ via: "json-tail", verdict, ...more }];
    const script = {
      spec: says("APPROVED"),
      design: says("APPROVED"),
      build: says("COMPLETE", { write: { "made.txt": "by an agent" }, commit: true }),
      qa: says("SHIP"),
    };
    let run = await bench.run("feature", script, { facts: CONFINED });
    // Whoever decides at a gate is told what holds the agents.
    const [gate] = openItems(run);
    if (gate === undefined) throw new Error("no gate is open");
    expect(waitingLines(gate, 1, run).join("\n")).toContain("agents run in a sandbox (bubblewrap)");
    await bench.answer(run, "gate", "approve");
    run = await bench.load(run.id);
    expect(await gateLines({ home: bench.home, environment: {}, cwd: projectOf(run) }, run)).toContain(
      "  · sandbox: bubblewrap (spec, design, build, qa)",
    );
    await bench.answer(run, "gate", "approve");
    run = await bench.load(run.id);
    expect(run).toMatchObject({ status: "completed", word: "shipped" });
    const [attempt] = await bench.passrail.store.attempts(run.id);
    expect(userGit(bench.project, "show", `${attempt?.facts["branch"] as string}:made.txt`)).toBe("by an agent");
    expect(bench.errors).toEqual([]);
    await until("every workspace is closed", () => leftOf(bench).length === 0 || undefined);
  });
});

/** What is left of clones and of the folders beside them. */
function leftOf(bench: Workbench): readonly string[] {
  return ["clones", "confined"].flatMap((name) => {
    const folder = join(bench.home, name);
    return existsSync(folder) ? readdirSync(folder) : [];
  });
}
