// A real agent CLI asks a person in the middle of its work and waits; later a person speaks to it by themselves. Each time the daemon is killed
// meanwhile and another one takes over. The scripted models see in which request the answer and the message arrived.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openItems } from "../../src/core/run/run.ts";
import type { Scenario } from "../fixtures/models/scenario.ts";
import { openForReading } from "../harness/open-for-reading.ts";
import { until } from "../harness/until.ts";
import { contractTests } from "./installed.ts";
import { claude, codex, gemini, opencode } from "./vendors.ts";
import { ended, openWorld, output, stopped, type World } from "./world.ts";

const ANSWER = "Postgres, said the person";
const WORDS = "Use the new API, said the person";

/** Claude Code adds a message to the result of the tool that runs; for the others it is a turn after the verdict. */
type Way = "now" | "turn";

let world: World;
beforeEach(async () => {
  world = await openWorld("spoken-to");
});
afterEach(() => world.close());

describe.skipIf(contractTests() === "left out")("a real agent at work", () => {
  test.each<{ vendor: typeof claude; way: Way }>([
    { vendor: claude, way: "now" },
    { vendor: codex, way: "turn" },
    { vendor: gemini, way: "turn" },
    { vendor: opencode, way: "turn" },
  ])(
    "$vendor.cli gets the answer to its question in place, and a message once ($way), both over kill -9 of the daemon; nothing is started again, and its verdict of before does not count",
    { timeout: 300_000 },
    async ({ vendor, way }) => {
      const { dir, models, passrail } = world;
      const [go, tools] = [join(dir, "go"), join(dir, "tools")];
      models.play(asksAndWaits(way, go, tools));
      world.playedBy(vendor, { limits: { "*": { question: "3m" } } });
      const first = await world.up();
      await output(world.build("--detach"));
      const item = await until("a person is asked", openQuestion, 120_000);
      expect(item).toMatchObject({ number: 1, kind: "question", questions: ["Which database?"] });
      await killed(first);
      const second = await world.up();
      const said = await output(passrail("ask", "answer", "1.1", ANSWER, "--json"));
      expect(said).toContain("it reached the agent while it worked");

      await world.there("tools");
      await killed(second);
      // Nobody performs now: the message is stored, and the next engine passes it on.
      expect(await ended(passrail("runs", "steer", "1", WORDS))).toBe(0);
      expect((await world.events()).filter(({ type }) => type === "message.delivered")).toEqual([]);
      const third = await world.up();
      writeFileSync(go, "");
      const all = await world.finished();
      await stopped(third);

      expect(all.filter(({ type }) => type === "stage.started" || type === "stage.interrupted")).toHaveLength(1);
      expect(all.find((event) => event.type === "question.answered")).toMatchObject({ inPlace: true, answer: ANSWER });
      // The very next request has it, and the turn before was not asked for again.
      const turns = models.requests.filter(({ rule }) => rule === "builder");
      expect(turns.slice(0, 2).map(({ turn }) => turn)).toEqual([0, 1]);
      expect(JSON.stringify(turns[1]?.body)).toContain(ANSWER);
      expect(all.filter(({ type }) => type.startsWith("message."))).toMatchObject([
        {
          type: "message.sent",
          stage: "builder",
          attempt: 1,
          number: 1,
          text: WORDS,
          actor: expect.stringMatching(/^human:/u),
        },
        { type: "message.delivered", stage: "builder", attempt: 1, number: 1, way },
      ]);
      const heard = models.requests.filter(({ body }) => JSON.stringify(body).includes(WORDS));
      expect(heard[0]).toMatchObject(way === "now" ? { rule: "builder", turn: 2 } : { rule: "told", turn: 0 });
      expect(JSON.stringify(heard.at(-1)?.body).split(WORDS).length - 1).toBe(1);
      expect(all.find((event) => event.type === "stage.finished")).toMatchObject({
        stage: "builder",
        attempt: 1,
        outcome: { verdict: "pass", summary: way === "now" ? "First." : "Second." },
      });
    },
  );
});

/** Its question, a tool that runs until the file `go` is there, and its verdict; told something, it submits another one. */
function asksAndWaits(way: Way, go: string, tools: string): Scenario {
  const call = (tool: string, args: object) => ({ do: [{ mcp: { server: "passrail", tool, args } }] });
  const submits = (summary: string) => call("submit_verdict", { verdict: "APPROVE", summary });
  const wait = `echo started >> ${tools}; until [ -e ${go} ]; do sleep 0.1; done; echo built > built.txt`;
  const waits = { do: [{ bash: wait }] };
  return {
    rules: [
      { id: "told", match: { prompt: WORDS }, turns: [submits("Second."), { text: "Done." }] },
      {
        id: "builder",
        match: { prompt: "# Builder" },
        // Some ask their model again while a tool still runs. It waits once more then, however long a busy machine needs for the daemon.
        turns: [
          call("ask_human", { question: "Which database?" }),
          waits,
          ...Array.from({ length: way === "now" ? 0 : 3 }, () => waits),
          submits("First."),
          { text: "Done." },
        ],
      },
    ],
  };
}

async function openQuestion() {
  const store = openForReading(world.home);
  const [run] = (await store?.listRuns({ limit: 1 })) ?? [];
  const stored = run === undefined ? undefined : await store?.loadRun(run.id);
  store?.close();
  return stored === undefined ? undefined : openItems(stored.run)[0];
}

async function killed(daemon: Parameters<typeof ended>[0]): Promise<void> {
  daemon.kill("SIGKILL");
  await ended(daemon);
}
