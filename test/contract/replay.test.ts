// The tape of a run played back to the real agent CLIs: the same results, and not one request to the models.

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { attemptFiles } from "../../src/attempt/attempt-files.ts";
import type { Turn } from "../fixtures/models/scenario.ts";
import { approveFiles } from "../harness/approve-files.ts";
import { newRepository } from "../harness/new-repository.ts";
import { PROGRAM } from "../harness/program.ts";
import { until } from "../harness/until.ts";
import { bubblewrapTests, whyLeftOut } from "../scenarios/sandbox/can-confine.ts";
import { contractTests } from "./installed.ts";
import { claude, codex, gemini, opencode, programOf, type Vendor } from "./vendors.ts";
import { ended, openWorld, output, stopped, type World } from "./world.ts";

let world: World;

const submit: Turn = {
  do: [{ mcp: { server: "passrail", tool: "submit_verdict", args: { verdict: "APPROVE", summary: "Built." } } }],
};
const turns = [{ do: [{ bash: "pwd > where.txt; echo built > built.txt" }] }, submit, { text: "Done." }] as const;

/** Everything of the project's repository that a replay must leave alone. */
function refs({ project }: World): string {
  return execFileSync("git", ["for-each-ref"], { cwd: project, encoding: "utf8" });
}

/** Lets the vendor's program build it, through the gateway; `others`: programs that a replay may use besides. */
async function record(vendor: Vendor, others: readonly Vendor[] = []) {
  world.models.play({ rules: [{ id: "builder", match: { prompt: "# Builder" }, turns }] });
  const programs = [vendor, ...others].map((each) => {
    const { command, env } = programOf(each, world.dir, world.models.url);
    return [each.cli, { command, env: { ...env, IS_SANDBOX: "1" } }] as const;
  });
  const runners = Object.fromEntries(programs);
  world.playedBy(vendor, { gateway: { mode: "required" }, agents: { builder: { permission: "full" } }, runners });
  await ended(world.build("--workspace", "worktree"));
  const [attempt] = await world.attempts();
  expect(attempt?.outcome).toMatchObject({ health: "complete", summary: "Built." });
  return { runId: attempt?.runId ?? "", stage: attempt?.stage ?? "", runners };
}

async function expectSameReplay(vendor: Vendor, { runId, stage }: Awaited<ReturnType<typeof record>>): Promise<void> {
  const [asked, before, events] = [world.models.requests.length, refs(world), await world.events()];
  const report = JSON.parse(await output(world.passrail("replay", runId, "--json")));
  expect(report.attempts).toMatchObject([
    { stage, attempt: 1, runner: vendor.cli, sameVerdict: true, differs: [], sameDiff: true },
  ]);
  const { onTape, ...requests } = report.attempts[0].requests;
  expect(requests).toEqual({ same: onTape, different: [], unanswered: [] });
  expect(world.models.requests.length).toBe(asked);
  expect(refs(world)).toBe(before);
  expect(await world.events()).toEqual(events);
  expect(readdirSync(join(world.home, "replays"))).toEqual([]);
}

describe.skipIf(contractTests() === "left out")("the replay of a recorded run", () => {
  beforeEach(async () => {
    world = await openWorld("replay");
  });
  afterEach(() => world.close());

  test.each([codex, gemini, opencode])(
    "$cli comes to the same verdict with the same changes, without one request to its model",
    { timeout: 120_000 },
    async (vendor: Vendor) => {
      await expectSameReplay(vendor, await record(vendor));
    },
  );

  test.skipIf(bubblewrapTests === "left out")(
    `what people answered in place and said meanwhile is said again at its point, in the same kind of sandbox${whyLeftOut}`,
    { timeout: 180_000 },
    async () => {
      const words = "Use the new API, said the person";
      // Only the recorded one waits: the file that makes it wait is not there a second time.
      const wait =
        "echo > /tmp/works; while [ -e /tmp/recorded ] && [ ! -e /tmp/go ]; do sleep 0.1; done; echo built > built.txt";
      const ask: Turn = {
        do: [{ mcp: { server: "passrail", tool: "ask_human", args: { question: "Which database?" } } }],
      };
      world.models.play({
        rules: [
          // Where it is late, it is a turn of its own.
          { id: "told", match: { prompt: words }, turns: [submit, { text: "Done." }] },
          {
            id: "builder",
            match: { prompt: "# Builder" },
            turns: [ask, { do: [{ bash: wait }] }, submit, { text: "Done." }],
          },
        ],
      });
      const { command, env } = programOf(claude, world.dir, world.models.url);
      world.playedBy(claude, {
        gateway: { mode: "required" },
        limits: { "*": { question: "3m" } },
        agents: { builder: { permission: "full" } },
        runners: { claude: { command, env: { ...env, IS_SANDBOX: "1" } } },
      });
      const daemon = await world.up();
      await output(world.build("--workspace", "bubblewrap", "--detach"));
      const isThere = async (type: string) => (await world.events()).some((event) => event.type === type) || undefined;
      await until("a person is asked", () => isThere("question.asked"), 120_000);
      const tmp = join(world.home, "confined", (await world.attempts())[0]?.runId ?? "", "tmp");
      writeFileSync(join(tmp, "recorded"), "");
      await output(world.passrail("ask", "answer", "1.1", "Postgres"));
      await until("it works", () => existsSync(join(tmp, "works")) || undefined, 120_000);
      await output(world.passrail("runs", "steer", "1", words));
      writeFileSync(join(tmp, "go"), "");
      await world.finished();
      await stopped(daemon);
      expect((await world.attempts())[0]?.outcome).toMatchObject({ health: "complete" });
      expect(await isThere("message.delivered")).toBe(true);
      const asked = world.models.requests.length;
      expect(JSON.stringify(world.models.requests.at(-1)?.body)).toContain(words);
      const report = JSON.parse(await output(world.passrail("replay", "1", "--json")));
      expect(report.attempts).toMatchObject([{ sameVerdict: true, differs: [], sameDiff: true, without: null }]);
      const { onTape, ...requests } = report.attempts[0].requests;
      expect(requests).toEqual({ same: onTape, different: [], unanswered: [] });
      expect(world.models.requests.length).toBe(asked);
    },
  );
});

// All of them replay the same run, so that it is made once. The last one takes its tape away.
describe.skipIf(contractTests() === "left out")("the replays of one recorded run", () => {
  let recorded: Awaited<ReturnType<typeof record>>;
  beforeAll(async () => {
    world = await openWorld("replay");
    recorded = await record(claude, [codex]);
  }, 120_000);
  afterAll(() => world.close());

  test(
    "claude comes to the same verdict with the same changes, without one request to its model",
    {
      timeout: 120_000,
    },
    () => expectSameReplay(claude, recorded),
  );

  test("another runner plays a recorded stage anew, and both are compared", { timeout: 120_000 }, async () => {
    const { runId, stage } = recorded;
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

  test.skipIf(bubblewrapTests === "left out")(
    `an imported run is replayed on another machine, in a sandbox, without one request to its model${whyLeftOut}`,
    { timeout: 120_000 },
    async () => {
      const file = join(world.dir, "run.passrail-run");
      await output(world.passrail("runs", "export", "1", "--out", file));
      const asked = world.models.requests.length;
      // Another state folder, and a project that has not one of its commits.
      const other = mkdtempSync(join(world.dir, "other-"));
      const project = newRepository(other, "empty");
      const home = join(other, "state");
      writeFileSync(join(project, "passrail.yaml"), JSON.stringify({ runners: recorded.runners }));
      approveFiles(home, project);
      const there = (...args: readonly string[]) =>
        execFileSync(process.execPath, [PROGRAM, ...args], {
          cwd: project,
          env: { ...process.env, PASSRAIL_HOME: home },
          encoding: "utf8",
          stdio: ["ignore", "pipe", "pipe"],
        });
      expect(JSON.parse(there("runs", "import", file, "--json"))).toMatchObject({ tapes: 1 });
      expect(() => there("replay", "1")).toThrow(/so it needs a sandbox/u);
      const report = JSON.parse(there("replay", "1", "--workspace", "bubblewrap", "--json"));
      expect(report.attempts).toMatchObject([{ sameVerdict: true, differs: [], sameDiff: true }]);
      expect(report.attempts[0].requests.unanswered).toEqual([]);
      expect(world.models.requests.length).toBe(asked);
      expect(readdirSync(join(home, "replays"))).toEqual([]);
    },
  );

  test("a tape that is gone is said before anything starts", { timeout: 60_000 }, async () => {
    const { runId, stage } = recorded;
    rmSync(attemptFiles(world.home, runId, stage, 1).tape);
    rmSync(join(world.home, "replays"), { recursive: true, force: true });
    await expect(output(world.passrail("replay", runId))).rejects.toThrow(/a tape is missing/u);
    expect(existsSync(join(world.home, "replays"))).toBe(false);
  });
});
