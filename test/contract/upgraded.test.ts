// A daemon is killed, upgraded, stopped and started again while all four real agent CLIs and a command are in the middle of their work. They
// work on, and the next daemon adopts them: no attempt begins anew, no request is paid twice, and verdict, log and usage are whole.

import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { attemptFacts } from "../../src/core/attempt-facts.ts";
import type { Scenario } from "../fixtures/models/scenario.ts";
import { approveFiles } from "../harness/approve-files.ts";
import { ROOT } from "../harness/build-once.ts";
import { openForReading } from "../harness/open-for-reading.ts";
import { PROGRAM_FOLDER } from "../harness/program.ts";
import { until } from "../harness/until.ts";
import { contractTests } from "./installed.ts";
import { claude, codex, gemini, opencode, programOf } from "./vendors.ts";
import { ended, openWorld, type Started, stopped, type World } from "./world.ts";

const VENDORS = [claude, codex, gemini, opencode];
const PROTOCOLS = { claude: "anthropic", codex: "responses", gemini: "gemini", opencode: "chat" } as const;
const WORKERS: readonly string[] = [...VENDORS.map(({ cli }) => cli), "command"];
const PATIENCE_MS = 300_000;
/** As deep below the root as the program, so that it finds the shipped flows. */
const OLD_BUILD = join(ROOT, "dist", `old-build-${process.pid}`);

let world: World;
let daemon: Started | undefined;
beforeEach(async () => {
  world = await openWorld("upgraded");
});
afterEach(async () => {
  daemon?.kill("SIGKILL");
  rmSync(OLD_BUILD, { recursive: true, force: true });
  await world.close();
});

describe.skipIf(contractTests() === "left out")("a daemon that goes away", () => {
  test("R-X-05, R11: killed, upgraded and stopped, it costs no agent its work", { timeout: 600_000 }, async () => {
    const answered = Promise.withResolvers<void>();
    world.models.play(worksUntil(answered.promise));
    layOut();
    cpSync(process.env["PASSRAIL_OLD_PROGRAM"] ?? PROGRAM_FOLDER, OLD_BUILD, {
      recursive: true,
      filter: (path) => !path.endsWith(".map"),
    });
    daemon = await world.up(join(OLD_BUILD, "main.js"));
    for (const who of WORKERS) await startRun(who);
    await until("all of them are in the middle of their work", () => isAtWork() || undefined, PATIENCE_MS);
    daemon.kill("SIGKILL");
    await ended(daemon);
    // The package manager has replaced the program.
    rmSync(OLD_BUILD, { recursive: true });
    await stopped(await world.up());
    daemon = await world.up();
    writeFileSync(join(world.dir, "go"), "");
    answered.resolve();
    const done = await until("all have ended", runsThatEnded, PATIENCE_MS);
    await stopped(daemon);
    expect(done.map(({ who }) => who).toSorted()).toEqual(WORKERS.toSorted());
    for (const { who, record, types } of done) {
      expect(readFileSync(join(world.dir, `tools-${who}`), "utf8")).toBe("started\n");
      expect(types).toContain("run.completed");
      expect(types).not.toContain("stage.interrupted");
      expect(record).toMatchObject({ stage: "builder", attempt: 1, status: "done" });
      const facts = attemptFacts(record);
      expect(facts.files).toContain("built.txt");
      const log = readFileSync(facts.output ?? "", "utf8");
      expect(log).toContain(who === "command" ? "built by a command" : "submit_verdict");
      if (who === "command") continue;
      expect(facts.usage?.inputTokens ?? 0).toBeGreaterThanOrEqual(1000);
      // Each turn of the script was asked for once: nothing began anew.
      const turns = world.models.requests.filter(({ rule }) => rule === who).map(({ turn }) => turn);
      expect(turns).toEqual([...new Set(turns)]);
    }
  });
});

/** Each agent works, and waits for its model in the middle. */
function worksUntil(go: Promise<unknown>): Scenario {
  const args = { verdict: "APPROVE", summary: "Built." };
  return {
    rules: VENDORS.map(({ cli }) => ({
      id: cli,
      match: { prompt: "# Builder", protocol: PROTOCOLS[cli] },
      turns: [
        {
          do: [{ bash: `echo started >> ${join(world.dir, `tools-${cli}`)}; echo built > built.txt` }],
          tokens: { input: 1000, output: 10, cached: 0 },
        },
        { after: go, do: [{ mcp: { server: "passrail", tool: "submit_verdict", args } }] },
        { text: "Done." },
      ],
    })),
  };
}

function isAtWork(): boolean {
  const waits = (who: string): boolean => world.models.requests.some(({ rule, turn }) => rule === who && turn === 1);
  return existsSync(join(world.dir, "tools-command")) && VENDORS.every(({ cli }) => waits(cli));
}

function layOut(): void {
  const { dir, home, project, models } = world;
  const waits = `echo started >> ${join(dir, "tools-command")}; until [ -e ${join(dir, "go")} ]; do sleep 0.2; done`;
  const lines = ["#!/bin/sh", "cat > /dev/null", waits, "echo built > built.txt; echo built by a command"];
  writeFileSync(join(dir, "command"), `${lines.join("\n")}\n`, { mode: 0o755 });
  const runners = Object.fromEntries(VENDORS.map((vendor) => [vendor.cli, programOf(vendor, dir, models.url)]));
  const settings = { runner: "codex", runners, attempts: { process: "own" }, slots: WORKERS.length };
  writeFileSync(join(project, "passrail.yaml"), JSON.stringify(settings));
  approveFiles(home, project);
}

async function startRun(who: string): Promise<void> {
  const { home, dir } = world;
  const { url } = JSON.parse(readFileSync(join(home, "daemon.json"), "utf8")) as { readonly url: string };
  const token = readFileSync(join(home, "operator.token"), "utf8").trim();
  const agents = { "*": who === "command" ? join(dir, "command") : who };
  const body = { flow: "routed", title: who, input: { "input.agent": "builder" }, workspace: "worktree", agents };
  const response = await fetch(`${url}/api/runs`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(201);
}

const ENDED: ReadonlySet<string> = new Set(["completed", "stopped", "canceled", "waiting"]);

/** All of them with their only attempt; undefined while one is open. */
async function runsThatEnded() {
  const store = openForReading(world.home);
  try {
    const found = [];
    for (const { id } of (await store?.listRuns({ limit: 10 })) ?? []) {
      const run = (await store?.loadRun(id))?.run;
      const events = (await store?.events({ after: 0, runId: id, limit: 1000 })) ?? [];
      const [record] = (await store?.attempts(id)) ?? [];
      if (run === undefined || record === undefined || !ENDED.has(run.status)) return undefined;
      found.push({ who: run.subject.title, record, types: events.map(({ event }) => event.type) });
    }
    return found;
  } finally {
    store?.close();
  }
}
