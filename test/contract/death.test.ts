// The whole program is killed while a real agent CLI is in the middle of a shell tool, and the run is canceled meanwhile: no process is left,
// not even one that left the process group. Agents that work on are in upgraded.test.ts.

import { readFileSync, realpathSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { storeMark } from "../../src/attempt/attempt-files.ts";
import { findMarked } from "../../src/runner/process/process-table.ts";
import { until } from "../harness/until.ts";
import { contractTests } from "./installed.ts";
import { claude, codex, gemini, opencode } from "./vendors.ts";
import { ended, openWorld, type World } from "./world.ts";

let world: World;
beforeEach(async () => {
  world = await openWorld("death");
});
afterEach(() => world.close());

describe.skipIf(contractTests() === "left out")("death of the whole program", () => {
  test.each([claude, codex, gemini, opencode])(
    "R-X-05, R11: kill -9 while $cli runs a tool leaves nothing after the next command",
    { timeout: 120_000 },
    async (vendor) => {
      const { home, models, passrail } = world;
      models.play({
        rules: [
          {
            id: "builder",
            match: { prompt: "# Builder" },
            turns: [{ do: [{ bash: "setsid sleep 300 & wait; sleep 300" }] }, { text: "Done." }],
          },
        ],
      });
      world.playedBy(vendor);
      const run = world.build();
      const mark = `${storeMark(realpathSync(home))}/`;
      await until("the agent runs its tool", () => (isWorking(mark) ? true : undefined), 60_000);
      run.kill("SIGKILL");
      await ended(run);
      expect(findMarked(mark).length).toBeGreaterThan(0);
      const canceled = await ended(passrail("runs", "cancel", "1"));
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
