// A person takes over a real agent CLI in the middle of its work, continues its session with the vendor's own program, and hands it back. The
// scripted models see whose turns are in which request.

import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { contractTests } from "./installed.ts";
import { claude, codex, gemini, opencode, type Vendor } from "./vendors.ts";
import { ended, openWorld, output, type World } from "./world.ts";

const WORDS = "What did you do so far, asked the person";
const NOTE = "The person finished the file";

let world: World;
beforeEach(async () => {
  world = await openWorld("takeover");
});
afterEach(() => world.close());

/** What the person's own turn uses, more than everything else together. */
const PERSONS = { input: 1000, output: 50_000 };
const TURN = { input: 1000, output: 100 };

/** One turn of the person, without a terminal. */
const HEADLESS: Readonly<Partial<Record<Vendor["cli"], (command: readonly string[]) => readonly string[]>>> = {
  claude: (command) => [...command, "-p", WORDS],
  gemini: (command) => [...command, "--skip-trust", "-p", WORDS],
  opencode: ([program = "", flag = "", id = ""]) => [program, "run", flag, id, WORDS],
  codex: ([program = "", verb = "", id = ""]) => [program, "exec", "--skip-git-repo-check", verb, id, WORDS],
};

describe.skipIf(contractTests() === "left out")("a real agent that a person takes over", () => {
  test.each([{ vendor: claude }, { vendor: codex }, { vendor: gemini }, { vendor: opencode }])(
    "$vendor.cli ends, its session continues with the vendor's own program, and then with the agent, which does not pay for the person",
    { timeout: 240_000 },
    async ({ vendor }) => {
      const { models, passrail } = world;
      const submit = {
        mcp: { server: "passrail", tool: "submit_verdict", args: { verdict: "APPROVE", summary: "Done." } },
      };
      const waits = { bash: "echo half > half.txt; until false; do sleep 0.2; done" };
      models.play({
        rules: [
          {
            id: "back",
            match: { prompt: NOTE },
            turns: [
              { do: [submit], tokens: TURN },
              { text: "Done.", tokens: TURN },
            ],
          },
          { id: "person", match: { prompt: WORDS }, turns: [{ text: "I wrote half.txt.", tokens: PERSONS }] },
          {
            id: "builder",
            match: { prompt: "# Builder" },
            turns: [{ do: [waits], tokens: TURN }, { text: "Waiting." }],
          },
        ],
      });
      const env = world.playedBy(vendor);
      const run = world.build("--workspace", "worktree");
      await world.written("half.txt");
      const taken = said(await output(passrail("runs", "takeover", "1", "--json")));
      expect(taken).toMatchObject({ takeover: { stage: "builder", note: "" } });
      // The command that performed has nothing more to do.
      expect(await ended(run)).toBe(3);
      const { dir: folder, command } = taken.takeover;
      expect(readFileSync(join(folder, "half.txt"), "utf8")).toBe("half\n");
      const [program = "", ...args] = HEADLESS[vendor.cli]?.(command) ?? [];
      const answer = await output(
        spawn(program, args, {
          cwd: folder,
          env: { ...process.env, ...env, PWD: folder },
          stdio: ["ignore", "pipe", "pipe"],
        }),
      );
      expect(answer).toContain("I wrote half.txt.");
      const before = models.requests.length;
      writeFileSync(join(folder, "half.txt"), "whole\n");
      expect(await ended(passrail("runs", "handback", "1", "--note", NOTE))).toBe(0);
      const all = await world.finished();
      expect(all.find((event) => event.type === "stage.finished")).toMatchObject({
        attempt: 2,
        outcome: { verdict: "pass", summary: "Done." },
      });
      // The agent's next request has the whole conversation: its own turns, the person's, and the note.
      const told = JSON.stringify(models.requests.find(({ rule }) => rule === "back")?.conversation);
      for (const word of ["# Builder", WORDS, "I wrote half.txt.", NOTE, "half.txt | +1 -1"])
        expect(told).toContain(word);
      const booked = all.flatMap((event) =>
        event.type === "usage.recorded" ? [{ attempt: event.attempt, output: event.usage.outputTokens ?? 0 }] : [],
      );
      expect(booked.map(({ attempt }) => attempt)).toEqual([1, 2]);
      // Codex summarises a conversation before it continues: a request of the attempt, which the person's rule answers here.
      const served = models.requests.slice(before).map(({ rule }) => (rule === "person" ? PERSONS : TURN).output);
      expect(booked[0]?.output).toBeLessThan(PERSONS.output);
      expect(booked[1]?.output).toBeLessThanOrEqual(served.reduce((sum, tokens) => sum + tokens, 0));
      expect(booked[1]?.output).toBeGreaterThanOrEqual(TURN.output);
    },
  );
});

type Taken = { readonly takeover: { readonly dir: string; readonly command: readonly string[] } };

const said = (text: string): Taken => JSON.parse(text.trim()) as Taken;
