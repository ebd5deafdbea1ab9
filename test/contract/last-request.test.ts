// After an accepted verdict a program asks its model once more, with the whole conversation. Codex and Gemini CLI are ended before that,
// and everything that they had used is booked; a stage whose session goes on keeps that request.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { attemptFacts } from "../../src/core/attempt-facts.ts";
import type { Turn } from "../fixtures/models/scenario.ts";
import { contractTests } from "./installed.ts";
import { codex, gemini } from "./vendors.ts";
import { ended, openWorld, type World } from "./world.ts";

const TOKENS = { input: 20_000, output: 300, cached: 5_000 };
const TURNS: readonly [Turn, ...Turn[]] = [
  { do: [{ bash: "echo built > built.txt" }], tokens: TOKENS },
  {
    do: [{ mcp: { server: "passrail", tool: "submit_verdict", args: { verdict: "APPROVE", summary: "Built." } } }],
    tokens: TOKENS,
  },
  { text: "Goodbye.", tokens: TOKENS },
];

let world: World;
beforeEach(async () => {
  world = await openWorld("last-request");
});
afterEach(() => world.close());

async function play(vendor: typeof codex, settings: object) {
  world.models.play({ rules: [{ id: "builder", match: { prompt: "# Builder" }, turns: TURNS }] });
  world.playedBy(vendor, settings);
  await ended(world.build());
  const [attempt] = await world.attempts();
  const requests = world.models.requests.filter(({ rule }) => rule === "builder");
  return { requests, outcome: attempt?.outcome, facts: attemptFacts(attempt ?? { facts: {} }) };
}

describe.skipIf(contractTests() === "left out").each([codex, gemini])("the last request of $cli", (vendor) => {
  test("is not made: the program ends at its verdict, and all that it used is booked", {
    timeout: 120_000,
  }, async () => {
    const { requests, outcome, facts } = await play(vendor, {});
    expect(outcome).toMatchObject({ health: "complete", word: "APPROVE", warnings: [] });
    expect(requests).toHaveLength(2);
    expect(facts.usage).toMatchObject({ inputTokens: 2 * TOKENS.input, outputTokens: 2 * TOKENS.output });
    expect(facts.sparedTokens).toBe(TOKENS.input + TOKENS.output);
  });

  test("is made where the next attempt goes on in the session", { timeout: 120_000 }, async () => {
    const { requests, outcome, facts } = await play(vendor, { agents: { "*": { session: "resume" } } });
    expect(outcome).toMatchObject({ health: "complete" });
    expect(requests).toHaveLength(3);
    expect(facts.sparedTokens).toBeNull();
  });
});
