// The whole program and the process of an attempt are killed while a real agent CLI is in the middle of a tool. The next attempt goes on in
// the vendor's session: it is told of the interruption and of what is in the work tree, and no request is paid twice.

import { realpathSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { storeMark } from "../../src/attempt/attempt-files.ts";
import { attemptFacts } from "../../src/core/attempt-facts.ts";
import { findMarked } from "../../src/runner/process/process-table.ts";
import type { ModelRequest } from "../fixtures/models/server.ts";
import { contractTests } from "./installed.ts";
import { claude, codex, gemini, opencode } from "./vendors.ts";
import { ended, openWorld, type World } from "./world.ts";

/** Of every answer of the model. */
const TURN = { input: 1000, output: 10, cached: 0 };

let world: World;
beforeEach(async () => {
  world = await openWorld("interrupted");
  const args = { verdict: "APPROVE", summary: "Built." };
  const tools = join(world.dir, "tools");
  world.models.play({
    rules: [
      {
        id: "resumed",
        match: { prompt: "You were interrupted" },
        turns: [
          { do: [{ mcp: { server: "passrail", tool: "submit_verdict", args } }], tokens: TURN },
          { text: "Done.", tokens: TURN },
        ],
      },
      {
        id: "builder",
        match: { prompt: "# Builder" },
        turns: [
          {
            do: [
              {
                bash: "echo one > one.txt && git add one.txt && git -c user.name=a -c user.email=a@b commit -qm 'SAID-BY-THE-AGENT'",
              },
            ],
            tokens: TURN,
          },
          {
            do: [{ bash: `echo two > two.txt; echo started >> ${tools}; until false; do sleep 0.2; done` }],
            tokens: TURN,
          },
          { text: "Done.", tokens: TURN },
        ],
      },
    ],
  });
});
afterEach(() => world.close());

describe.skipIf(contractTests() === "left out")("an attempt whose process is killed", () => {
  test.each([claude, codex, gemini, opencode])(
    "R-X-05, R11: $cli goes on in its session after a kill of everything: it is told, and nothing is asked twice",
    { timeout: 240_000 },
    async (vendor) => {
      const { home, models, attempts, passrail } = world;
      world.playedBy(vendor);
      const run = world.build("--workspace", "worktree");
      await world.there("tools");
      const { carrier } = attemptFacts((await attempts())[0] ?? { facts: {} });
      run.kill("SIGKILL");
      process.kill(carrier?.pid ?? 0, "SIGKILL");
      await ended(run);
      await ended(passrail("runs", "watch", "1"));

      const [first, second] = await attempts();
      expect(first).toMatchObject({ stage: "builder", attempt: 1, status: "interrupted" });
      expect(second).toMatchObject({ stage: "builder", attempt: 2, status: "done", outcome: { verdict: "pass" } });
      const session = attemptFacts(first ?? { facts: {} }).session?.id;
      expect(session).toBeDefined();
      expect(attemptFacts(second ?? { facts: {} }).session?.id).toBe(session);
      expect(attemptFacts(second ?? { facts: {} }).files).toContain("two.txt");
      // What the interrupted part used is booked on it, from the vendor's own file, and not once more on the next.
      const booked = await spent();
      expect(booked.map(({ attempt }) => attempt)).toEqual([1, 2]);
      const answered = models.requests.filter(({ rule, aborted }) => rule !== "(side)" && !aborted);
      expect(answered.length).toBeGreaterThanOrEqual(3);
      const [before = 0, after = 0] = booked.map(({ output }) => output ?? 0);
      // opencode writes the tokens of a turn when its tools have returned.
      expect(before).toBeGreaterThanOrEqual(vendor.cli === "opencode" ? TURN.output : 2 * TURN.output);
      expect(after).toBeGreaterThanOrEqual(TURN.output);
      expect(before + after).toBeLessThanOrEqual(answered.length * TURN.output);
      expect(findMarked(`${storeMark(realpathSync(home))}/`)).toEqual([]);

      // Each turn of the first attempt was asked for once, and the second goes on after them.
      expect(asked("builder").map(({ turn }) => turn)).toEqual([0, 1]);
      const [resumed] = asked("resumed");
      const told = JSON.stringify(resumed?.conversation);
      expect(told).toContain("# Builder");
      expect(told).toContain("1 commit");
      expect(told).toContain("one.txt | +1 -0");
      expect(told).toContain("two.txt | +1 -0");
      // In what it is told now; its own earlier call is in the conversation.
      expect(lastSaid(resumed)).not.toContain("SAID-BY-THE-AGENT");
    },
  );
});

const asked = (rule: string): readonly ModelRequest[] =>
  world.models.requests.filter((request) => request.rule === rule);

function lastSaid(request: ModelRequest | undefined): string {
  const said = request?.conversation.entries.findLast(({ role }) => role === "user");
  return said?.role === "user" ? said.text : "";
}

async function spent() {
  return (await world.events()).flatMap((event) =>
    event.type === "usage.recorded" && event.stage === "builder"
      ? [{ attempt: event.attempt, output: event.usage.outputTokens }]
      : [],
  );
}
