// A run keeps the flow it was started with: editing the file, or removing it, changes nothing under way.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openWorkbench, resolveShipped, verdictsOf, type Workbench } from "../../harness/workbench.ts";

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

const flow = (second: string) => `
flow: mine
version: 1
subject: thing
stages:
  - { id: go, kind: gate }
  - { id: build, agent: builder }
  - { id: ${second}, agent: reviewer }
  - { id: ship, kind: gate }
`;

test("R-X-01: a project's own flow runs without code, and editing its file does not change a run under way", async () => {
  const folder = join(bench.project, ".passrail", "flows");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "mine.yaml"), flow("check"));
  const before = resolveShipped("mine", bench.project);
  let run = await bench.run(before, { "*": [{ verdict: "pass" }] });
  writeFileSync(join(folder, "mine.yaml"), flow("other"));
  const after = resolveShipped("mine", bench.project);
  expect(after.hash).not.toBe(before.hash);
  rmSync(folder, { recursive: true });
  await bench.restart();
  await bench.answer(run, "gate", "approve");
  run = await bench.load(run.id);
  expect(verdictsOf(await bench.events(run.id))).toEqual(["build:pass", "check:pass"]);
  expect(run).toMatchObject({ status: "waiting", flowHash: before.hash });
});
