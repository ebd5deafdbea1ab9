// The whole program is killed while a real agent CLI is in the middle of a shell tool that left the process group: the next command ends
// every process that was left, and the run goes on.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findMarked } from "../../src/agents/process-table.ts";
import { storeMark } from "../../src/engine/attempt-files.ts";
import { type FakeModels, startFakeModels } from "../fixtures/models/server.ts";
import { until } from "../harness/until.ts";
import { newRepository } from "../harness/workbench.ts";
import { cliPath, contractTests } from "./installed.ts";
import { claude, codex, gemini, opencode, type Vendor } from "./vendors.ts";

const MAIN = join(import.meta.dirname, "../../src/cli/main.ts");
const API_KEY = "sk-ant-api03-death00000000000000000000000000000000000";

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
          turns: [
            { do: [{ bash: "setsid sleep 300 & wait; sleep 300" }] },
            { text: "Done." },
          ],
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
      writeFileSync(join(project, "passrail.yaml"), JSON.stringify(settings(vendor)));
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

function settings(vendor: Vendor): object {
  const own = join(dir, "agent-home");
  mkdirSync(own, { recursive: true });
  const env = {
    HOME: own,
    PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
    ...vendor.setUp(own, models.url, API_KEY),
  };
  return {
    runner: vendor.cli,
    model: vendor.model,
    runners: { [vendor.cli]: { command: [cliPath(vendor.cli)], env } },
  };
}

function passrail(cwd: string, ...args: readonly string[]) {
  return spawn(process.execPath, [MAIN, ...args], {
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
