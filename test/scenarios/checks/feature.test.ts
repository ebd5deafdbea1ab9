// Checks that Passrail runs itself, through the shipped flow `feature`: real processes, real git, real store.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openItems } from "../../../src/core/run/run.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { type Script, openWorkbench, verdictsOf, type Workbench } from "../../harness/workbench.ts";
import { check, checksOf, finishedChecks, timesRun } from "./checks.ts";

const SPECCED: Script = {
  spec: [{ verdict: "APPROVED" }],
  design: [{ verdict: "APPROVED" }],
  qa: [{ verdict: "SHIP" }],
};
const built = (files: Record<string, string>): JsonObject => ({ verdict: "COMPLETE", write: files });

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

async function feature(script: Script, checks: JsonObject, config: JsonObject = {}): Promise<string> {
  const run = await bench.run("feature", { ...SPECCED, ...script }, { facts: { config: { checks, ...config } } });
  await bench.answer(run, "gate", "approve");
  return run.id;
}

const git = (...args: string[]): string =>
  execFileSync("git", ["-C", bench.project, ...args], { encoding: "utf8" }).trim();

describe("checks after a builder's pass", () => {
  test("a green check runs once on the committed tree, and its facts are stored", async () => {
    const checks = { test: check(bench.dir, "fs.existsSync('work.txt')") };
    const runId = await feature({ build: [built({ "work.txt": "done" })] }, checks);
    expect((await bench.load(runId)).word).toBe("review");
    const events = await bench.events(runId);
    expect(checksOf(events)).toEqual(["build#1 test:passed"]);
    const [result] = finishedChecks(events)[0]?.checks ?? [];
    const branch = `passrail/${runId}`;
    expect(result).toMatchObject({
      exitCode: 0,
      commit: git("rev-parse", branch),
      tree: git("rev-parse", `${branch}^{tree}`),
      log: "check-test.log",
    });
    expect(result?.command).toContain("-e");
    expect(Date.parse(result?.endedAt ?? "")).toBeGreaterThanOrEqual(Date.parse(result?.startedAt ?? ""));
    expect(existsSync(join(bench.home, "runs", runId, "build-1", "check-test.log"))).toBe(true);
    expect(git("show", `${branch}:work.txt`)).toBe("done");
  });

  test("an agent that says COMPLETE on a red tree is sent back with the end of the log, counted, and never passes", async () => {
    const script = "fs.existsSync('fixed.txt') || (console.error('AssertionError: 41 is not 42'), false)";
    const log = join(bench.dir, "prompts.jsonl");
    const runId = await feature(
      {
        "build#1": [built({ "work.txt": "1" })],
        "build#2": [{ ...built({ "work.txt": "2" }), log }],
        "build#3": [built({ "fixed.txt": "1" })],
      },
      { test: check(bench.dir, script) },
    );
    const events = await bench.events(runId);
    expect(checksOf(events)).toEqual(["build#1 test:failed", "build#2 test:failed", "build#3 test:passed"]);
    expect(verdictsOf(events)).toEqual([
      "spec:APPROVED",
      "design:APPROVED",
      "build:revise",
      "build:revise",
      "build:COMPLETE",
      "qa:SHIP",
    ]);
    const { prompt } = JSON.parse(readFileSync(log, "utf8")) as { prompt: string };
    expect(prompt).toContain("AssertionError: 41 is not 42");
    expect(prompt).toContain('Passrail ran the check "test"');
    const counted = events.flatMap((event) => (event.type === "counter.changed" ? [`${event.key} ${event.to}`] : []));
    expect(counted).toEqual(["checks 1", "checks 2"]);
    // QA gets no issue that is resolved.
    const ready = events.find((event) => event.type === "stage.ready" && event.stage === "qa");
    expect(ready?.type === "stage.ready" ? ready.carry.issues : null).toEqual([]);
  });

  test("red checks without end escalate to a person", async () => {
    const runId = await feature({ build: [{ verdict: "COMPLETE" }] }, { test: check(bench.dir, "false") });
    const run = await bench.load(runId);
    expect(openItems(run).map(({ kind, stage }) => `${kind} ${stage}`)).toEqual(["escalation build"]);
    expect(checksOf(await bench.events(runId))).toHaveLength(4);
    expect(verdictsOf(await bench.events(runId))).not.toContain("qa:SHIP");
  });

  test("a project without checks goes on as before, and nothing counts as checked", async () => {
    const runId = await feature({ build: [built({ "work.txt": "1" })] }, {});
    expect((await bench.load(runId)).word).toBe("review");
    expect(finishedChecks(await bench.events(runId))).toEqual([{ stage: "build", attempt: 1, checks: [] }]);
  });

  test("a summary that counts failures is not a pass, whatever the exit code", async () => {
    const script = "console.log(' Test Files  1 failed (1)\\n      Tests  1 failed | 2 passed (3)'), true";
    const runId = await feature(
      { build: [{ verdict: "COMPLETE" }] },
      { test: check(bench.dir, script, { parse: "vitest" }) },
    );
    const [first] = finishedChecks(await bench.events(runId));
    expect(first?.checks[0]).toMatchObject({ state: "failed", exitCode: 0, counts: { failed: 1, passed: 2 } });
  });

  test("a check that takes too long did not pass, and is not kept", async () => {
    const slow = check(bench.dir, "new Promise((resolve) => setTimeout(resolve, 600_000))", { timeoutMs: 300 });
    const runId = await feature({ build: [{ verdict: "COMPLETE" }] }, { test: slow });
    const found = finishedChecks(await bench.events(runId));
    expect(found.map(({ checks }) => checks[0]?.state)).toEqual(["timed_out", "timed_out", "timed_out", "timed_out"]);
    expect(found.every(({ checks }) => checks[0]?.cached === undefined)).toBe(true);
  });

  test("a program that is not there fails the attempt with its name: the builder cannot fix it", async () => {
    const checks = { test: { run: ["no-such-program-anywhere"], timeoutMs: 1000, env: [] } };
    const runId = await feature({ build: [{ verdict: "COMPLETE" }] }, checks);
    const [item] = openItems(await bench.load(runId));
    expect(item?.kind === "escalation" ? item.reason : "").toContain("no-such-program-anywhere");
    expect(finishedChecks(await bench.events(runId))[0]?.checks[0]?.state).toBe("not_started");
  });

  test("a check that changes tracked files is named, and the files are put back", async () => {
    const script = "fs.writeFileSync('README.md', 'changed by a check'), true";
    const checks = {
      first: check(bench.dir, script),
      second: check(bench.dir, "fs.readFileSync('README.md', 'utf8').startsWith('# project')"),
    };
    const runId = await feature({ build: [built({ "work.txt": "1" })] }, checks);
    const events = await bench.events(runId);
    expect(checksOf(events)).toEqual(["build#1 first:passed", "build#1 second:passed"]);
    expect(finishedChecks(events)[0]?.checks[0]?.changed).toEqual(["README.md"]);
    expect(events.some((event) => event.type === "warning.raised" && event.code === "check_changed_files")).toBe(true);
    expect(git("show", `passrail/${runId}:README.md`)).toBe("# project");
  });
});

describe("the cache of checks", () => {
  test("an unchanged tree is not checked twice, in another run and after a restart, and the result names its origin", async () => {
    const checks = { test: check(bench.dir, "true") };
    const first = await feature({ build: [built({ "work.txt": "same" })] }, checks);
    expect(timesRun(bench.dir)).toBe(1);
    await bench.restart();
    await bench.passrail.perform();
    const second = await feature({ build: [built({ "work.txt": "same" })] }, checks);
    expect(timesRun(bench.dir)).toBe(1);
    const [result] = finishedChecks(await bench.events(second))[0]?.checks ?? [];
    expect(result).toMatchObject({ state: "passed", cached: { runId: first, stage: "build", attempt: 1 } });
    expect((await bench.load(second)).word).toBe("review");
  });

  test("another tree, another program and the wish for a fresh result run it again", async () => {
    const checks = { test: check(bench.dir, "true") };
    await feature({ build: [built({ "work.txt": "same" })] }, checks);
    await feature({ build: [built({ "work.txt": "other" })] }, checks);
    expect(timesRun(bench.dir)).toBe(2);
    await feature({ build: [built({ "work.txt": "same" })] }, { test: check(bench.dir, "1 + 1 === 2") });
    expect(timesRun(bench.dir)).toBe(3);
    await feature({ build: [built({ "work.txt": "same" })] }, checks, { check_cache: false });
    expect(timesRun(bench.dir)).toBe(4);
    // Name, parser and time limit say nothing about the result.
    await feature(
      { build: [built({ "work.txt": "same" })] },
      { types: { ...checks.test, timeoutMs: 5000, parse: "tsc" } },
    );
    expect(timesRun(bench.dir)).toBe(4);
  });

  test("a red result is kept like a green one: the same files cannot pass by trying again", async () => {
    const checks = { test: check(bench.dir, "(console.log('no way'), false)") };
    const first = await feature({ build: [{ verdict: "COMPLETE", write: { "same.txt": "" }, commit: true }] }, checks);
    const ran = timesRun(bench.dir);
    const second = await feature({ build: [{ verdict: "COMPLETE", write: { "same.txt": "" }, commit: true }] }, checks);
    expect(timesRun(bench.dir)).toBe(ran);
    const [result] = finishedChecks(await bench.events(second))[0]?.checks ?? [];
    expect(result).toMatchObject({ state: "failed", exitCode: 1, cached: { runId: first } });
    const carried = (await bench.events(second)).find(
      (event) => event.type === "stage.ready" && event.stage === "build" && event.attempt === 2,
    );
    expect(JSON.stringify(carried)).toContain("no way");
  });
});
