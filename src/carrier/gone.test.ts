// Carriers that were killed: the next engine learns what they noted without an engine, and waits for the git that they had started.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../test/harness/until.ts";
import type { CarrierIdentity, Carriers } from "../attempt/carriers.ts";
import { identify, isAlive, listProcesses } from "../runner/process/process-table.ts";
import { keptFile, writeKept } from "./kept-file.ts";
import { createCarriers, type CarriersOptions } from "./open.ts";

const PLACE = { runId: "r1", stage: "build", attempt: 1 };

let home: string;
let carriers: Carriers;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "passrail-gone-")));
  const settings = { programs: {}, passEnvironment: [], workspaces: {} } as unknown as CarriersOptions["settings"];
  const onError = (error: unknown): never => {
    throw error;
  };
  carriers = createCarriers({ home, environment: {}, settings, process: "own", incarnation: () => "store-1", onError });
});
afterEach(() => {
  carriers.close();
  rmSync(home, { recursive: true, force: true });
});

/** A process that leads a group, as a carrier does, and is killed while a child of its own works on. */
async function killed(child: string): Promise<CarrierIdentity> {
  const body = spawn("sh", ["-c", `${child} & echo; wait`], { stdio: ["ignore", "pipe", "ignore"], detached: true });
  await new Promise((resolve) => body.stdout.once("data", resolve));
  const pid = body.pid ?? 0;
  const identity = { id: "ef".repeat(12), pid, startTime: identify(pid) ?? "" };
  body.kill("SIGKILL");
  await until("it is dead", () => (isAlive(identity) ? undefined : true));
  return identity;
}

test("R-X-05: an engine learns what a killed carrier had noted without one; it is forgotten when it is stored", async () => {
  const identity = await killed("true");
  const spent = { usage: { usd: 1, inputTokens: null, outputTokens: null, cachedTokens: null } } as never;
  const notes = [{ process: { pid: 7 } }, { session: { id: "s" } }];
  writeKept(home, identity.id, "store-1", { notes, heard: [], spent });
  const found = await carriers.find(identity, PLACE);
  expect(found).toMatchObject({ type: "gone", notes, spent });
  // A crash before they are stored loses nothing: the next engine finds the same.
  expect(await carriers.find(identity, PLACE)).toMatchObject({ type: "gone", notes });
  if (found.type === "gone") found.forget();
  expect(existsSync(keptFile(home, identity.id))).toBe(false);
});

test("R-X-05: nothing is done about a killed carrier before the git that it had started has ended", async () => {
  const [goOn, done] = [join(home, "go-on"), join(home, "done")];
  const identity = await killed(`(until [ -e ${goOn} ]; do sleep 0.02; done; : > ${done})`);
  let isFound = false;
  const finding = carriers.find(identity, PLACE).then(() => (isFound = true));
  await delay(100);
  expect(isFound).toBe(false);
  writeFileSync(goOn, "");
  await finding;
  expect(existsSync(done)).toBe(true);
});

test.runIf(process.platform === "linux")(
  "R-X-05: after a restart of the machine a carrier is gone at once, whoever has its number now",
  async () => {
    const goOn = join(home, "go-on");
    const identity = await killed(`(until [ -e ${goOn} ]; do sleep 0.02; done)`);
    const startTime = identity.startTime.replace(/^[^:]+/u, "00000000-0000-4000-8000-000000000000");
    expect(await carriers.find({ ...identity, startTime }, PLACE)).toMatchObject({ type: "gone" });
    // The stranger's process was neither waited for nor ended.
    const isThere = () => listProcesses().some(({ groupId, dead }) => groupId === identity.pid && !dead);
    expect(isThere()).toBe(true);
    writeFileSync(goOn, "");
    // It looks for a file of a folder that is removed after this test.
    await until("the stranger has ended", () => (isThere() ? undefined : true));
  },
);
