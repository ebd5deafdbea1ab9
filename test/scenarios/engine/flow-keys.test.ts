// Keys of flow files that change what a run does, each shown through the real engine with real processes.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { openItems } from "../../../src/core/run/run.ts";
import { customFlow, onlyStages } from "../../harness/custom-flow.ts";
import { handoffText } from "../../harness/handoff-text.ts";
import { openWorkbench, verdictsOf, type Workbench } from "../../harness/workbench.ts";

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

describe("result.echo", () => {
  const spec = (echo: readonly string[]) =>
    customFlow("feature", (file) => ({
      ...file,
      defaults: { ...file.defaults, result: { from: "json-tail", nonce: "optional", require: ["verdict"], echo } },
      stages: file.stages.filter(({ id }) => id === "spec"),
    }));
  const claims = (more: JsonObject) => ({ spec: [{ via: "json-tail", verdict: "APPROVED", ...more }] });

  test("a key that names other work makes the verdict someone else's", async () => {
    const run = await bench.run(spec(["feature_id", "job"]), claims({ job: "F-2" }));
    expect(verdictsOf(await bench.events(run.id))).toEqual(["spec:failed"]);
    expect(run.word).toBe("escalated");
  });

  test("the key of this work, or a key that the flow does not name, is no obstacle", async () => {
    const own = await bench.run(spec(["feature_id", "job"]), claims({ job: "F-1" }));
    expect(own.status).toBe("completed");
    const unnamed = await bench.run(spec(["feature_id"]), claims({ job: "F-2" }));
    expect(unnamed.status).toBe("completed");
  });
});

describe("headings of a handoff file", () => {
  const german = customFlow("build-plan-standard", (file) => ({
    ...file,
    defaults: {
      ...file.defaults,
      result: { from: "handoff-file", health: "## Stand", reason: "## Grund", questions: "## Fragen" },
    },
    stages: file.stages.filter(({ id }) => id === "dev"),
  }));

  test("the flow names those that decide; the usual ones count no more", async () => {
    const text =
      "## Stand\n\nblocked\n\n## Grund\n\nunclear\n\n## Fragen\n\n- Which database?\n\n## Status\n\ncomplete\n";
    const run = await bench.run(german, { dev: [{ via: "handoff-file", text }] });
    expect(openItems(run)).toMatchObject([{ kind: "question", questions: ["Which database?"] }]);
    const usual = await bench.run(german, { dev: [{ via: "handoff-file", text: handoffText() }] });
    expect(usual).toMatchObject({ status: "stopped" });
  });
});

test.each([
  ["open-questions", ["Which database?"]],
  ["status-reason", ["the schema is unclear"]],
])("show: %s decides what the person reads", async (show, questions) => {
  const flow = customFlow("build-plan-standard", (file) => ({
    ...file,
    defaults: { ...file.defaults, route: { blocked: { ask: "human", show } } },
    stages: file.stages.filter(({ id }) => id === "dev"),
  }));
  const text = handoffText({ status: "blocked", reason: "the schema is unclear", questions: ["Which database?"] });
  const run = await bench.run(flow, { dev: [{ via: "handoff-file", text }] });
  expect(openItems(run)).toMatchObject([{ kind: "question", questions }]);
});

test.each([
  ["developer-latest-clean", "iteration 1: trusted. Run your own new tests"],
  ["never", "iteration 1: not trusted, because this flow never relies on the gates of others. Run every quality gate"],
] as const)("gates.trust: %s is what the tester is told", async (trust, told) => {
  const flow = customFlow("build-plan-standard", (file) => ({
    ...file,
    stages: file.stages.flatMap((stage) => {
      if (stage.id === "test") return [{ ...stage, route: { pass: "next" }, gates: { ...stage.gates, trust } }];
      return stage.id === "dev" ? [stage] : [];
    }),
  }));
  const dev = { via: "handoff-file", text: handoffText({ gates: ["Tests: 12 passed, 0 failed", "Lint: 0 errors"] }) };
  const tester = { via: "handoff-file", text: handoffText({ verdict: "APPROVED" }) };
  const run = await bench.run(flow, { dev: [dev], test: [tester] });
  expect(run.status).toBe("completed");
  expect(readFileSync(join(bench.home, "runs", run.id, "test-1", "prompt.md"), "utf8")).toContain(told);
});

describe("workspace.delete: when-merged", () => {
  const ticket = (per: "run" | "stage") =>
    customFlow("ticket", (file) => ({
      ...file,
      workspace: { ...file.workspace, per, delete: "when-merged" },
      enter: { "Needs Implement": "implement" },
      stages: file.stages.filter(({ id }) => ["implement", "land", "merge"].includes(id)),
    }));
  const work = { "*": [{ via: "text", text: "done", write: { "made.txt": "made" }, commit: true }] };
  const facts = (mode: string) => ({
    ticket: { repo: "org/app", status: "Needs Implement", terminal: false },
    config: { merge_mode: mode },
  });
  const folders = () => {
    const folder = join(bench.home, "worktrees");
    return existsSync(folder) ? readdirSync(folder) : [];
  };

  test.each(["run", "stage"] as const)("per %s: it goes with the end of a run whose work was merged", async (per) => {
    const run = await bench.run(ticket(per), work, { subject: "AGI-7", facts: facts("merge") });
    expect(run).toMatchObject({ status: "completed", word: "Done" });
    expect(folders()).toEqual([]);
    expect(bench.errors).toEqual([]);
  });

  test.each(["run", "stage"] as const)("per %s: it stays where the work was not merged", async (per) => {
    const run = await bench.run(ticket(per), work, { subject: "AGI-7", facts: facts("auto") });
    expect(run).toMatchObject({ status: "completed" });
    expect(folders()).not.toEqual([]);
    const made = folders().some((name) => existsSync(join(bench.home, "worktrees", name, "made.txt")));
    expect(made).toBe(true);
    expect(bench.errors).toEqual([]);
  });
});

test("a flow that version 0.1 stored keeps the keys that files cannot have any more, and its run still works", async () => {
  const { flow, ...resolved } = onlyStages("feature", ["start", "spec"]);
  const old = {
    ...flow,
    stages: flow.stages.map((stage) => (stage.kind === "gate" ? { ...stage, trigger: "webhook" } : stage)),
    workspace: { ...flow.workspace, provider: "daytona" },
  };
  const run = await bench.run({ ...resolved, flow: old, hash: "stored-by-0.1" }, { spec: [{ verdict: "APPROVED" }] });
  await bench.restart();
  await bench.answer(run, "gate", "approve");
  expect(await bench.load(run.id)).toMatchObject({ status: "completed" });
});
