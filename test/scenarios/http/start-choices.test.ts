// What a person chooses at the start: a model per stage, a budget, and a look at what would run. The run that starts really has it.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ROUTES } from "../../../src/http/contract/routes.ts";
import { approveFiles } from "../../harness/approve-files.ts";
import { until } from "../../harness/until.ts";
import { type Served, serve } from "./served.ts";

const AGENT = join(import.meta.dirname, "../../fixtures/agents/coding-agent.mjs");

let served: Served;
let script: string;
beforeEach(async () => {
  served = await serve();
  const { bench } = served;
  script = join(bench.dir, "talking.json");
  writeFileSync(script, JSON.stringify({ "*": [[{ submit: { verdict: "APPROVED", summary: "Fine." } }]] }));
  const settings = { agents: { "*": { runner: "claude", command: [process.execPath, AGENT, script] } } };
  writeFileSync(join(bench.project, "passrail.yaml"), JSON.stringify(settings));
  approveFiles(bench.home, bench.project);
});
afterEach(() => served.close());

const preview = (more: object) => served.call("POST", "/api/runs/preview", { body: { flow: "feature", ...more } });
const start = (more: object) =>
  served.call("POST", "/api/runs", { body: { flow: "feature", title: "Do it", ...more } });

test("models and a budget are shown before the start, belong to the run, and reach the agent of that stage alone", async () => {
  const chosen = { models: { spec: "opus", IN2: "haiku" }, budget: { usd: 40, tokens: 90_000_000 } };
  const shown = ROUTES.previewRun.answer.schema.parse((await preview(chosen)).body);
  const played = shown.plan.stages.map(({ stage, runner, model }) => [stage, runner, model]);
  expect(played).toEqual(
    expect.arrayContaining([
      ["start", null, null],
      ["spec", "claude", "opus"],
      ["build", "claude", "haiku"],
    ]),
  );
  expect([shown.limit, shown.workspace, shown.plan.usd]).toEqual([{ usd: 40, tokens: 90_000_000 }, "worktree", null]);
  expect((await served.call("GET", "/api/runs")).body).toMatchObject({ runs: [] });

  const { run } = ROUTES.startRun.answer.schema.parse((await start(chosen)).body);
  const budget = async () => (await served.call("GET", `/api/runs/${run.id}`)).body["limit"];
  expect(await budget()).toEqual({ usd: 40, tokens: 90_000_000 });
  // A later change counts from the budget of the start.
  await served.call("POST", `/api/runs/${run.id}/budget`, { body: { usd: 50 } });
  expect(await budget()).toEqual({ usd: 50, tokens: 90_000_000 });
  const item = { body: { answer: "approve" }, headers: { "if-match": "*" } };
  expect(await served.call("POST", `/api/inbox/${run.id}.1/answer`, item)).toMatchObject({ status: 200 });
  const told = await until("spec and design have worked", async () => {
    const lines = toldTo(script);
    return lines.length >= 2 ? lines : undefined;
  });
  const modelOf = (stage: string) =>
    told.find((each) => each.stage === stage)?.args.find((arg) => arg.startsWith("--model"));
  expect(modelOf("spec")).toBe("--model=opus");
  expect(modelOf("design")).not.toBe("--model=opus");
  await served.call("POST", `/api/runs/${run.id}/cancel`, { body: {} });
});

test("what is refused names its field", async () => {
  for (const [more, pointer] of [
    [{ models: { spek: "opus" } }, "/models/spek"],
    [{ agents: { spec: "codex" }, models: { IN1: "claude-sonnet-4-5" } }, "/models/IN1"],
    [{ agents: { spec: "no-such-program" } }, "/agents/spec"],
    [{ agents: { spek: "codex" } }, "/agents/spek"],
    [{ budget: { usd: 0 } }, "/budget/usd"],
    [{ budget: { tokens: -1 } }, "/budget/tokens"],
    [{ budget: { usd: 3, euro: 1 } }, "/budget/euro"],
    [
      { flow: "build-plan", input: { "plan.spec": "none.md", "plan.plan": "none.md", "plan.task": "none.md" } },
      "/input/plan.spec",
    ],
    [{ flow: "build-plan", input: {} }, "/input/plan.spec"],
    [{ workspace: "moon" }, "/workspace"],
  ] as const)
    expect([more, (await preview(more)).body["pointer"]]).toEqual([more, pointer]);
  // Nobody gets a budget or a model past these checks as a fact.
  const facts = await start({ input: { "config.budget": { usd: 1e9 } } });
  expect(facts.body["detail"]).toContain("config.budget is set by Passrail itself");
  expect((await served.call("GET", "/api/runs")).body).toMatchObject({ runs: [] });
});

type Told = { readonly stage: string; readonly args: readonly string[] };

function toldTo(file: string): readonly Told[] {
  try {
    const lines = readFileSync(`${file}.log`, "utf8").split("\n");
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Told);
  } catch {
    return [];
  }
}
