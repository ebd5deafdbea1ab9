// A real agent CLI asks a person in the middle of its work and waits. The answer reaches it as the result of its call: the scripted models
// see it in the very next request of the same conversation.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openItems } from "../../src/core/run/run.ts";
import { openForReading } from "../harness/open-for-reading.ts";
import { until } from "../harness/until.ts";
import { contractTests } from "./installed.ts";
import { claude, codex, gemini, opencode } from "./vendors.ts";
import { openWorld, output, stopped, type World } from "./world.ts";

const ANSWER = "Postgres, said the person";

let world: World;
beforeEach(async () => {
  world = await openWorld("question");
});
afterEach(() => world.close());

async function openQuestion() {
  const store = openForReading(world.home);
  const [run] = (await store?.listRuns({ limit: 1 })) ?? [];
  const stored = run === undefined ? undefined : await store?.loadRun(run.id);
  store?.close();
  return stored === undefined ? undefined : openItems(stored.run)[0];
}

describe.skipIf(contractTests() === "left out")("a question of a real agent at work", () => {
  test.each([claude, codex, gemini, opencode])(
    "$cli gets the answer in place, over kill -9 of the daemon, and nothing is started again",
    { timeout: 240_000 },
    async (vendor) => {
      const { models, passrail } = world;
      const call = (tool: string, args: object) => ({ do: [{ mcp: { server: "passrail", tool, args } }] });
      models.play({
        rules: [
          {
            id: "builder",
            match: { prompt: "# Builder" },
            turns: [
              call("ask_human", { question: "Which database?" }),
              { do: [{ bash: "echo built > built.txt" }] },
              call("submit_verdict", { verdict: "APPROVE", summary: "Done." }),
              { text: "Done." },
            ],
          },
        ],
      });
      world.playedBy(vendor, { limits: { "*": { question: "3m" } } });
      const first = await world.up();
      expect(
        await output(passrail("run", "routed", "Build it", "--input", "input.agent=builder", "--detach")),
      ).toBeDefined();
      const item = await until("a person is asked", openQuestion, 120_000);
      expect(item).toMatchObject({ number: 1, kind: "question", questions: ["Which database?"] });
      first.kill("SIGKILL");
      const daemon = await world.up();
      const said = await output(passrail("ask", "answer", "1.1", ANSWER, "--json"));
      const all = await world.finished();
      await stopped(daemon);
      expect(said).toContain("it reached the agent while it worked");
      expect(all.find((event) => event.type === "question.answered")).toMatchObject({ inPlace: true, answer: ANSWER });
      expect(all.find((event) => event.type === "stage.finished")).toMatchObject({
        attempt: 1,
        outcome: { verdict: "pass", summary: "Done." },
      });
      expect(all.filter(({ type }) => type === "stage.started" || type === "stage.interrupted")).toHaveLength(1);
      // The very next request has it, and the turn before was not asked for again.
      const turns = models.requests.filter(({ rule }) => rule === "builder");
      expect(turns.slice(0, 2).map(({ turn }) => turn)).toEqual([0, 1]);
      expect(JSON.stringify(turns[1]?.body)).toContain(ANSWER);
    },
  );
});
