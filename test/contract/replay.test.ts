// The tape of a run played back to the real agent CLIs: the same results, and not one request to the models.

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { attemptFiles } from "../../src/attempt/attempt-files.ts";
import type { Turn } from "../fixtures/models/scenario.ts";
import { contractTests } from "./installed.ts";
import { claude, codex, gemini, opencode, programOf, type Vendor } from "./vendors.ts";
import { ended, openWorld, output, type World } from "./world.ts";

let world: World;

beforeEach(async () => {
  world = await openWorld("replay");
});
afterEach(() => world.close());

const submit: Turn = {
  do: [{ mcp: { server: "passrail", tool: "submit_verdict", args: { verdict: "APPROVE", summary: "Built." } } }],
};
const turns = [{ do: [{ bash: "pwd > where.txt; echo built > built.txt" }] }, submit, { text: "Done." }] as const;

/** Everything of the project's repository that a replay must leave alone. */
function refs({ project }: World): string {
  return execFileSync("git", ["for-each-ref"], { cwd: project, encoding: "utf8" });
}

describe.skipIf(contractTests() === "left out")("the replay of a recorded run", () => {
  test.each([claude, codex, gemini, opencode])(
    "$cli comes to the same verdict with the same changes, without one request to its model",
    { timeout: 120_000 },
    async (vendor: Vendor) => {
      world.models.play({ rules: [{ id: "builder", match: { prompt: "# Builder" }, turns }] });
      const { command, env } = programOf(vendor, world.dir, world.models.url);
      world.playedBy(vendor, {
        gateway: { mode: "required" },
        agents: { builder: { permission: "full" } },
        runners: { [vendor.cli]: { command, env: { ...env, IS_SANDBOX: "1" } } },
      });
      await ended(world.build("--workspace", "worktree"));
      const [attempt] = await world.attempts();
      expect(attempt?.outcome).toMatchObject({ health: "complete", summary: "Built." });
      const run = attempt?.runId ?? "";
      const [asked, before, events] = [world.models.requests.length, refs(world), await world.events()];
      const report = JSON.parse(await output(world.passrail("replay", run, "--json")));
      expect(report.attempts).toMatchObject([
        { stage: attempt?.stage, attempt: 1, runner: vendor.cli, sameVerdict: true, differs: [], sameDiff: true },
      ]);
      const { onTape, ...requests } = report.attempts[0].requests;
      expect(requests).toEqual({ same: onTape, different: [], unanswered: [] });
      expect(world.models.requests.length).toBe(asked);
      expect(refs(world)).toBe(before);
      expect(await world.events()).toEqual(events);
      expect(readdirSync(join(world.home, "replays"))).toEqual([]);
    },
  );

  test("another runner plays a recorded stage anew, and both are compared", { timeout: 120_000 }, async () => {
    world.models.play({ rules: [{ id: "builder", match: { prompt: "# Builder" }, turns }] });
    const programs = [claude, codex].map((vendor) => [vendor.cli, programOf(vendor, world.dir, world.models.url)]);
    world.playedBy(claude, { gateway: { mode: "on" }, runners: Object.fromEntries(programs) });
    await ended(world.build("--workspace", "worktree"));
    const [attempt] = await world.attempts();
    const { runId = "", stage = "" } = attempt ?? {};
    const [asked, before, events] = [world.models.requests.length, refs(world), await world.events()];
    const args = ["replay", runId, "--swap", `${stage}=codex`, "--model", codex.model, "--json"];
    const report = JSON.parse(await output(world.passrail(...args)));
    expect(report).toMatchObject({
      stage,
      attempt: 1,
      sameVerdict: true,
      sameDiff: true,
      recorded: { runner: "claude", word: "APPROVE" },
      swapped: { runner: "codex", model: codex.model, word: "APPROVE" },
    });
    expect(report.recorded.diff.files).toBeGreaterThanOrEqual(2);
    expect(report.swapped.diff).toEqual(report.recorded.diff);
    for (const side of [report.recorded, report.swapped]) expect(side.usage.inputTokens).toBeGreaterThan(0);
    expect(world.models.requests.length).toBeGreaterThan(asked);
    expect(refs(world)).toBe(before);
    expect(await world.events()).toEqual(events);
  });

  test("a tape that is gone is said before anything starts", { timeout: 60_000 }, async () => {
    world.models.play({ rules: [{ id: "builder", match: { prompt: "# Builder" }, turns }] });
    world.playedBy(claude, { gateway: { mode: "required" } });
    await ended(world.build());
    const [attempt] = await world.attempts();
    const { runId = "", stage = "" } = attempt ?? {};
    rmSync(attemptFiles(world.home, runId, stage, 1).tape);
    await expect(output(world.passrail("replay", runId))).rejects.toThrow(/a tape is missing/u);
    expect(existsSync(join(world.home, "replays"))).toBe(false);
  });
});
