// A shift of the real engine on a real store file: its end by time and by money, its report, and a restart in between.

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { findNightReport } from "../../../src/app/night-report.ts";
import { createUseCases } from "../../../src/app/use-cases.ts";
import { NO_BUDGETS } from "../../../src/core/budget/budget.ts";
import type { ShiftWish } from "../../../src/core/budget/shift.ts";
import { openShift, type ShiftWatch } from "../../../src/daemon/shift.ts";
import type { Notice } from "../../../src/notify/notify.ts";
import { flowOf, openScripted, type Scripted } from "../../harness/scripted-engine.ts";

const HOUR = 3_600_000;
const FLOW = flowOf([
  { id: "plan", agent: "planner" },
  { id: "build", agent: "builder" },
]);

let scripted: Scripted;
let watch: ShiftWatch | undefined;
let held = Promise.withResolvers<void>();
const notices: Notice[] = [];
afterEach(async () => {
  await watch?.close();
  await scripted.close();
  rmSync(scripted.home, { recursive: true, force: true });
  notices.length = 0;
});

async function openNight(): Promise<void> {
  held = Promise.withResolvers();
  scripted = await openScripted({
    metered: () => ({ runner: "claude", model: "opus", reserveUsd: 2, reserveTokens: 9 }),
    agent: async ({ stage }) => {
      if (stage.id === "plan") await held.promise;
      const usage = { usd: 2, inputTokens: 1, outputTokens: 1, cachedTokens: 0 };
      return { structured: true, verdict: "pass", usage: { runner: "claude", model: "opus", usage } };
    },
  });
}

const appOf = () =>
  createUseCases({
    engine: scripted.engine,
    store: scripted.store,
    now: () => scripted.now(),
    planRun: () => Promise.reject(new Error("not needed here")),
    budgets: () => NO_BUDGETS,
    commitOf: async () => null,
    programs: {},
    renewing: { settings: () => Promise.reject(new Error("not needed here")), environment: {} },
    withdrawnTrust: () => undefined,
  });

async function begin(wish: ShiftWish | null): Promise<void> {
  await watch?.close();
  const { store } = scripted;
  const opened = await openShift({
    home: scripted.home,
    wish,
    person: "human:t",
    app: appOf(),
    store,
    now: () => scripted.now(),
    notifier: { notify: async (notice) => notices.push(notice) > 0 },
    report: (since) =>
      findNightReport(
        {
          store,
          looseEnds: async () => ({ ends: [], unseen: 0 }),
          tickets: async () => undefined,
          commitOf: async () => null,
          now: () => scripted.now(),
        },
        since,
      ),
    log: () => undefined,
    onError: (error) => scripted.errors.push(error),
  });
  if (!opened.ok) throw new Error(opened.error.message);
  watch = opened.value;
}

const inHours = (hours: number): string => new Date(Date.parse(scripted.now()) + hours * HOUR).toISOString();

test("after its time nothing starts, running attempts finish, the report goes out once, and the next shift goes on", async () => {
  await openNight();
  await begin({ until: inHours(8) });
  await scripted.start("a", FLOW);
  await scripted.start("mine", FLOW);
  await scripted.until("a", "plans", ({ tracks }) => Object.values(tracks).some(({ at }) => at === "running"));
  await appOf().controlRun("mine", { type: "pause", reason: "not tonight" }, { actor: "human:t" });
  await scripted.advance(9 * HOUR);
  await watch?.look();
  expect(notices).toEqual([]);
  expect(await appOf().lookAtPause()).toMatchObject({ by: "system", reason: expect.stringContaining("shift ended") });
  held.resolve();
  await scripted.until("a", "has its plan", ({ stages }) => stages["plan"]?.last !== undefined);
  await watch?.look();
  expect(notices).toMatchObject([{ event: "report", to: "owner", text: expect.stringContaining("2 not finished") }]);
  expect(notices[0]?.text).toContain("$4.00");
  expect((await scripted.store.attempts("a")).map(({ stage, status }) => [stage, status])).toEqual([
    ["plan", "done"],
    ["build", "ready"],
  ]);

  await watch?.close();
  await scripted.restart();
  await begin(null);
  await watch?.look();
  expect(notices).toHaveLength(1);
  expect((await scripted.load("a")).paused).toBe(true);

  await begin({ until: inHours(8) });
  await scripted.until("a", "is completed", ({ status }) => status === "completed");
  expect((await scripted.load("mine")).paused).toBe(true);
});

test("its money is counted from its beginning, also over a restart; what ended while nobody looked ends at the start", async () => {
  await openNight();
  held.resolve();
  await begin({ until: inHours(8), usd: 5 });
  await scripted.start("a", FLOW);
  await scripted.until("a", "is completed", ({ status }) => status === "completed");
  await watch?.look();
  expect(await appOf().lookAtPause()).toBeNull();
  await watch?.close();
  await scripted.restart();
  await scripted.start("b", FLOW);
  await scripted.until("b", "is completed", ({ status }) => status === "completed");
  await begin({ until: inHours(8), usd: 5 });
  expect(await appOf().lookAtPause()).toMatchObject({ reason: expect.stringContaining("$5.00 is used up ($8.00") });
  expect(notices).toMatchObject([{ text: expect.stringContaining("because the shift's budget of $5.00") }]);

  const file = join(scripted.home, "shift.json");
  const stored = readFileSync(file, "utf8");
  writeFileSync(file, stored.slice(0, 20));
  await expect(begin(null)).rejects.toThrow("cannot be read");
  await begin({ until: null });
  writeFileSync(file, stored);
});
