// Live events of the real daemon with its own limits: many clients, some of which never read, while another process stores a thousand
// events a second.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openSqliteStore } from "../../../src/store/sqlite/open.ts";
import { after, changeOf, eventAt } from "../../../src/store/store.testsuite.ts";
import type { Store, StoredRun } from "../../../src/store/store.ts";
import { until } from "../../harness/until.ts";
import { type Running, startDaemon } from "./running.ts";

const READERS = 180;
const SILENT = 20;
const PER_COMMIT = 20;
const COMMITS_PER_SECOND = 50;
const SECONDS = 4;
const MEGABYTE = 1024 * 1024;

let daemon: Running;
let store: Store;
let stored: StoredRun;
beforeAll(async () => {
  daemon = await startDaemon();
  const args = ["run", "feature", "Talkative", "--agent", "*=outside", "--detach", "--json"];
  const { code, err } = await daemon.passrail(args);
  if (code !== 0) throw new Error(err);
  store = openSqliteStore({ file: join(daemon.home, "passrail.db") });
  stored = await until("it waits for approval", async () => {
    const [run] = await store.listRuns({ status: "waiting", limit: 1 });
    return run === undefined ? undefined : store.loadRun(run.id);
  });
});
afterAll(async () => {
  store.close();
  await daemon.close();
});

test("R16: of 200 clients of the daemon the 20 that never read are dropped within 30 s, in 64 MB; the others see each event once", async () => {
  const pid = daemon.process.child.pid ?? 0;
  const alone = socketsOf(pid);
  await warmUp();
  await until("all have gone", () => (socketsOf(pid) === alone ? true : undefined));
  const residentBefore = residentOf(pid);
  const crowd = openCrowd(READERS, SILENT);
  let resident = 0;
  const watching = setInterval(() => (resident = Math.max(resident, residentOf(pid) - residentBefore)), 50);
  try {
    expect(await line(crowd)).toBe("open");
    await until("all are there", () => (socketsOf(pid) === alone + READERS + SILENT ? true : undefined));
    const begunAt = performance.now();
    await flow(SECONDS);
    // How much the system takes for a client that does not read, before anybody can notice, differs between machines.
    const isSilentGone = async () => {
      await flow(0.5, COMMITS_PER_SECOND / 10);
      return socketsOf(pid) === alone + READERS ? true : undefined;
    };
    await until("the silent ones are dropped", isSilentGone, 45_000);
    expect(performance.now() - begunAt, "milliseconds until they were dropped").toBeLessThan(30_000);
    crowd.stdin?.write(String(await store.lastSeq()));
    expect(JSON.parse(await line(crowd)), "what the others saw wrongly").toEqual([]);
    expect(resident, "bytes resident").toBeLessThanOrEqual(64 * MEGABYTE);
  } finally {
    clearInterval(watching);
    crowd.kill("SIGKILL");
  }
}, 90_000);

/** A daemon that has worked before: what a program needs to run at all is not what its clients cost. */
async function warmUp(): Promise<void> {
  const few = openCrowd(10, 0);
  expect(await line(few)).toBe("open");
  await flow(1);
  few.kill("SIGKILL");
}

function openCrowd(readers: number, silent: number): ChildProcess {
  const program = fileURLToPath(new URL("../http-events/crowd.ts", import.meta.url));
  return spawn(process.execPath, [program, `${daemon.url}/api/events`, String(readers), String(silent)], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, CROWD_TOKEN: daemon.token },
  });
}

/** Events of one run, each worth a few sentences; a thousand a second if not said otherwise. */
async function flow(seconds: number, commitsPerSecond = COMMITS_PER_SECOND): Promise<void> {
  const message = "Something that is worth a sentence happened. ".repeat(20);
  const events = Array.from({ length: PER_COMMIT }, () =>
    eventAt(new Date().toISOString(), { type: "warning.raised", stage: "start", code: "noted", message }),
  );
  const since = performance.now();
  for (let commit = 0; commit < commitsPerSecond * seconds; commit += 1) {
    const change = changeOf(stored, events);
    const result = await store.commit(change);
    if (result.type !== "ok") throw new Error(`the commit ended as ${result.type}`);
    stored = after(change);
    const ahead = (commit * 1000) / commitsPerSecond - (performance.now() - since);
    if (ahead > 0) await new Promise((resolve) => setTimeout(resolve, ahead));
  }
}

function residentOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
}

function socketsOf(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((name) => {
    try {
      return readlinkSync(join(folder, name)).startsWith("socket:");
    } catch {
      // Closed since the folder was read.
      return false;
    }
  }).length;
}

async function line(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error("no stdout");
  const [chunk] = (await once(child.stdout, "data")) as [Buffer];
  return chunk.toString().trim();
}
