// What a decision can rest on: what Passrail ran and measured itself, kept apart from what agents report.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ROUTES } from "../../../src/http/contract/routes.ts";
import { resolveShipped, type Script } from "../../harness/workbench.ts";
import { type Served, serve } from "./served.ts";

const FLOW = `
flow: checked
version: 1
title: Checked
subject: ticket
words: { verdict: { DONE: pass, APPROVED: pass, REVISE: revise }, health: { "0": complete }, unknown_health: failed }
stages:
  - { id: build, agent: builder, payload: [files_changed] }
  - { id: tests, agent: tester, command: [node, -e, "process.exit(0)"], result: { from: exit-code } }
  - { id: ship, kind: gate, who: human, route: { approve: end, revise: { goto: build } } }
`;

let served: Served;
beforeEach(async () => {
  served = await serve();
});
afterEach(() => served.close());

async function evidenceAt(flow: Parameters<Served["bench"]["run"]>[0], script: Script, facts = {}) {
  const run = await served.bench.run(flow, script, { facts });
  const { body } = await served.call("GET", `/api/inbox/${run.id}.${run.items}`);
  return ROUTES.showItem.answer.schema.parse(body).evidence.stages;
}

test("a program that the flow names and that decides by its exit code is a check of Passrail's; an agent's work is measured", async () => {
  const folder = join(served.bench.project, ".passrail", "flows");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "checked.yaml"), FLOW);
  const flow = resolveShipped("checked", served.bench.project);
  const [build, tests] = await evidenceAt(flow, {
    build: [{ verdict: "DONE", write: { "src/a.ts": "1" }, commit: true }],
  });
  expect(build).toMatchObject({ stage: "build", attempt: 1, by: "agent", exitCode: 0, files: ["src/a.ts"] });
  const label = expect.stringMatching(/^no sandbox: worktree, processes held by /u);
  expect(build?.containment).toMatchObject({ mode: "worktree", isConfined: false, label });
  expect(build?.commits?.from).not.toBe(build?.commits?.to);
  expect(build?.warnings).toEqual(["payload_key_missing: the payload has no files_changed"]);
  expect(tests).toMatchObject({
    stage: "tests",
    by: "check",
    command: "node -e process.exit(0)",
    replaced: null,
    exitCode: 0,
    commits: null,
    reported: [],
    warnings: [],
  });
});

test("what an agent says about its own checks is reported as its word, with the tool's line and whether it was trusted", async () => {
  const handoff = (gate: string) =>
    `# Handoff\n\n## Status\ncomplete\n\n## DoD coverage\n- ✓ all — a.ts:1\n\n## Quality-Gate Results\n- lint: 0 errors\n- ${gate}\n\n## Open Questions\nnone\n`;
  const run = await served.bench.run("build-plan-simple", {
    "dev-test": [{ via: "handoff-file", text: handoff("tests: 3 failed, 38 passed"), write: { "a.ts": "1" } }],
    "*": [{ via: "handoff-file", text: handoff("tests: 41 passed, 0 failed") }],
  });
  await served.bench.answer(run, "gate", "approve");
  const after = await served.bench.load(run.id);
  const { body } = await served.call("GET", `/api/inbox/${run.id}.${after.items}`);
  const { stages } = ROUTES.showItem.answer.schema.parse(body).evidence;
  const built = stages.find(({ stage }) => stage === "dev-test");
  expect(built?.reported.map(({ name, isClean }) => [name, isClean])).toEqual([
    ["lint", true],
    ["tests", false],
  ]);
  expect(stages.find(({ stage }) => stage === "bundles")).toMatchObject({ by: "passrail", containment: null });
  expect(stages.some(({ by }) => by === "check")).toBe(false);
});

test("before anybody has worked there is no evidence", async () => {
  const stages = await evidenceAt("feature", {});
  expect(stages).toEqual([]);
});
