import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCodexRunner } from "../../src/runner/codex/runner.ts";
import { type Bench, openBench, VERDICT_SCHEMA } from "./bench.ts";
import { describeContract, told } from "./contract.testsuite.ts";
import { codex } from "./vendors.ts";

/** The limit of a ChatGPT plan. */
function planLimit(seconds: number) {
  const resets_at = Math.floor(Date.now() / 1000) + seconds;
  const error = {
    type: "usage_limit_reached",
    message: "The usage limit has been reached",
    plan_type: "plus",
    resets_at,
  };
  return { status: 429, body: { error } };
}

describeContract({
  vendor: codex,
  create: createCodexRunner,
  usage: told,
  failures: {
    outage: "server_error",
    limits: [
      { seconds: 2, kind: null, ends: false },
      { seconds: 60, kind: "rate_limit", ends: true },
      { seconds: 10_800, kind: "quota", ends: true },
      { seconds: 10_800, kind: "quota", ends: true, fail: planLimit },
    ],
  },
  repository: "kept off",
  canary: "codex-mcp",
  resumesAfterCancel: true,
});

describe("what only Codex has", { timeout: 60_000 }, () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench(codex, createCodexRunner);
  });
  afterAll(() => bench.close());

  test("structured output is handed on, unchecked", async () => {
    const verdict = { verdict: "REVISE", summary: "no tests" };
    bench.play({ structured: [{ do: [{ output: verdict }] }] });
    const end = await bench.run({ prompt: "[structured]", agent: { schema: VERDICT_SCHEMA } });
    expect(end.conversation).toMatchObject({ failure: null, structured: verdict });
    expect(bench.asked("structured")[0]?.conversation.schema).toMatchObject({ type: "json_schema" });
  });

  test("models whose only tool is code work, too", async () => {
    bench.play({
      code: [{ do: [{ bash: "echo by code > code.txt && cat code.txt" }] }, { text: "{{lastToolResult}}" }],
    });
    const end = await bench.run({ prompt: "[code]", options: { model: "gpt-6.1-sol" } });
    expect(end.conversation).toMatchObject({ failure: null });
    expect(end.stdoutTail).toContain("by code");
  });
});
