// Checks at the command line: what is refused before anything is stored, and what people see afterwards.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Bench, openBench } from "../cli/bench.ts";
import { timesRun } from "./checks.ts";

const FLOW = `
flow: checked
version: 1
title: Checked
subject: ticket
allow_ungated: true
stages:
  - { id: build, agent: builder, writes: [git-commit], checks: [unit] }
`;

let bench: Bench;
beforeEach(() => {
  bench = openBench();
  mkdirSync(join(bench.project, ".passrail", "flows"), { recursive: true });
  writeFileSync(join(bench.project, ".passrail", "flows", "checked.yaml"), FLOW);
});
afterEach(() => bench.remove());

function settings(name: string): void {
  const log = JSON.stringify(join(bench.dir, "ran.log"));
  const code = `require("fs").appendFileSync(${log}, "x\\n"); console.log("all 3 fine")`;
  writeFileSync(
    join(bench.project, "passrail.yaml"),
    JSON.stringify({ checks: { [name]: [process.execPath, "-e", code] } }),
  );
}

test("a check that nobody defines is an error of flow check and of the start, which names the fix", async () => {
  settings("units");
  const checked = await bench.passrail(["flow", "check", "checked"]);
  expect(checked.code).toBe(1);
  expect(checked.out).toContain('unknown_check: there is no check "unit"');
  const started = await bench.passrail([
    "run",
    "checked",
    "Do it",
    "--agent",
    `*=${bench.player({ build: [{ write: { a: "1" } }] })}`,
  ]);
  expect(started.code).not.toBe(0);
  expect(started.err).toContain('runs the check "unit", which is not defined');
  expect((await bench.passrail(["runs", "list"])).out).not.toContain("checked");
});

test("the result, its log and the evidence are there to read; --no-check-cache runs it again", async () => {
  settings("unit");
  expect((await bench.passrail(["flow", "check", "checked"])).code).toBe(0);
  const run = (...more: string[]) =>
    bench.passrail([
      "run",
      "checked",
      "Do it",
      "--agent",
      `*=${bench.player({ build: [{ write: { a: "1" } }] })}`,
      ...more,
    ]);
  expect((await run()).code).toBe(0);
  expect((await run()).code).toBe(0);
  expect(timesRun(bench.dir)).toBe(1);
  const shown = await bench.passrail(["runs", "show", "2", "--json"]);
  const { evidence } = JSON.parse(shown.out) as { evidence: readonly object[] };
  expect(evidence).toEqual([expect.objectContaining({ stage: "build", what: "unit", state: "run", isGood: true })]);
  expect((await bench.passrail(["runs", "show", "1"])).out).toContain("run by Passrail");
  expect((await bench.passrail(["runs", "logs", "1", "--stage", "build", "--check", "unit"])).out).toContain(
    "all 3 fine",
  );
  expect((await run("--no-check-cache")).code).toBe(0);
  expect(timesRun(bench.dir)).toBe(2);
});
