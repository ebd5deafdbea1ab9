// Limits of vendors with the four real agent CLIs and a real daemon that is killed meanwhile: a limit of a minute or of hours parks the stage, a
// killed daemon forgets none, the time or a person lets the work go on, and a ladder takes the next runner. One of two seconds is slept
// through: upgraded.test.ts. What else each program tells of its limits is in contract.testsuite.ts.

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
const MINUTE = 60;
const SLOW = 180_000;
/** A wait lasts up to a minute, and each look opens the store or asks the daemon. */
const SELDOM_MS = 250;
const VENDORS = [claude, codex, gemini, opencode];

let dir: string;
let models: FakeModels;
let daemon: Running;

beforeEach(async () => {
  seen.clear();
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
  test("R-X-05: a limit of hours parks each CLI, over a kill of the daemon, until a person lets it work; a limit of a minute parks it again, over a kill, until it ends; a ladder moves on", {
    timeout: 900_000,
  }, async () => {
    play(limitsFor(HOURS));
    await startAll();
    const parked = await until("all four are held", async () => atLeast(4, await holds()), SLOW, SELDOM_MS);
    for (const { cause, since, until: ends } of parked) {
      expect(cause).toBe("quota");
      expect(Date.parse(ends) - Date.parse(since)).toBeGreaterThan((HOURS - 120) * 1000);
      expect(Date.parse(ends)).toBeLessThan(Date.now() + (HOURS + 60) * 1000);
    }
    await killed();
    play(limitsFor(MINUTE));
    await daemon.up();
    expect(await holds()).toEqual(parked);
    expect(models.requests).toEqual([]);

    expect(await daemon.passrail(["agent", "resume", "codex"])).toMatchObject({ code: 0 });
    for (const runner of ["claude", "gemini", "opencode"])
      expect((await daemon.call("POST", "/api/holds/lift", { body: { runner } })).status).toBe(200);
    const again = await until(
      "all four are held again",
      async () => atLeast(4, await everHeld(parked)),
      SLOW,
      SELDOM_MS,
    );
    await killed();
    play({});
    const liftedAt = Date.now();
    await daemon.up();
    // One that began long ago on a busy machine may be over by now.
    const lasting = again.filter(({ until: ends }) => Date.parse(ends) > Date.now() + 1_000);
    expect(await holds()).toEqual(expect.arrayContaining(lasting));
    await allHaveWorked();
    for (const { runner, cause, since, until: ends } of again) {
      // These two count requests by the minute; the others were refused as a plan is.
      if (runner === "gemini" || runner === "opencode") expect([runner, cause]).toEqual([runner, "rate_limit"]);
      const [, , last, ...more] = await startsOf(runner);
      // One that was over before the others began was refused once more.
      if (Date.parse(ends) > liftedAt) expect({ runner, more }).toEqual({ runner, more: [] });
      expect(Date.parse(last ?? "")).toBeGreaterThanOrEqual(Date.parse(ends));
      // Codex tells whole minutes.
      expect(Date.parse(ends) - Date.parse(since)).toBeLessThanOrEqual((MINUTE + 61) * 1000);
    }
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
  const programs = VENDORS.map((vendor) => {
    const { command, env } = programOf(vendor, dir, models.url);
    // A plan tells when its limit ends; a key does not.
    const { ANTHROPIC_API_KEY: _key, ...plan } = env;
    const login = vendor === claude ? { ...plan, CLAUDE_CODE_OAUTH_TOKEN: "sk-ant-oat01-of-nobody" } : env;
    // The daemon of these tests has another folder for settings, and programs would look for theirs there.
    return [vendor.cli, { command, env: { ...login, XDG_CONFIG_HOME: join(env["HOME"] ?? "", ".config") } }] as const;
  });
  return { slots: VENDORS.length, runner: ["claude", "codex"], runners: Object.fromEntries(programs) };
}

type Protocol = "anthropic" | "responses" | "gemini" | "chat";

/** Each vendor's own refusal. */
function limitsFor(seconds: number): Record<Protocol, Turn> {
  return {
    anthropic: { fail: claudePlan(seconds) },
    responses: { fail: chatgptPlan(seconds) },
    gemini: { fail: googleQuota(seconds) },
    chat: { fail: inWords(seconds) },
  };
}

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

/** The slowest to begin first. */
async function startAll(): Promise<void> {
  for (const { cli } of VENDORS.toReversed()) await start({ "*": cli });
}

async function allHaveWorked(): Promise<void> {
  for (const { cli } of VENDORS)
    await until(
      `${cli} has worked on`,
      async () => (await statusOf(cli)) === "completed" || undefined,
      SLOW,
      SELDOM_MS,
    );
}

async function killed(): Promise<void> {
  daemon.process.child.kill("SIGKILL");
  await daemon.process.ended;
}

type Held = { readonly runner: string; readonly cause: string; readonly since: string; readonly until: string };

async function holds(runner?: string): Promise<readonly Held[]> {
  const { text } = await daemon.call("GET", "/api/holds");
  const { holds: found } = JSON.parse(text) as { readonly holds: readonly Held[] };
  return found.filter((hold) => runner === undefined || hold.runner === runner);
}

const seen = new Map<string, Held>();

/** Also one that is over already; not one of these. */
async function everHeld(before: readonly Held[]): Promise<readonly Held[]> {
  const earlier = new Set(before.map(({ runner, since }) => `${runner} ${since}`));
  for (const hold of await holds()) {
    if (earlier.has(`${hold.runner} ${hold.since}`) || seen.has(hold.runner)) continue;
    seen.set(hold.runner, hold);
  }
  return [...seen.values()];
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
