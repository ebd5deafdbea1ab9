// A person takes over a real agent CLI in the middle of its work, continues its session with the vendor's own program, and hands it back. The
// scripted models see whose turns are in which request.

import { type ChildProcessByStdio, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RunEvent } from "../../src/core/run/event.ts";
import { approveFiles } from "../harness/approve-files.ts";
import { openForReading } from "../harness/open-for-reading.ts";
import { PROGRAM } from "../harness/program.ts";
import { until } from "../harness/until.ts";
import { newRepository } from "../harness/new-repository.ts";
import { type FakeModels, startFakeModels } from "../fixtures/models/server.ts";
import { contractTests } from "./installed.ts";
import { claude, codex, settingsFor, type Vendor } from "./vendors.ts";

const WORDS = "What did you do so far, asked the person";
const NOTE = "The person finished the file";

let dir: string;
let home: string;
let project: string;
let models: FakeModels;

beforeEach(async () => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-takeover-")));
  home = join(dir, "state");
  mkdirSync(home);
  project = newRepository(dir);
  models = await startFakeModels({ scenario: { rules: [] } });
});
afterEach(async () => {
  await models.close();
  rmSync(dir, { recursive: true, force: true });
});

/** What the person's own turn uses, more than everything else together. */
const PERSONS = { input: 1000, output: 50_000 };
const TURN = { input: 1000, output: 100 };

/** One turn of the person, without a terminal. */
const HEADLESS: Readonly<Partial<Record<Vendor["cli"], (command: readonly string[]) => readonly string[]>>> = {
  claude: (command) => [...command, "-p", WORDS],
  codex: ([program = "", verb = "", id = ""]) => [program, "exec", "--skip-git-repo-check", verb, id, WORDS],
};

describe.skipIf(contractTests() === "left out")("a real agent that a person takes over", () => {
  test.each([{ vendor: claude }, { vendor: codex }])(
    "$vendor.cli ends, its session continues with the vendor's own program, and then with the agent, which does not pay for the person",
    { timeout: 240_000 },
    async ({ vendor }) => {
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
      const settings = settingsFor(vendor, dir, models.url) as {
        readonly runners: Readonly<Record<string, { readonly env: Record<string, string> }>>;
      };
      writeFileSync(join(project, "passrail.yaml"), JSON.stringify(settings));
      approveFiles(home, project);
      const run = passrail("run", "routed", "Build it", "--input", "input.agent=builder", "--workspace", "worktree");
      await until("the agent runs its tool", () => written("half.txt"), 120_000);
      const taken = said(await output(passrail("runs", "takeover", "1", "--json")));
      expect(taken).toMatchObject({ takeover: { stage: "builder", note: "" } });
      // The command that performed has nothing more to do.
      expect(await ended(run)).toBe(3);
      const { dir: folder, command } = taken.takeover;
      expect(readFileSync(join(folder, "half.txt"), "utf8")).toBe("half\n");
      const [program = "", ...args] = HEADLESS[vendor.cli]?.(command) ?? [];
      const { env } = settings.runners[vendor.cli] ?? { env: {} };
      const answer = await output(
        spawn(program, args, { cwd: folder, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] }),
      );
      expect(answer).toContain("I wrote half.txt.");
      const before = models.requests.length;
      writeFileSync(join(folder, "half.txt"), "whole\n");
      expect(await ended(passrail("runs", "handback", "1", "--note", NOTE))).toBe(0);
      const all = await until("the stage ends", async () => finished(await events()), 120_000);
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

function written(name: string): true | undefined {
  const root = join(home, "worktrees");
  const folders = existsSync(root) ? readdirSync(root) : [];
  return folders.some((folder) => existsSync(join(root, folder, name))) ? true : undefined;
}

type Started = ChildProcessByStdio<null, Readable, Readable>;
type Taken = { readonly takeover: { readonly dir: string; readonly command: readonly string[] } };

const said = (text: string): Taken => JSON.parse(text.trim()) as Taken;

async function events(): Promise<readonly RunEvent[]> {
  const store = openForReading(home);
  const found = (await store?.events({ after: 0, limit: 1000 }))?.map(({ event }) => event) ?? [];
  store?.close();
  return found;
}

const finished = (all: readonly RunEvent[]): readonly RunEvent[] | undefined =>
  all.some(({ type }) => type === "stage.finished") ? all : undefined;

function passrail(...args: readonly string[]) {
  return spawn(process.execPath, [PROGRAM, ...args], {
    cwd: project,
    env: { ...process.env, PASSRAIL_HOME: home },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function output(child: Started): Promise<string> {
  let [out, err] = ["", ""];
  child.stdout.on("data", (bytes: Buffer) => (out += String(bytes)));
  child.stderr.on("data", (bytes: Buffer) => (err += String(bytes)));
  const code = await ended(child);
  if (code !== 0) throw new Error(`exit ${code}: ${err}`);
  return out;
}

function ended(child: Started): Promise<number | null> {
  child.stdout.resume();
  child.stderr.resume();
  return child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve(child.exitCode)
    : new Promise((resolve) => void child.once("exit", resolve));
}
