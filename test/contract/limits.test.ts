// Limits of vendors with the real agent CLIs and a real daemon: each parks until its limit ends, a killed daemon forgets none, a person or
// the time lets the work go on, and a ladder takes the next runner. What each program does with short limits is in contract.testsuite.ts.

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { attemptFacts } from "../../src/core/attempt-facts.ts";
import type { JsonObject } from "../../src/core/json.ts";
import type { Turn } from "../fixtures/models/scenario.ts";
import { type FakeModels, startFakeModels } from "../fixtures/models/server.ts";
import { openForReading } from "../harness/open-for-reading.ts";
import { until } from "../harness/until.ts";
import { type Running, startDaemonWith } from "../scenarios/daemon/running.ts";
import { contractTests } from "./installed.ts";
import { chatgptPlan, chatgptUse, claudePlan, googleQuota, inWords } from "./refusals.ts";
import { claude, codex, gemini, opencode, programOf } from "./vendors.ts";

const HOURS = 3 * 60 * 60;
/** For the one whose limit ends while the test looks: longer than a daemon needs to start. */
const SOON = 20;
const SLOW = 180_000;

let dir: string;
let models: FakeModels;
let daemon: Running;

beforeEach(async () => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-limits-")));
  models = await startFakeModels({ scenario: { rules: [] } });
  daemon = await startDaemonWith(settings());
});
afterEach(async () => {
  await daemon.passrail(["down", "--stop-agents"]);
  await daemon.close();
  await models.close();
  rmSync(dir, { recursive: true, force: true });
});

describe.skipIf(contractTests() === "left out")("limits of vendors", () => {
  test("R-X-05: each CLI parks until its limit ends, over a kill of the daemon, and works on; a ladder moves on", {
    timeout: 600_000,
  }, async () => {
    play({
      responses: { fail: chatgptPlan(HOURS) },
      gemini: { fail: googleQuota(HOURS) },
      chat: { fail: inWords(HOURS) },
    });
    for (const vendor of [codex, gemini, opencode]) await start({ "*": vendor.cli });
    const parked = await until("three are held", async () => atLeast(3, await holds()), SLOW);
    for (const { cause, since, until: ends } of parked) {
      expect(cause).toBe("quota");
      expect(Date.parse(ends) - Date.parse(since)).toBeGreaterThan((HOURS - 120) * 1000);
      expect(Date.parse(ends)).toBeLessThan(Date.now() + (HOURS + 60) * 1000);
    }
    play({ anthropic: { fail: claudePlan(SOON) } });
    await start({ "*": "claude" });
    const [short] = await until("claude is held", async () => atLeast(1, await holds("claude")), SLOW);

    daemon.process.child.kill("SIGKILL");
    await daemon.process.ended;
    play({});
    await daemon.up();
    const after = await holds();
    expect(after.filter(({ runner }) => runner !== "claude")).toEqual(parked);
    expect(models.requests).toEqual([]);

    // Its time comes.
    await until("claude has worked on", async () => (await statusOf("claude")) === "completed" || undefined, SLOW);
    const [, again] = await startsOf("claude");
    expect(Date.parse(again ?? "")).toBeGreaterThanOrEqual(Date.parse(short?.until ?? ""));
    // A person lets them go on.
    expect(await daemon.passrail(["agent", "resume", "codex"])).toMatchObject({ code: 0 });
    for (const runner of ["gemini", "opencode"])
      expect((await daemon.call("POST", "/api/holds/lift", { body: { runner } })).status).toBe(200);
    for (const { cli } of [codex, gemini, opencode])
      await until(`${cli} has worked on`, async () => (await statusOf(cli)) === "completed" || undefined, SLOW);
    expect(await holds()).toEqual([]);

    play({ anthropic: { fail: claudePlan(HOURS) }, responses: { headers: chatgptUse(95, HOURS) } });
    await start();
    const both = await until("codex is near its limit", async () => atLeast(2, await holds()), SLOW);
    expect(both.map(({ runner, cause }) => `${runner} ${cause}`)).toEqual(["claude quota", "codex limit_near"]);
    await until("the ladder has done it", async () => (await statusOf("codex")) === "completed" || undefined, SLOW);
    expect(await movesOf("codex")).toEqual(["claude codex"]);
    // A session of its own: nothing was moved in the middle of one.
    const first = models.requests.find(({ conversation }) => conversation.protocol === "responses");
    expect(first).toMatchObject({ rule: "responses", turn: 0 });
  });
});

function settings(): JsonObject {
  const programs = [claude, codex, gemini, opencode].map((vendor) => {
    const { command, env } = programOf(vendor, dir, models.url);
    // A plan tells when its limit ends; a key does not.
    const { ANTHROPIC_API_KEY: _key, ...plan } = env;
    const login = vendor === claude ? { ...plan, CLAUDE_CODE_OAUTH_TOKEN: "sk-ant-oat01-of-nobody" } : env;
    // The daemon of these tests has another folder for settings, and programs would look for theirs there.
    return [vendor.cli, { command, env: { ...login, XDG_CONFIG_HOME: join(env["HOME"] ?? "", ".config") } }] as const;
  });
  return { runner: ["claude", "codex"], runners: Object.fromEntries(programs) };
}

type Protocol = "anthropic" | "responses" | "gemini" | "chat";

/** Every model lets the builder write a file and approve it; where a turn is given it begins with that. */
function play(turns: Partial<Record<Protocol, Turn>>): void {
  const args = { verdict: "APPROVE", summary: "Built." };
  models.play({
    rules: (["anthropic", "responses", "gemini", "chat"] as const).map((protocol) => ({
      id: protocol,
      match: { prompt: "# Builder", protocol },
      turns: [
        { do: [{ bash: "echo built > built.txt" }], ...turns[protocol] },
        { do: [{ mcp: { server: "passrail", tool: "submit_verdict", args } }] },
        { text: "Done." },
      ],
    })),
  });
}

async function start(agents?: Readonly<Record<string, string>>): Promise<void> {
  const what = { flow: "routed", title: "Build it", input: { "input.agent": "builder" }, workspace: "worktree" };
  const body = agents === undefined ? what : { ...what, agents };
  expect(await daemon.call("POST", "/api/runs", { body })).toMatchObject({ status: 201 });
}

type Held = { readonly runner: string; readonly cause: string; readonly since: string; readonly until: string };

async function holds(runner?: string): Promise<readonly Held[]> {
  const { text } = await daemon.call("GET", "/api/holds");
  const { holds: found } = JSON.parse(text) as { readonly holds: readonly Held[] };
  return found.filter((hold) => runner === undefined || hold.runner === runner);
}

function atLeast<T>(count: number, found: readonly T[]): readonly T[] | undefined {
  return found.length >= count ? found : undefined;
}

/** The last run whose last attempt this runner played. */
async function playedBy(runner: string) {
  const store = openForReading(daemon.home);
  try {
    for (const { id, status } of (await store?.listRuns({ limit: 10 })) ?? []) {
      const last = ((await store?.attempts(id)) ?? []).at(-1);
      if (last === undefined || attemptFacts(last).runner !== runner) continue;
      const events = (await store?.events({ after: 0, runId: id, limit: 1000 })) ?? [];
      return { status, events: events.map(({ event }) => event) };
    }
    return undefined;
  } finally {
    store?.close();
  }
}

const statusOf = async (runner: string): Promise<string | undefined> => (await playedBy(runner))?.status;

async function startsOf(runner: string): Promise<readonly string[]> {
  return ((await playedBy(runner))?.events ?? []).flatMap((event) =>
    event.type === "stage.started" && event.stage === "builder" ? [event.at] : [],
  );
}

async function movesOf(runner: string): Promise<readonly string[]> {
  return ((await playedBy(runner))?.events ?? []).flatMap((event) =>
    event.type === "stage.moved" ? [`${event.from} ${event.to}`] : [],
  );
}
