// The whole program is killed while a real agent CLI is in the middle of a shell tool that left the process group: the next command ends
// every process that was left, and the run goes on.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { approveFiles } from "../harness/approve-files.ts";
import { findMarked } from "../../src/runner/process/process-table.ts";
import { storeMark } from "../../src/attempt/attempt-files.ts";
import { type FakeModels, startFakeModels } from "../fixtures/models/server.ts";
import { until } from "../harness/until.ts";
import { newRepository } from "../harness/workbench.ts";
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
