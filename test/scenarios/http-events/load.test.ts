// Many clients, some of which never read, while events flow. The limits are smaller than those of the product, so that seconds do.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { after, changeOf, eventAt, minute, newRun } from "../../../src/store/store.testsuite.ts";
import type { Store, StoredRun } from "../../../src/store/store.ts";
import { until } from "../../harness/until.ts";
import { openWorld } from "./world.ts";

const READERS = 180;
const SILENT = 20;
const PER_COMMIT = 20;
const COMMITS_PER_SECOND = 50;
const SECONDS = 3;
const MEGABYTE = 1024 * 1024;

test("R16: of 200 clients the 20 that never read are cut off with little in memory, the others see each event once", async () => {
  const limits = { stallMs: 1500, queueBytes: 256 * 1024, roundMs: 20 };
  const world = await openWorld({ limits });
  const { store, hub, sockets } = world;
  const created = newRun("a");
  await store.commit(created);
  const crowd = spawn(
    process.execPath,
    [fileURLToPath(new URL("./crowd.ts", import.meta.url)), world.url, String(READERS), String(SILENT)],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  try {
    expect(await line(crowd)).toBe("open");
    await until("all are there", () => (hub.stats().clients === READERS + SILENT ? true : undefined));
    const isSilentGone = () => hub.stats().clients === READERS;
    const most = { inSocket: 0, queued: 0, resident: 0 };
    const residentBefore = process.memoryUsage().rss;
    const watching = setInterval(() => {
      for (const socket of sockets) most.inSocket = Math.max(most.inSocket, socket.writableLength);
      most.queued = Math.max(most.queued, hub.stats().queuedBytes);
      most.resident = Math.max(most.resident, process.memoryUsage().rss - residentBefore);
    }, 5);
    await flow(store, after(created), () => hub.catchUp(), isSilentGone);
    crowd.stdin.write(String(await store.lastSeq()));
    expect(JSON.parse(await line(crowd))).toEqual([]);
    clearInterval(watching);
    expect(isSilentGone()).toBe(true);
    expect(most.inSocket + limits.queueBytes, "bytes for one client").toBeLessThanOrEqual(2 * MEGABYTE);
    expect(most.queued, "bytes in all queues").toBeLessThanOrEqual((READERS + SILENT) * limits.queueBytes);
    // About 55 in a quiet process; in one that has run other tests V8 collects later.
    expect(most.resident, "bytes resident").toBeLessThanOrEqual(96 * MEGABYTE);
  } finally {
    crowd.kill("SIGKILL");
    await world.close();
  }
});

/**
 * A thousand events a second. How much the system takes for a client that does not read, before anybody can notice, differs between
 * machines: it goes on until that is used up.
 */
async function flow(store: Store, start: StoredRun, onCommit: () => void, isEnough: () => boolean): Promise<void> {
  const message = "Something that is worth a sentence happened. ".repeat(20);
  const events = Array.from({ length: PER_COMMIT }, () =>
    eventAt(minute(1), { type: "warning.raised", stage: "analyst", code: "noted", message }),
  );
  let stored = start;
  const since = performance.now();
  for (let commit = 0; commit < COMMITS_PER_SECOND * SECONDS || !isEnough(); commit += 1) {
    const change = changeOf(stored, events);
    await store.commit(change);
    stored = after(change);
    onCommit();
    const ahead = (commit * 1000) / COMMITS_PER_SECOND - (performance.now() - since);
    if (ahead > 0) await new Promise((resolve) => setTimeout(resolve, ahead));
  }
}

async function line(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error("no stdout");
  const [chunk] = (await once(child.stdout, "data")) as [Buffer];
  return chunk.toString().trim();
}
