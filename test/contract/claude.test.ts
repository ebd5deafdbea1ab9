import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClaudeRunner } from "../../src/runner/claude/runner.ts";
import { type Bench, openBench, VERDICT_SCHEMA } from "./bench.ts";
import { describeContract, told } from "./contract.testsuite.ts";
import { claudePlan } from "./refusals.ts";
import { claude } from "./vendors.ts";

describeContract({
  vendor: claude,
  create: createClaudeRunner,
  usage: (tokens) => ({
    ...told(tokens),
    usd: ((tokens.input - tokens.cached) * 3 + tokens.cached * 0.3 + tokens.output * 15) / 1_000_000,
  }),
  failures: {
    outage: "server_error",
    limits: [
      { seconds: 60, kind: "rate_limit", ends: true },
      { seconds: 10_800, kind: "quota", ends: false },
    ],
  },
  echoes: false,
  readsElsewhere: true,
  repository: "kept off",
  canary: "claude-session",
  resumesAfterCancel: true,
});

describe("what only Claude Code has", { timeout: 60_000 }, () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench(claude, createClaudeRunner);
  });
  afterAll(() => bench.close());

  const SWITCH = "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS=1";

  test("with teams its switch is on and teammates are offered; without, neither", async () => {
    bench.play({ team: [{ do: [{ bash: "env -0 > environment.txt" }] }, { text: "Done." }] });
    const offersTeammates = (): boolean => JSON.stringify(bench.asked("team").at(-1)?.body).includes("team_name");
    const alone = await bench.run({ prompt: "[team]" });
    expect(environmentOf(alone.spec.cwd)).not.toContain(SWITCH);
    expect(offersTeammates()).toBe(false);
    const team = await bench.run({ prompt: "[team]", options: { teams: true } });
    expect(environmentOf(team.spec.cwd)).toContain(SWITCH);
    expect(offersTeammates()).toBe(true);
  });

  test("R-001-03: more turns than allowed are a turn_limit, and the model is asked for no more output tokens than the attempt allows", async () => {
    bench.play({ endless: [{ text: "Again.", do: [{ bash: "echo again" }] }] });
    const end = await bench.run({ prompt: "[endless]", options: { maxTurns: 2, maxTokens: 500 } });
    expect(end.conversation).toMatchObject({ failure: { kind: "turn_limit" }, session: { id: expect.any(String) } });
    expect(bench.asked("endless").map(({ body }) => body)).toMatchObject([{ max_tokens: 500 }, { max_tokens: 500 }]);
  });

  test("more dollars than allowed are a budget that is spent", async () => {
    const tokens = { input: 100_000, output: 10_000 };
    bench.play({ dear: [{ text: "Again.", do: [{ bash: "echo again" }], tokens }] });
    const end = await bench.run({ prompt: "[dear]", options: { maxCostUsd: 0.5 } });
    expect(end.conversation).toMatchObject({ failure: { kind: "budget" } });
    // 0.45 dollars for each answer: the second goes beyond.
    expect(bench.asked("dear").length).toBe(2);
  });

  test("the limit of a plan is a quota, with the moment at which it ends", async () => {
    const refusal = claudePlan(3_600);
    bench.play({ plan: [{ fail: refusal }] });
    // Logged in with a plan instead of a key.
    const { ANTHROPIC_API_KEY: _key, ...env } = bench.environment(bench.models.url);
    const end = await bench.run({
      prompt: "[plan]",
      overrides: { env: { ...env, CLAUDE_CODE_OAUTH_TOKEN: "sk-ant-oat01-of-nobody" } },
    });
    const reset = Number(refusal.headers?.["anthropic-ratelimit-unified-reset"]);
    const resetsAt = new Date(reset * 1000).toISOString();
    expect(end.conversation?.failure).toMatchObject({ kind: "quota", resetsAt });
  });

  test("structured output is handed on, unchecked", async () => {
    const verdict = { verdict: "REVISE", summary: "no tests" };
    bench.play({ structured: [{ do: [{ output: verdict }] }, { text: "Done." }] });
    const end = await bench.run({ prompt: "[structured]", agent: { schema: VERDICT_SCHEMA } });
    expect(end.conversation).toMatchObject({ failure: null, structured: verdict });
  });
});

const environmentOf = (cwd: string): string[] => readFileSync(join(cwd, "environment.txt"), "utf8").split("\0");
