// A person speaks to a real agent CLI in the middle of its work, while the daemon is killed and another one takes over. The scripted
// models see in which request the message arrived.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RunEvent } from "../../src/core/run/event.ts";
import { approveFiles } from "../harness/approve-files.ts";
import { openForReading } from "../harness/open-for-reading.ts";
import { PROGRAM } from "../harness/program.ts";
import { until } from "../harness/until.ts";
import { newRepository } from "../harness/new-repository.ts";
import { type FakeModels, startFakeModels } from "../fixtures/models/server.ts";
import { contractTests } from "./installed.ts";
import { claude, codex, gemini, opencode, settingsFor } from "./vendors.ts";

const WORDS = "Use the new API, said the person";

let dir: string;
let home: string;
let project: string;
let models: FakeModels;

beforeEach(async () => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-steer-")));
  home = join(dir, "state");
  mkdirSync(home);
  project = newRepository(dir);
  models = await startFakeModels({ scenario: { rules: [] } });
});
afterEach(async () => {
  await models.close();
  rmSync(dir, { recursive: true, force: true });
});

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
      writeFileSync(join(project, "passrail.yaml"), JSON.stringify(settingsFor(vendor, dir, models.url)));
      approveFiles(home, project);
      const run = passrail("run", "routed", "Build it", "--input", "input.agent=builder");
      await until("the agent runs its tool", () => (existsSync(tools) ? true : undefined), 60_000);
      run.kill("SIGKILL");
      await ended(run);
      // Nobody performs now: the message is stored, and the next engine passes it on.
      expect(await ended(passrail("runs", "steer", "1", WORDS))).toBe(0);
      expect((await events()).filter(({ type }) => type === "message.delivered")).toEqual([]);
      const daemon = passrail("up", "--port", "0");
      // It writes its address when it has adopted the agent.
      await until("the daemon is up", () => (existsSync(join(home, "daemon.json")) ? true : undefined), 60_000);
      writeFileSync(go, "");
      const all = await until("the stage ends", async () => finished(await events()), 120_000);
      daemon.kill("SIGTERM");
      await ended(daemon);
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
    stdio: "ignore",
  });
}

function ended(child: ReturnType<typeof passrail>): Promise<number | null> {
  return child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve(child.exitCode)
    : new Promise((resolve) => void child.once("exit", resolve));
}
