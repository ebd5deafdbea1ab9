import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCodexRunner } from "../../src/runner/codex/runner.ts";
import { type Bench, openBench, VERDICT_SCHEMA } from "./bench.ts";
import { describeContract, told } from "./contract.testsuite.ts";
import { codex } from "./vendors.ts";

describeContract({
  vendor: codex,
  create: createCodexRunner,
  usage: told,
  failures: { outage: "server_error", limit: "rate_limit", resetsAt: false },
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
