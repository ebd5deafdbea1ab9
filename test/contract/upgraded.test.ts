// A daemon is killed, upgraded, stopped and started again while all four real agent CLIs and a command are in the middle of their work. They
// work on, and the next daemon adopts them: no attempt begins anew, no request is paid twice, and verdict, log and usage are whole. When it is
// killed, the vendor of each CLI has just refused a request for two seconds, which the CLI sleeps through. Longer limits: limits.test.ts.

import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { attemptFacts } from "../../src/core/attempt-facts.ts";
import type { Scenario } from "../fixtures/models/scenario.ts";
import { approveFiles } from "../harness/approve-files.ts";
import { ROOT } from "../harness/build-once.ts";
import type { ModelRequest } from "../fixtures/models/server.ts";
import { openForReading } from "../harness/open-for-reading.ts";
import { PROGRAM_FOLDER } from "../harness/program.ts";
import { until } from "../harness/until.ts";
import { contractTests } from "./installed.ts";
import { googleQuota } from "./refusals.ts";
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
  test("R-X-05, R11: killed, upgraded and stopped, it costs no agent its work; a limit of two seconds is slept through by each CLI, and no attempt starts again", {
    timeout: 600_000,
  }, async () => {
    const [refused, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    world.models.play(worksUntil(refused.promise, answered.promise));
    layOut();
    cpSync(process.env["PASSRAIL_OLD_PROGRAM"] ?? PROGRAM_FOLDER, OLD_BUILD, {
      recursive: true,
      filter: (path) => !path.endsWith(".map"),
    });
    daemon = await world.up(join(OLD_BUILD, "main.js"));
    for (const who of WORKERS) await startRun(who);
    // All four are refused at once, when the last has asked, so that the daemon dies while each of them waits.
    await until("each has asked", () => haveAsked(0) || undefined, PATIENCE_MS);
    await until("the command works", () => existsSync(join(world.dir, "tools-command")) || undefined, PATIENCE_MS);
    refused.resolve();
    await until("each was refused", () => haveAsked(0, 429) || undefined, PATIENCE_MS);
    daemon.kill("SIGKILL");
    await ended(daemon);
    // The package manager has replaced the program.
    rmSync(OLD_BUILD, { recursive: true });
    daemon = await world.up();
    await until("all have slept and are in the middle of their work", () => haveAsked(1) || undefined, PATIENCE_MS);
    await stopped(daemon);
    daemon = await world.up();
    writeFileSync(join(world.dir, "go"), "");
    answered.resolve();
    const done = await until("all have ended", runsThatEnded, PATIENCE_MS);
    expect(await holds()).toEqual([]);
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
      // Each turn of the script was asked for once, but for the refusal: nothing began anew.
      const turns = world.models.requests.filter(({ rule, status }) => rule === who && status !== 429);
      expect(turns.map(({ turn }) => turn)).toEqual([...new Set(turns.map(({ turn }) => turn))]);
      expect(asked(0, 429).filter(({ rule }) => rule === who)).toHaveLength(1);
    }
  });
});

/** Each agent is refused once, works, and waits for its model in the middle. */
function worksUntil(refuse: Promise<unknown>, go: Promise<unknown>): Scenario {
  const busy = { status: 429, message: "Too many requests.", headers: { "retry-after": "2" }, times: 1 };
  const args = { verdict: "APPROVE", summary: "Built." };
  return {
    rules: VENDORS.map(({ cli }) => ({
      id: cli,
      match: { prompt: "# Builder", protocol: PROTOCOLS[cli] },
      turns: [
        {
          after: refuse,
          fail: cli === "gemini" ? { ...googleQuota(2), times: 1 } : busy,
          do: [{ bash: `echo started >> ${join(world.dir, `tools-${cli}`)}; echo built > built.txt` }],
          tokens: { input: 1000, output: 10, cached: 0 },
        },
        { after: go, do: [{ mcp: { server: "passrail", tool: "submit_verdict", args } }] },
        { text: "Done." },
      ],
    })),
  };
}

function haveAsked(turn: number, answer?: number): boolean {
  return new Set(asked(turn, answer).map(({ rule }) => rule)).size === VENDORS.length;
}

/** The agents' requests for this turn, or those that were answered so. */
function asked(wanted: number, answer?: number): readonly ModelRequest[] {
  const own = world.models.requests.filter(({ rule }) => WORKERS.includes(rule));
  return own.filter(({ turn, status }) => turn === wanted && (answer === undefined || status === answer));
}

async function holds(): Promise<readonly unknown[]> {
  const store = openForReading(world.home);
  const found = (await store?.holds()) ?? ["no store"];
  store?.close();
  return found;
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
