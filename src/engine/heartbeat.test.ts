import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Run } from "../core/run/run.ts";
import { openWorkbench, type Workbench } from "../../test/harness/workbench.ts";
import { until } from "../../test/harness/until.ts";
import { type Heartbeat, openHeartbeat } from "./heartbeat.ts";

let dir: string;
let bench: Workbench;
let now: string;
let beats: (() => void)[];
let heartbeat: Heartbeat;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "passrail-heartbeat-"));
  bench = await openWorkbench({ workspace: "in-place" });
  beats = [];
});
afterEach(async () => {
  await heartbeat?.close();
  await bench.close();
  rmSync(dir, { recursive: true, force: true });
});

const later = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();

function open(paces: number[] = []): Heartbeat {
  const { store, engine } = bench.passrail;
  return openHeartbeat({
    store,
    engine,
    clock: { now: () => now },
    tickMs: 60_000,
    stalledAfterMs: 30 * 60_000,
    onError: (_run, error) => void bench.errors.push(error),
    every: (ms, look) => {
      paces.push(ms);
      beats.push(look);
      return () => void beats.pop();
    },
  });
}

/** A builder that works until the file appears. */
async function silentRun(): Promise<Run> {
  const builder = [{ via: "text", text: "built", write: { "a.txt": "1" }, commit: true, hold: join(dir, "go") }];
  const run = await bench.run("routed", { builder }, { facts: { input: { agent: "builder" } }, wait: false });
  await until(
    "the builder works",
    async () => (await bench.load(run.id)).tracks["main"]?.at === "running" || undefined,
  );
  return run;
}

const stallsOf = async (run: Run) => (await bench.events(run.id)).filter(({ type }) => type === "run.stalled");

test("R-001-34: it looks at once, and then every 60 seconds", async () => {
  now = later(0);
  const paces: number[] = [];
  heartbeat = open(paces);
  expect(paces).toEqual([60_000]);
  const looked = await heartbeat.tick();
  expect(looked).toBeUndefined();
  expect(bench.errors).toEqual([]);
});

test("R-001-35: a run that works without any event for 30 minutes is stalled: one event, one notice, and it goes on", async () => {
  const run = await silentRun();
  now = later(29);
  heartbeat = open();
  await heartbeat.tick();
  expect(await stallsOf(run)).toEqual([]);
  now = later(31);
  await heartbeat.tick();
  await heartbeat.tick();
  const [stalled, ...more] = await stallsOf(run);
  expect(stalled).toMatchObject({ type: "run.stalled", since: expect.stringMatching(/Z$/u) });
  expect(more).toEqual([]);
  await until("the notice", async () => bench.notices.some(({ event }) => event === "stalled") || undefined);
  expect((await bench.load(run.id)).word).toBe("stalled");
  // The same silence counts once, also for the next process and hours later.
  await heartbeat.close();
  now = later(600);
  heartbeat = open();
  await heartbeat.tick();
  expect(await stallsOf(run)).toHaveLength(1);
  expect(bench.notices.filter(({ event }) => event === "stalled")).toHaveLength(1);
  expect((await bench.load(run.id)).status).toBe("running");
});

test("R-001-35: an agent that shows something is not stalled; a run that waits for a person is not either", async () => {
  const run = await silentRun();
  now = later(29);
  heartbeat = open();
  heartbeat.onAgentEvent?.({ run, stage: "builder", attempt: 1, agent: "builder" }, { type: "message", text: "hm" });
  now = later(45);
  await heartbeat.tick();
  expect(await stallsOf(run)).toEqual([]);
  now = later(60);
  await heartbeat.tick();
  expect(await stallsOf(run)).toHaveLength(1);
  const waiting = await bench.run("feature", {}, { subject: "F-2", wait: false });
  now = later(600);
  await heartbeat.tick();
  expect(await stallsOf(waiting)).toEqual([]);
});
