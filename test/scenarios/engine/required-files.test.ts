// A stage that passes must have written what its flow says; one that asks or sends back need not.

import { afterEach, beforeEach, expect, test } from "vitest";
import type { ResolvedFlow } from "../../../src/core/flow/agent.ts";
import { resolveFlow } from "../../../src/core/flow/flow.ts";
import { flowFileSchema } from "../../../src/core/flow/flow-file.ts";
import { openWorkbench, type Workbench } from "../../harness/workbench.ts";

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

const file = {
  flow: "writing",
  version: 1,
  subject: "thing",
  allow_ungated: true,
  defaults: { route: { blocked: { ask: "owner" }, failed: "stop" } },
  stages: [{ id: "plan", agent: "architect", writes: ["PLAN.md"] }],
};
const resolved: ResolvedFlow = {
  flow: resolveFlow(flowFileSchema.parse(file)),
  agents: {},
  prompts: {},
  hash: "writing",
};

test("R-001-27: a stage that passes without writing its file fails, and the file is named", async () => {
  const run = await bench.run(resolved, { plan: [{ verdict: "pass" }] });
  expect(run).toMatchObject({ status: "stopped", reason: expect.stringContaining("did not write PLAN.md") });
});

test("R-002-40: a stage that asks before it has written anything is asked for its answer, not failed", async () => {
  const run = await bench.run(resolved, { plan: [{ health: "blocked", questions: ["which way?"] }] });
  expect(run).toMatchObject({
    status: "waiting",
    tracks: { main: { item: { kind: "question", questions: ["which way?"] } } },
  });
});
