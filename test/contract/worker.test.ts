// A real agent CLI on another machine: a worker with a state folder, settings and a login of its own carries out the stage, and verdict,
// usage, log and commits come back to the node.

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { attemptFacts } from "../../src/core/attempt-facts.ts";
import { findDaemon } from "../../src/daemon/note.ts";
import { PROGRAM } from "../harness/program.ts";
import { contractTests } from "./installed.ts";
import { claude, codex, settingsFor, type Vendor } from "./vendors.ts";
import { ended, openWorld, output, type Started, stopped, type World } from "./world.ts";

let world: World;
beforeEach(async () => {
  world = await openWorld("worker");
});
afterEach(() => world.close());

/** What only the worker's user has: the program, its variables and its login. */
async function joined(vendor: Vendor): Promise<Started> {
  const { dir, home, models } = world;
  const config = join(dir, "worker-config");
  mkdirSync(join(config, "passrail"), { recursive: true });
  const { runners } = settingsFor(vendor, dir, models.url) as { runners: object };
  writeFileSync(join(config, "passrail", "passrail.yaml"), JSON.stringify({ runners }));
  const tokenFile = join(dir, "box.token");
  const token = await output(world.passrail("key", "create", "box", "--scope", "worker"));
  writeFileSync(tokenFile, token, { mode: 0o600 });
  const words = ["worker", "--join", findDaemon(home)?.url ?? "", "--token-file", tokenFile, "--name", "box"];
  const env = { ...process.env, PASSRAIL_HOME: join(dir, "worker-state"), XDG_CONFIG_HOME: config };
  return spawn(process.execPath, [PROGRAM, ...words], { cwd: dir, env, stdio: ["ignore", "pipe", "pipe"] });
}

describe.skipIf(contractTests() === "left out")("a real agent on a worker", () => {
  test.each([{ vendor: claude }, { vendor: codex }])(
    "$vendor.cli works there, and everything comes back",
    {
      timeout: 180_000,
    },
    async ({ vendor }) => {
      const args = { verdict: "APPROVE", summary: "Built there." };
      world.models.play({
        rules: [
          {
            id: "builder",
            match: { prompt: "# Builder" },
            turns: [
              { do: [{ bash: "echo built > built.txt" }] },
              { do: [{ mcp: { server: "passrail", tool: "submit_verdict", args } }] },
              { text: "Done." },
            ],
          },
        ],
      });
      world.playedBy(vendor, { workers: { place: "workers-only" } });
      const daemon = await world.up();
      const worker = await joined(vendor);
      expect(await ended(world.build("--workspace", "worktree", "--detach"))).toBe(0);
      const all = await world.finished();
      expect(all.find(({ type }) => type === "stage.finished")).toMatchObject({
        outcome: { verdict: "pass", summary: "Built there." },
      });
      const [record] = await world.attempts();
      const { claim, usage, runner, branch, to, from } = attemptFacts(record ?? { facts: {} });
      expect({ worker: claim?.worker, runner }).toEqual({ worker: "box", runner: vendor.cli });
      expect(usage?.outputTokens).toBeGreaterThan(0);
      expect(to).not.toBe(from);
      const built = execFileSync("git", ["-C", world.project, "show", `${branch}:built.txt`], { encoding: "utf8" });
      expect(built).toBe("built\n");
      expect(await output(world.passrail("runs", "logs", "1", "--story"))).toContain("built.txt");
      await stopped(worker);
      await stopped(daemon);
    },
  );
});
