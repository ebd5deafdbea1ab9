import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCodexRunner } from "../../src/runner/codex/runner.ts";
import { type Bench, openBench, VERDICT_SCHEMA } from "./bench.ts";
import { describeContract, told } from "./contract.testsuite.ts";
import { codex } from "./vendors.ts";

/** One red dot. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

describeContract({
  vendor: codex,
  create: createCodexRunner,
  usage: told,
  failures: {
    outage: "server_error",
    limits: [
      { seconds: 60, kind: "rate_limit", ends: true },
      { seconds: 10_800, kind: "quota", ends: true },
    ],
  },
  echoes: false,
  readsElsewhere: true,
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

  test("images of a ticket are in its first request", async () => {
    bench.play({ images: [{ text: "A red dot." }] });
    const paths = ["1.png", "2.png"].map((name) => join(bench.folder, name));
    for (const path of paths) writeFileSync(path, Buffer.from(PNG, "base64"));
    const end = await bench.run({ prompt: "[images]", agent: { images: paths } });
    expect(end.conversation).toMatchObject({ failure: null });
    const asked = JSON.stringify(bench.asked("images")[0]?.body);
    expect(asked.split("data:image/png;base64,").length - 1).toBe(2);
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
