// Attempts in processes of their own: they outlive the daemon, the next one adopts them, and what they reported meanwhile counts once. The
// agent is a program that notes each of its starts, and works until a file appears.

import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { attemptFacts } from "../../../src/core/attempt-facts.ts";
import type { RunEvent } from "../../../src/core/run/event.ts";
import { isAlive } from "../../../src/runner/process/process-table.ts";
import { openForReading } from "../../harness/open-for-reading.ts";
import { until } from "../../harness/until.ts";
import { type Running, startDaemonWith } from "./running.ts";

let daemon: Running;
let go: string;
let starts: string;

beforeEach(async () => {
  daemon = await startDaemonWith({ attempts: { process: "own" } });
  go = join(daemon.dir, "go");
  starts = join(daemon.dir, "starts");
});
afterEach(async () => {
  await daemon.passrail(["down", "--stop-agents"]);
  await daemon.close();
});

/** A run whose only agent works until it may go on. */
async function startRun(): Promise<string> {
  const agent = daemon.player({ "*": [{ via: "json-tail", verdict: "COMPLETE", trace: starts, hold: go }] });
  const work = ["run", "routed", "Build it", "--input", "input.agent=builder", "--agent", `builder=${agent}`];
  expect(await daemon.passrail([...work, "--detach"])).toMatchObject({ code: 0 });
  await until("the agent works", () => (lines(starts).length > 0 ? true : undefined), 60_000);
  return "1";
}

function lines(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}

const begins = (): number => lines(starts).filter((line) => line.includes('"begin"')).length;

async function stored<T>(read: (store: NonNullable<ReturnType<typeof openForReading>>) => Promise<T>): Promise<T> {
  const store = openForReading(daemon.home);
  if (store === undefined) throw new Error("there is no store");
  try {
    return await read(store);
  } finally {
    store.close();
  }
}

const events = (): Promise<readonly RunEvent[]> =>
  stored(async (store) => (await store.events({ after: 0, limit: 1000 })).map(({ event }) => event));

const typesOf = async (): Promise<readonly string[]> => (await events()).map(({ type }) => type);

async function carrier(): Promise<{ readonly id: string; readonly pid: number; readonly startTime: string }> {
  return until("the store names the carrier", () =>
    stored(async (store) => {
      for (const run of await store.activeRuns())
        for (const record of await store.attempts(run)) {
          const { carrier: found, process } = attemptFacts(record);
          if (found !== null && process !== null) return found;
        }
      return undefined;
    }),
  );
}

async function untilDone(): Promise<void> {
  await until("the stage is finished", async () => ((await typesOf()).includes("stage.finished") ? true : undefined));
}

async function kill(): Promise<void> {
  daemon.process.child.kill("SIGKILL");
  await daemon.process.ended;
}

test("R-X-05, R11: an agent works on while its daemon is killed, and the next one adopts it", async () => {
  await startRun();
  const { pid, startTime } = await carrier();
  await kill();
  expect(isAlive({ pid, startTime })).toBe(true);
  await daemon.up();
  writeFileSync(go, "");
  await untilDone();
  expect(begins()).toBe(1);
  expect(await typesOf()).not.toContain("stage.interrupted");
  const [record] = await stored(async (store) => store.attempts((await store.listRuns({ limit: 1 }))[0]?.id ?? ""));
  expect(record).toMatchObject({ status: "done", attempt: 1 });
  expect(attemptFacts(record ?? { facts: {} })).toMatchObject({ ended: "exited", exitCode: 0 });
  await until("the carrier is gone", () => (isAlive({ pid, startTime }) ? undefined : true));
  // The daemon removes them a moment after the process has gone.
  const left = (): readonly string[] =>
    readdirSync(join(daemon.home, "carriers")).filter((name) => name !== "carriers.log");
  await until("nothing of the carrier is left", () => (left().length === 0 ? true : undefined));
});

test("R-X-05: a report that was finished while no daemon lived counts at the next start, once", async () => {
  await startRun();
  const { pid, startTime } = await carrier();
  await kill();
  writeFileSync(go, "");
  await until("the carrier has reported", () => (isAlive({ pid, startTime }) ? undefined : true));
  await daemon.up();
  await untilDone();
  await kill();
  await daemon.up();
  expect(begins()).toBe(1);
  const types = await typesOf();
  expect(types.filter((type) => type === "stage.finished" || type === "stage.interrupted")).toEqual(["stage.finished"]);
});

test("R-X-05, R-001-39: where the attempt's process was killed, too, its agent ends and the stage starts again", async () => {
  await startRun();
  const killed = await carrier();
  await kill();
  process.kill(killed.pid, "SIGKILL");
  await daemon.up();
  await until("it starts again", () => (begins() === 2 ? true : undefined));
  writeFileSync(go, "");
  await untilDone();
  expect((await typesOf()).filter((type) => type === "stage.interrupted")).toHaveLength(1);
});

test("R-X-05: an attempt whose process is killed under a living daemon is interrupted and starts again", async () => {
  await startRun();
  process.kill((await carrier()).pid, "SIGKILL");
  await until("it starts again", () => (begins() === 2 ? true : undefined));
  writeFileSync(go, "");
  await untilDone();
  expect((await typesOf()).filter((type) => type === "stage.interrupted")).toHaveLength(1);
});

test("down leaves agents at work and says so, down --stop-agents ends them, and both say what comes next", async () => {
  await startRun();
  const left = await carrier();
  const down = await daemon.passrail(["down"]);
  expect(down).toMatchObject({ code: 0, out: expect.stringContaining("1 agent works on; the next daemon adopts") });
  expect(isAlive(left)).toBe(true);
  expect((await daemon.passrail(["status"])).out).toContain("1 agent works on");
  await daemon.up();
  const stopped = await daemon.passrail(["down", "--stop-agents"]);
  expect(stopped.out).toMatch(/^Stopped \(process \d+\)\.$/mu);
  await until("the carrier is gone", () => (isAlive(left) ? undefined : true));
  expect(begins()).toBe(1);
  // What was ended counts as nothing: the stage starts again.
  await daemon.up();
  await until("it starts again", () => (begins() === 2 ? true : undefined));
  writeFileSync(go, "");
  await untilDone();
  expect((await typesOf()).filter((type) => type === "stage.interrupted")).toHaveLength(1);
});

test("R-X-05: a run that is canceled while no daemon lives takes its agent with it", async () => {
  const run = await startRun();
  const ended = await carrier();
  await kill();
  expect(await daemon.passrail(["runs", "cancel", run])).toMatchObject({ code: 0 });
  expect(isAlive(ended)).toBe(false);
  await daemon.up();
  expect(begins()).toBe(1);
  expect(await typesOf()).toContain("run.canceled");
});

test("S07, R20: after an older store is restored no attempt of the newer one is adopted, and its report never counts", async () => {
  const files = (): readonly string[] => readdirSync(daemon.home).filter((name) => name.startsWith("passrail.db"));
  await daemon.passrail(["down"]);
  for (const name of files()) copyFileSync(join(daemon.home, name), join(daemon.dir, `old-${name}`));
  await daemon.up();
  await startRun();
  const foreign = await carrier();
  await kill();
  for (const name of files()) if (name !== "passrail.db.mark") rmSync(join(daemon.home, name));
  for (const name of readdirSync(daemon.dir).filter((each) => each.startsWith("old-")))
    if (!name.endsWith(".mark")) copyFileSync(join(daemon.dir, name), join(daemon.home, name.slice(4)));
  await daemon.up();
  expect(isAlive(foreign)).toBe(false);
  expect(await typesOf()).toEqual([]);
});
