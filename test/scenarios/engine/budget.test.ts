// Budgets that hold: reserved before the start, settled by what was told, kept over crashes, and raised by people only.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type Budgets, NO_BUDGETS, type ReportedUsage } from "../../../src/core/budget/budget.ts";
import type { Report } from "../../../src/core/flow/outcome.ts";
import { reachedIn } from "../../../src/core/budget/room.ts";
import { openItems, type Run } from "../../../src/core/run/run.ts";
import { METERED_DRIVER } from "../../harness/program.ts";
import {
  flowOf,
  openScripted,
  type Scripted,
  type ScriptedJob,
  type ScriptedOptions,
} from "../../harness/scripted-engine.ts";
import { storeEnvironment } from "../../harness/test-store.ts";

let scripted: Scripted;
const folders: string[] = [];
afterEach(async () => {
  await scripted.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const metered = () => ({ runner: "claude", model: "opus", reserveUsd: 1, reserveTokens: 1000 });
const budgets = (change: Partial<Budgets>) => (): Budgets => ({ ...NO_BUDGETS, ...change });
const usd = (limit: number) => ({ usd: limit, tokens: null });
const told = (cost: number | null, tokens: number | null = 100): ReportedUsage => ({
  runner: "claude",
  model: "opus-4",
  usage: { usd: cost, inputTokens: tokens, outputTokens: tokens === null ? null : 10, cachedTokens: null },
});
const costing = (cost: number | null): Report => ({ structured: true, verdict: "pass", usage: told(cost) });

/** Attempts that work until they are let go. */
function gated() {
  const jobs: { job: ScriptedJob; finish: (report: Report) => void }[] = [];
  const agent = (job: ScriptedJob): Promise<Report> =>
    new Promise((finish) => {
      jobs.push({ job, finish });
      job.signal.addEventListener("abort", () => finish({ cause: "canceled" }));
    });
  return { jobs, agent };
}

async function open(options: Partial<ScriptedOptions> = {}): Promise<void> {
  scripted = await openScripted({ agent: () => costing(0.5), metered, ...options });
}

const isWaiting = (run: Run): boolean => run.status === "waiting";
const isDone = (run: Run): boolean => run.status === "completed";
const ids = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `r${index}`);

test("ten attempts are ready at once and the day's budget is for three: three start, seven wait for a person", async () => {
  const { jobs, agent } = gated();
  await open({ agent, budgets: budgets({ day: usd(3) }) });
  await Promise.all(ids(10).map((id) => scripted.start(id)));
  await scripted.engine.catchUp();
  const runs = await Promise.all(ids(10).map((id) => scripted.load(id)));
  expect(runs.filter(isWaiting)).toHaveLength(7);
  expect(jobs).toHaveLength(3);
  const waiting = runs.find(isWaiting);
  expect(openItems(waiting as Run)).toEqual([
    {
      kind: "budget",
      number: 1,
      stage: "build",
      who: "owner",
      openedAt: "2026-01-01T12:00:00.000Z",
      scope: "day",
      key: "2026-01-01",
      unit: "usd",
      used: 3,
      limit: 3,
      needed: 1,
      size: 3,
      attempt: 1,
    },
  ]);
  expect((await scripted.store.inbox()).filter(({ item }) => item.kind === "budget")).toHaveLength(7);
  for (const { finish } of jobs) finish(costing(0.25));
  await scripted.engine.idle();
  expect(await scripted.store.spending({ by: "day" })).toMatchObject([{ attempts: 3, usd: 0.75, unknownUsd: 0 }]);
});

test("what a working attempt has used is known at once, is kept with it, and is no event of the run", async () => {
  const { jobs, agent } = gated();
  const heard: unknown[] = [];
  await open({ agent, onUsage: ({ run, stage, attempt }, usage) => heard.push([run.id, stage, attempt, usage]) });
  await scripted.start("r1");
  await expect.poll(() => jobs.length).toBe(1);
  const before = (await scripted.types("r1")).length;
  // Many reports in a row are told once now, and the last of them a moment later.
  for (const cost of [0.1, 0.2, 0.3]) jobs[0]?.job.spent(told(cost));
  await expect
    .poll(() => heard, { timeout: 30_000 })
    .toEqual([
      ["r1", "build", 1, told(0.1).usage],
      ["r1", "build", 1, told(0.3).usage],
    ]);
  const [row] = await scripted.store.attempts("r1");
  expect(row).toMatchObject({ status: "running", facts: { usage: told(0.3).usage, model: "opus-4" } });
  expect((await scripted.types("r1")).length).toBe(before);
  jobs[0]?.finish(costing(0.4));
  await scripted.until("r1", "is completed", isDone);
  expect(await scripted.store.spending({ by: "run" })).toMatchObject([{ usd: 0.4 }]);
});

/** An agent's program as a carrier watches it: it works until its room ends, and says so. */
function spending() {
  const jobs: { job: ScriptedJob; spend: (cost: number) => void }[] = [];
  const agent = (job: ScriptedJob): Promise<Report> =>
    new Promise((finish) => {
      let cost = 0;
      const stopAtLimit = (): void => {
        const reached = reachedIn(job.room(), told(cost).usage);
        if (reached === undefined) return;
        clearInterval(timer);
        finish({ cause: "over_budget", reason: "stopped", reached, usage: told(cost) });
      };
      // Its room may end because of others.
      const timer = setInterval(stopAtLimit, 10);
      const spend = (more: number): void => {
        cost = Math.round((cost + more) * 1e6) / 1e6;
        job.spent(told(cost));
        stopAtLimit();
      };
      jobs.push({ job, spend });
      job.signal.addEventListener("abort", () => {
        clearInterval(timer);
        finish({ cause: "canceled", usage: told(cost) });
      });
    });
  return { jobs, agent };
}

test("a limit that is reached in the middle of the work ends the attempt; after a raise the next one goes on from there", async () => {
  const { jobs, agent } = spending();
  await open({ agent, budgets: budgets({ run: usd(2) }) });
  await scripted.start("r1");
  await expect.poll(() => jobs.length).toBe(1);
  jobs[0]?.spend(1.5);
  expect((await scripted.load("r1")).status).toBe("running");
  jobs[0]?.spend(0.75);
  const waiting = await scripted.until("r1", "waits", isWaiting);
  expect(openItems(waiting)).toMatchObject([
    { kind: "budget", scope: "run", unit: "usd", used: 2.25, limit: 2, size: 2, needed: 1, attempt: 2, stopped: true },
  ]);
  expect(await scripted.store.spending({ by: "run" })).toMatchObject([{ attempts: 1, usd: 2.25, unknownUsd: 0 }]);
  // The flow is not asked what to do about it, and no counter changes.
  const types = await scripted.types("r1");
  const after = ["stage.finished", "usage.recorded", "stage.ready", "budget.reached", "run.waiting"];
  expect(types.slice(-after.length)).toEqual(after);
  expect(await scripted.answer("r1", "budget", "raise", "2 usd")).toBeUndefined();
  await expect.poll(() => jobs.length).toBe(2);
  expect(jobs[1]?.job.carry.cutOff).toContain("the run's budget of $2.00 is used up ($2.25)");
  // What was spent before counts: two and a quarter of four are gone.
  expect(jobs[1]?.job.room()).toMatchObject([{ unit: "usd", limit: 4, left: 1.75 }]);
  jobs[1]?.spend(1.75);
  const again = await scripted.until("r1", "waits again", isWaiting);
  expect(openItems(again)).toMatchObject([{ used: 4, limit: 4, attempt: 3 }]);
  expect(await scripted.answer("r1", "budget", "stop")).toBeUndefined();
  expect((await scripted.load("r1")).status).toBe("stopped");
});

test("two attempts at work share the run's room: what one uses beyond its reservation is missing for the other", async () => {
  const track = (name: string) => ({ stages: [{ id: `${name}-work`, agent: name }] });
  const fork = flowOf([{ id: "both", kind: "parallel", join: "all-passed", tracks: { a: track("a"), b: track("b") } }]);
  const { jobs, agent } = spending();
  await open({ agent, budgets: budgets({ run: usd(5) }) });
  await scripted.start("r1", fork);
  await expect.poll(() => jobs.length).toBe(2);
  // One dollar is put aside for each: four are left to each of them.
  await expect.poll(() => jobs.map(({ job }) => job.room()[0]?.left)).toEqual([4, 4]);
  jobs[0]?.spend(3);
  await expect.poll(() => jobs.map(({ job }) => job.room()[0]?.left), { timeout: 30_000 }).toEqual([4, 2]);
  jobs[1]?.spend(1.5);
  await expect.poll(() => jobs[0]?.job.room()[0]?.left, { timeout: 30_000 }).toBe(3.5);
  jobs[1]?.spend(0.5);
  const run = await scripted.until("r1", "one of them waits", (each) => openItems(each).length > 0);
  expect(openItems(run)).toMatchObject([{ stage: jobs[1]?.job.stage.id, used: 5, limit: 5 }]);
  jobs[0]?.spend(0);
  const both = await scripted.until("r1", "both wait", isWaiting);
  expect(openItems(both)).toHaveLength(2);
  expect(both.spent).toMatchObject({ attempts: 2, usd: 5, unknownUsd: 0 });
});

test("what a working attempt has used beyond its reservation leaves less room for the next start", async () => {
  const { jobs, agent } = spending();
  await open({ agent, budgets: budgets({ day: usd(4) }) });
  await scripted.start("r1");
  await expect.poll(() => jobs.length).toBe(1);
  jobs[0]?.spend(3.5);
  await scripted.start("r2");
  const waiting = await scripted.until("r2", "waits", isWaiting);
  expect(openItems(waiting)).toMatchObject([{ kind: "budget", scope: "day", used: 3.5, limit: 4, needed: 1 }]);
  jobs[0]?.spend(0.5);
  await scripted.until("r1", "waits", isWaiting);
  expect(await scripted.store.spending({ by: "day" })).toMatchObject([{ usd: 4 }]);
});

test("the tracks of one run and attempts that waited for a slot cannot overshoot either", async () => {
  const track = (name: string) => ({ stages: [{ id: `${name}-work`, agent: name }] });
  const fork = flowOf([
    { id: "both", kind: "parallel", join: "all-passed", tracks: { a: track("a"), b: track("b"), c: track("c") } },
  ]);
  const { jobs, agent } = gated();
  await open({ agent, slots: 1, budgets: budgets({ run: usd(2) }) });
  await scripted.start("r1", fork);
  for (const count of [1, 2]) {
    await expect.poll(() => jobs.length).toBe(count);
    jobs.at(-1)?.finish(costing(1));
  }
  const run = await scripted.until("r1", "waits", isWaiting);
  expect(jobs).toHaveLength(2);
  expect(openItems(run)).toMatchObject([{ kind: "budget", stage: "c-work", used: 2, limit: 2 }]);
  expect(run.spent).toEqual({ attempts: 2, usd: 2, unknownUsd: 0, tokens: 220, unknownTokens: 0 });
});

test("a start without room costs no further commit, and a raise goes on with the same attempt and handoff", async () => {
  await open({ budgets: budgets({ run: usd(1.2) }) });
  await scripted.start(
    "r1",
    flowOf([
      { id: "plan", agent: "planner" },
      { id: "build", agent: "builder" },
    ]),
  );
  const waiting = await scripted.until("r1", "waits", isWaiting);
  // Four fifths were used when the first stage started; that is told when there is time for it.
  const all = (await scripted.types("r1")).filter((type) => type !== "budget.warned");
  expect(all.slice(all.indexOf("stage.finished"))).toEqual([
    "stage.finished",
    "usage.recorded",
    "handoff.created",
    "stage.ready",
    "budget.reached",
    "run.waiting",
  ]);
  expect(waiting.tracks["main"]).toMatchObject({
    at: "waiting",
    carry: { handoff: 1 },
    item: { used: 0.5, limit: 1.2 },
  });
  expect(await scripted.answer("r1", "budget", "raise", "a lot")).toContain("is no amount in usd");
  expect(await scripted.answer("r1", "budget", "raise", "500 tokens")).toContain("is no amount in usd");
  expect(await scripted.answer("r1", "budget", "more")).toContain("raise, stop");
  expect(await scripted.answer("r1", "budget", "raise", "0.4 usd")).toBeUndefined();
  const done = await scripted.until("r1", "is completed", isDone);
  expect(done.raised).toEqual([{ scope: "run", key: "r1", usd: 0.4, tokens: 0 }]);
  expect((await scripted.store.attempts("r1")).map(({ stage, attempt, status }) => [stage, attempt, status])).toEqual([
    ["plan", 1, "done"],
    ["build", 1, "done"],
  ]);
  expect((await scripted.store.handoffs("r1")).map(({ state }) => state)).toEqual(["done"]);
});

test("a raise without an amount is as large as the limit; an agent cannot raise; stopping stops, and a retry asks again", async () => {
  await open({ budgets: budgets({ ticket: usd(0.5) }) });
  await scripted.start("r1");
  const run = await scripted.until("r1", "waits", isWaiting);
  const number = openItems(run)[0]?.number ?? 0;
  const raise = { type: "item.answered", number, kind: "budget", answer: "raise", text: "" } as const;
  for (const actor of ["engine", "agent:builder"] as const)
    expect((await scripted.engine.deliver("r1", raise, actor)).ignored).toBe("only a person can do this");
  expect(await scripted.answer("r1", "budget", "stop")).toBeUndefined();
  const stopped = await scripted.until("r1", "stops", ({ status }) => status === "stopped");
  expect(stopped).toMatchObject({ reason: expect.stringContaining("the ticket's budget of $0.50 has $0.50 left") });
  await scripted.engine.deliver("r1", { type: "retry.requested", note: "" }, "human:t");
  await scripted.until("r1", "waits again", isWaiting);
  await scripted.answer("r1", "budget", "raise");
  await scripted.until("r1", "is completed", isDone);
  expect((await scripted.load("r1")).raised).toMatchObject([{ scope: "ticket", usd: 0.5 }]);
});

test("what waits for a budget can be retried, skipped and canceled without a trace left open", async () => {
  await open({ budgets: budgets({ run: usd(1.2) }) });
  const flow = flowOf([
    { id: "plan", agent: "planner" },
    { id: "build", agent: "builder" },
  ]);
  for (const id of ["r1", "r2"]) await scripted.start(id, flow);
  for (const id of ["r1", "r2"]) await scripted.until(id, "waits", isWaiting);
  await scripted.engine.deliver("r1", { type: "skip.requested", reason: "dear" }, "human:t");
  expect((await scripted.until("r1", "is completed", isDone)).status).toBe("completed");
  await scripted.engine.deliver("r2", { type: "cancel.requested", reason: "dear" }, "human:t");
  expect(await scripted.store.inbox()).toEqual([]);
  expect((await scripted.store.attempts("r2")).map(({ status }) => status)).toEqual(["done", "canceled"]);
  expect((await scripted.store.handoffs("r2")).map(({ state }) => state)).toEqual(["withdrawn"]);
});

test("from four fifths of a limit on a person is warned, once per limit", async () => {
  await open({ budgets: budgets({ run: usd(2.5) }), agent: () => costing(0.6) });
  const stages = ["a", "b", "c", "d"].map((id) => ({ id, agent: id }));
  await scripted.start("r1", flowOf(stages));
  await scripted.until("r1", "waits", isWaiting);
  await scripted.engine.catchUp();
  const warned = async () => (await scripted.types("r1")).filter((type) => type === "budget.warned").length;
  await expect.poll(warned).toBe(1);
  expect((await scripted.load("r1")).warned).toEqual([{ scope: "run", key: "r1", unit: "usd", limit: 2.5 }]);
  await scripted.answer("r1", "budget", "raise", "0.3");
  await scripted.until("r1", "is completed", isDone);
  // A higher limit is another one.
  await expect.poll(warned).toBe(2);
});

test("what is put aside comes from the agent's last attempts once there are some", async () => {
  const costs = [0.1, 0.2, 0.3, 0.9];
  await open({ agent: () => costing(costs.shift() ?? 5), budgets: budgets({ day: usd(2) }) });
  for (const id of ids(4)) {
    await scripted.start(id);
    await scripted.until(id, "is completed", isDone);
  }
  const reserved = async (id: string) =>
    (await scripted.store.events({ after: 0, runId: id, limit: 100 })).flatMap(({ event }) =>
      event.type === "stage.started" ? [event.reserved?.usd] : [],
    );
  expect([await reserved("r0"), await reserved("r2"), await reserved("r3")]).toEqual([[1], [1], [0.3]]);
  // 1.5 of 2 is used and 0.9 would be needed.
  await scripted.start("last");
  const run = await scripted.until("last", "waits", isWaiting);
  expect(openItems(run)).toMatchObject([{ used: 1.5, needed: 0.9 }]);
});

test("unknown cost is never 0: what was put aside stays booked, tokens are counted, and the run says how often", async () => {
  await open({ agent: () => costing(null), budgets: budgets({ run: { usd: 2.5, tokens: 5000 } }) });
  await scripted.start("r1", flowOf(["a", "b", "c"].map((id) => ({ id, agent: id }))));
  const run = await scripted.until("r1", "waits", isWaiting);
  expect(run.spent).toEqual({ attempts: 2, usd: 0, unknownUsd: 2, tokens: 220, unknownTokens: 0 });
  expect(openItems(run)).toMatchObject([{ unit: "usd", used: 2, needed: 1 }]);
  expect(await scripted.store.spending({ by: "run", runId: "r1" })).toMatchObject([
    { usd: 0, unknownUsd: 2, assumedUsd: 2, inputTokens: 200, outputTokens: 20 },
  ]);
});

test("a limit of tokens holds by itself", async () => {
  await open({ budgets: budgets({ run: { usd: null, tokens: 1100 } }) });
  await scripted.start("r1", flowOf(["a", "b"].map((id) => ({ id, agent: id }))));
  const run = await scripted.until("r1", "waits", isWaiting);
  expect(openItems(run)).toMatchObject([{ unit: "tokens", used: 110, limit: 1100, needed: 1000, stage: "b" }]);
  await scripted.answer("r1", "budget", "raise", "200000 tokens");
  await scripted.until("r1", "is completed", isDone);
});

test("a canceled attempt that told what it used is settled after the end of its run; one that did not stays booked", async () => {
  const { jobs, agent } = gated();
  await open({ agent });
  for (const id of ["r1", "r2"]) await scripted.start(id);
  jobs[0]?.job.spent(told(0.25));
  jobs[0]?.job.spent(told(0.75));
  for (const id of ["r1", "r2"])
    await scripted.engine.deliver(id, { type: "cancel.requested", reason: "enough" }, "human:t");
  await scripted.engine.idle();
  expect((await scripted.types("r1")).slice(-3)).toEqual(["run.canceled", "status.changed", "usage.recorded"]);
  expect((await scripted.load("r1")).spent).toMatchObject({ attempts: 1, usd: 0.75 });
  expect(await scripted.store.spending({ by: "run" })).toMatchObject([
    { key: "r2", usd: 0, unknownUsd: 1, assumedUsd: 1 },
    { key: "r1", usd: 0.75, unknownUsd: 0, assumedUsd: 0 },
  ]);
});

test("an engine that is closed keeps what its attempts told; the attempt itself starts again", async () => {
  const { jobs, agent } = gated();
  await open({ agent, budgets: budgets({ run: usd(1.5) }) });
  await scripted.start("r1");
  await expect.poll(() => jobs.length).toBe(1);
  jobs[0]?.job.spent(told(0.75));
  await scripted.restart();
  const run = await scripted.until("r1", "waits", isWaiting);
  expect(run.spent).toMatchObject({ usd: 0.75 });
  expect(openItems(run)).toMatchObject([{ attempt: 2, used: 0.75, needed: 1, limit: 1.5 }]);
});

test("an attempt whose program was never there costs nothing", async () => {
  await open({
    agent: () => ({ cause: "agent_not_found", reason: "no such program" }),
    budgets: budgets({ run: usd(1) }),
  });
  await scripted.start("r1");
  await scripted.until("r1", "stops", ({ status }) => status === "stopped");
  await scripted.engine.deliver("r1", { type: "retry.requested", note: "" }, "human:t");
  await scripted.until("r1", "is tried again", (run) => run.stages["build"]?.attempts === 2);
  await scripted.engine.idle();
  expect(await scripted.store.spending({ by: "run" })).toMatchObject([{ attempts: 2, usd: 0, unknownUsd: 0 }]);
});

test("stages that are not metered reserve nothing, whatever the budgets", async () => {
  await open({
    metered: () => null,
    agent: () => ({ structured: true, verdict: "pass" }),
    budgets: budgets({ day: usd(0) }),
  });
  await scripted.start("r1");
  await scripted.until("r1", "is completed", isDone);
  expect(await scripted.store.spending({ by: "day" })).toEqual([]);
});

test("an engine that is killed between the start and the end leaves what was put aside booked, and the next one counts it", async () => {
  const home = mkdtempSync(join(tmpdir(), "passrail-budget-"));
  folders.push(home);
  const env = { ...process.env, ...(await storeEnvironment(home)) };
  for (const _ of ["first", "second"])
    expect(spawnSync(process.execPath, [METERED_DRIVER, home], { env }).signal).toBe("SIGKILL");
  await open({ home, budgets: budgets({ run: usd(4.5) }) });
  const run = await scripted.until("r1", "waits", isWaiting);
  expect((await scripted.store.attempts("r1")).map(({ status }) => status)).toEqual([
    "interrupted",
    "interrupted",
    "ready",
  ]);
  expect(run.stages["build"]).toMatchObject({ interruptions: 2 });
  expect(openItems(run)).toMatchObject([{ used: 4, needed: 1, limit: 4.5 }]);
  expect(await scripted.store.spending({ by: "run" })).toMatchObject([
    { attempts: 2, usd: 0, unknownUsd: 2, assumedUsd: 4 },
  ]);
  await scripted.answer("r1", "budget", "raise", "$1");
  await scripted.until("r1", "is completed", isDone);
  expect((await scripted.store.spending({ by: "run" }))[0]).toMatchObject({ attempts: 3, usd: 0.5, assumedUsd: 4 });
});
