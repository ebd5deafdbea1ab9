// Source 004's spawner as people meet it: how Claude Code is started from the settings.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Bench, openBench } from "./bench.ts";

vi.setConfig({ testTimeout: 120_000 });

const AGENT = join(import.meta.dirname, "../../fixtures/agents/stream-json.mjs");
const MODEL = "claude-sonnet-4-5-20250929";
const RUN = ["run", "ticket", "Do it well", "--input", "ticket.workflow=oneshot"];

let bench: Bench;
beforeEach(() => {
  bench = openBench();
});
afterEach(() => bench.remove());

type Started = { readonly args: readonly string[]; readonly prompt: string; readonly cwd: string };

async function play(settings: object): Promise<Started & { readonly stored: string }> {
  const log = join(bench.dir, "started.json");
  const runners = { claude: { command: [process.execPath, AGENT, log, "told"] } };
  writeFileSync(join(bench.project, "passrail.yaml"), JSON.stringify({ runner: "claude", runners, ...settings }));
  await bench.passrail(RUN);
  const [run = ""] = readdirSync(join(bench.home, "runs"));
  const stored = readFileSync(join(bench.home, "runs", run, "oneshot-1", "prompt.md"), "utf8");
  return { ...(JSON.parse(readFileSync(log, "utf8")) as Started), stored };
}

test("R-004-14: with permission full and a model from the settings Claude Code is started as the source starts it", async () => {
  const { args, prompt, cwd, stored } = await play({ model: MODEL, agents: { worker: { permission: "full" } } });
  for (const argument of ["-p", "--dangerously-skip-permissions", "--output-format=stream-json", "--verbose"])
    expect(args).toContain(argument);
  expect(args).toContain(`--model=${MODEL}`);
  // The program read its input to the end, and no argument has the prompt.
  expect(stored).toContain("Do it well");
  expect(prompt.length).toBeGreaterThan(100);
  expect(stored).toContain(prompt.trim().slice(-100));
  expect(args.join("\n")).not.toContain("Do it well");
  expect(cwd.startsWith(join(bench.home, "worktrees"))).toBe(true);
});

test("R-004-14: unless the operator says so, the program keeps its checks and its own model", async () => {
  const { args } = await play({});
  expect(args.filter((each) => /^--(?:dangerously|model)/u.test(each))).toEqual([]);
  expect(args.some((each) => each.startsWith("--permission-mode="))).toBe(true);
  const listed = await bench.passrail(["settings", "model"]);
  expect(listed.out).toContain("model\tthe program's own\tdefault\n");
});
