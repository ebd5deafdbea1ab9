// A person speaks to a real agent CLI in the middle of its work, while the daemon is killed and another one takes over. The scripted
// models see in which request the message arrived.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { contractTests } from "./installed.ts";
import { claude, codex, gemini, opencode } from "./vendors.ts";
import { ended, openWorld, stopped, type World } from "./world.ts";

const WORDS = "Use the new API, said the person";

let world: World;
beforeEach(async () => {
  world = await openWorld("steer");
});
afterEach(() => world.close());

describe.skipIf(contractTests() === "left out")("a message to a real agent at work", () => {
  test.each([
    { vendor: claude, way: "now" },
    { vendor: codex, way: "turn" },
    { vendor: gemini, way: "turn" },
    { vendor: opencode, way: "turn" },
  ])(
    "$vendor.cli gets it once ($way), also over kill -9 of the daemon, and its verdict of before does not count",
    {
      timeout: 180_000,
    },
    async ({ vendor, way }) => {
      const { dir, models } = world;
      const go = join(dir, "go");
      const tools = join(dir, "tools");
      const waits = {
        bash: `echo started >> ${tools}; until [ -e ${go} ]; do sleep 0.1; done; echo built > built.txt`,
      };
      const submits = (summary: string) => ({
        do: [{ mcp: { server: "passrail", tool: "submit_verdict", args: { verdict: "APPROVE", summary } } }],
      });
      models.play({
        rules: [
          { id: "told", match: { prompt: WORDS }, turns: [submits("Second."), { text: "Done." }] },
          {
            id: "builder",
            match: { prompt: "# Builder" },
            // Some ask their model again while a tool still runs. It waits once more then, however long a busy machine needs for the daemon.
            turns: [
              { do: [waits] },
              ...Array.from({ length: way === "now" ? 0 : 3 }, () => ({ do: [waits] })),
              submits("First."),
              { text: "Done." },
            ],
          },
        ],
      });
      world.playedBy(vendor);
      const run = world.build();
      await world.there("tools");
      run.kill("SIGKILL");
      await ended(run);
      // Nobody performs now: the message is stored, and the next engine passes it on.
      expect(await ended(world.passrail("runs", "steer", "1", WORDS))).toBe(0);
      expect((await world.events()).filter(({ type }) => type === "message.delivered")).toEqual([]);
      const daemon = await world.up();
      writeFileSync(go, "");
      const all = await world.finished();
      await stopped(daemon);
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
      expect(all.filter(({ type }) => type === "stage.interrupted")).toEqual([]);
      const heard = models.requests.filter(({ body }) => JSON.stringify(body).includes(WORDS));
      // Claude Code adds it to the result of the tool that ran; for the others it is a turn after the verdict.
      expect(heard[0]).toMatchObject(way === "now" ? { rule: "builder", turn: 1 } : { rule: "told", turn: 0 });
      expect(JSON.stringify(heard.at(-1)?.body).split(WORDS).length - 1).toBe(1);
      expect(all.find((event) => event.type === "stage.finished")).toMatchObject({
        stage: "builder",
        attempt: 1,
        outcome: { verdict: "pass", summary: way === "now" ? "First." : "Second." },
      });
    },
  );
});
