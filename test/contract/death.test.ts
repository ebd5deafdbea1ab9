// The whole program is killed while a real agent CLI is in the middle of a shell tool. The agent works on, and the next command adopts it:
// no request is paid twice. A run that is canceled meanwhile leaves no process, not even one that left the process group.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { approveFiles } from "../harness/approve-files.ts";
import { attemptFacts } from "../../src/core/attempt-facts.ts";
import { openForReading } from "../harness/open-for-reading.ts";
import { findMarked } from "../../src/runner/process/process-table.ts";
import { storeMark } from "../../src/attempt/attempt-files.ts";
import { type FakeModels, startFakeModels } from "../fixtures/models/server.ts";
import { until } from "../harness/until.ts";
import { newRepository } from "../harness/new-repository.ts";
import { contractTests } from "./installed.ts";
import { claude, codex, gemini, opencode, settingsFor } from "./vendors.ts";
import { PROGRAM } from "../harness/program.ts";

let dir: string;
let home: string;
let models: FakeModels;

beforeEach(async () => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-death-")));
  home = join(dir, "state");
  mkdirSync(home);
  models = await startFakeModels({
    scenario: {
      rules: [
        {
          id: "builder",
          match: { prompt: "# Builder" },
          turns: [{ do: [{ bash: "setsid sleep 300 & wait; sleep 300" }] }, { text: "Done." }],
        },
      ],
    },
  });
});
afterEach(async () => {
  await models.close();
  rmSync(dir, { recursive: true, force: true });
});

describe.skipIf(contractTests() === "left out")("death of the whole program", () => {
  test.each([claude, codex, gemini, opencode])(
    "R-X-05, R11: kill -9 while $cli runs a tool leaves nothing after the next command",
    { timeout: 120_000 },
    async (vendor) => {
      const project = newRepository(dir);
      writeFileSync(join(project, "passrail.yaml"), JSON.stringify(settingsFor(vendor, dir, models.url)));
      approveFiles(home, project);
      const run = passrail(project, "run", "routed", "Build it", "--input", "input.agent=builder");
      const mark = `${storeMark(realpathSync(home))}/`;
      await until("the agent runs its tool", () => (isWorking(mark) ? true : undefined), 60_000);
      run.kill("SIGKILL");
      await ended(run);
      expect(findMarked(mark).length).toBeGreaterThan(0);
      const canceled = await ended(passrail(project, "runs", "cancel", "1"));
      expect(canceled).toBe(0);
      expect(findMarked(mark)).toEqual([]);
    },
  );

  test.each([claude, codex, gemini, opencode])(
    "R-X-05, R11: kill -9 while $cli works costs nothing: the next command adopts it, and its verdict, log and usage are whole",
    { timeout: 180_000 },
    async (vendor) => {
      const go = join(dir, "go");
      const waits = {
        bash: `echo started >> ${join(dir, "tools")}; until [ -e ${go} ]; do sleep 0.1; done; echo built > built.txt`,
      };
      const args = { verdict: "APPROVE", summary: "Built." };
      models.play({
        rules: [
          {
            id: "builder",
            match: { prompt: "# Builder" },
            turns: [
              { do: [waits], tokens: { input: 1000, output: 10, cached: 0 } },
              { do: [{ mcp: { server: "passrail", tool: "submit_verdict", args } }] },
              { text: "Done." },
            ],
          },
        ],
      });
      const project = newRepository(dir);
      writeFileSync(join(project, "passrail.yaml"), JSON.stringify(settingsFor(vendor, dir, models.url)));
      approveFiles(home, project);
      const run = passrail(project, "run", "routed", "Build it", "--input", "input.agent=builder");
      await until("the agent runs its tool", () => (existsSync(join(dir, "tools")) ? true : undefined), 60_000);
      run.kill("SIGKILL");
      await ended(run);
      const asked = models.requests.filter(({ rule }) => rule === "builder").length;
      const watching = passrail(project, "runs", "watch", "1");
      writeFileSync(go, "");
      await ended(watching);
      // Each turn of the script was asked for once: nothing began anew.
      const turns = models.requests.filter(({ rule }) => rule === "builder").map(({ turn }) => turn);
      expect(turns.slice(0, asked + 1)).toEqual([...new Set(turns.slice(0, asked + 1))]);
      expect(readFileSync(join(dir, "tools"), "utf8")).toBe("started\n");
      const store = openForReading(home);
      const [record] = (await store?.attempts((await store.listRuns({ limit: 1 }))[0]?.id ?? "")) ?? [];
      const types = (await store?.events({ after: 0, limit: 1000 }))?.map(({ event }) => event.type);
      store?.close();
      expect(types).toContain("stage.finished");
      expect(types).not.toContain("stage.interrupted");
      expect(record).toMatchObject({ stage: "builder", attempt: 1, status: "done", outcome: { verdict: "pass" } });
      const facts = attemptFacts(record ?? { facts: {} });
      expect(facts.files).toContain("built.txt");
      expect(facts.usage?.inputTokens ?? 0).toBeGreaterThanOrEqual(1000);
      const log = readFileSync(facts.output ?? "", "utf8");
      expect(log).toContain("until [ -e");
      expect(log).toContain("submit_verdict");
    },
  );
});

function isWorking(mark: string): boolean {
  return findMarked(mark).some(({ pid }) => commandOf(pid).includes("sleep"));
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

function passrail(cwd: string, ...args: readonly string[]) {
  return spawn(process.execPath, [PROGRAM, ...args], {
    cwd,
    env: { ...process.env, PASSRAIL_HOME: home },
    stdio: "ignore",
  });
}

function ended(child: ReturnType<typeof passrail>): Promise<number | null> {
  return child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve(child.exitCode)
    : new Promise((resolve) => void child.once("exit", resolve));
}
