// What a monitoring system reads, over the real server; and the shipped dashboard shows only numbers that are there.

import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writeDiskUse } from "../../../src/app/retention/disk-note.ts";
import { shippedDir } from "../../../src/settings/site.ts";
import { type Served, serve } from "./served.ts";

let served: Served;
beforeEach(async () => {
  served = await serve();
});
afterEach(() => served.close());

async function scrape(): Promise<ReadonlyMap<string, number>> {
  const headers = { authorization: `Bearer ${served.operator}`, host: "127.0.0.1:4321" };
  const response = await served.app.request("http://127.0.0.1:4321/metrics", { headers });
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const lines = (await response.text()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))]),
  );
}

test("runs, what waits, programs over a limit, money and disk are numbers without titles", async () => {
  const { bench } = served;
  await bench.run("feature", {}, { title: "A secret title" });
  const now = Date.now();
  await bench.passrail.store.setHold({
    runner: "claude",
    account: "",
    cause: "quota",
    reason: "over",
    since: new Date(now).toISOString(),
    until: new Date(now + 3_600_000).toISOString(),
    runId: null,
    by: "engine",
  });
  const part = { measuredAt: new Date(now).toISOString(), files: 1, workspaces: 2, store: 3, logs: 4, other: 5 };
  writeDiskUse(bench.home, part);
  const found = await scrape();
  expect(Object.fromEntries(found)).toMatchObject({
    'passrail_info{version="0.0.0-test"}': 1,
    'passrail_runs{status="waiting"}': 1,
    'passrail_inbox_items{kind="gate"}': 1,
    'passrail_runner_held{runner="claude",cause="quota"}': 1,
    'passrail_disk_bytes{part="store"}': 3,
    passrail_attempts_working: 0,
    passrail_day_usd: 0,
  });
  expect([...found.keys()].join("\n")).not.toContain("secret title");
  const names = new Set([...found.keys()].map((key) => key.replace(/\{.*/u, "")));
  const shown = readFileSync(`${shippedDir}/deploy/grafana-dashboard.json`, "utf8");
  const asked = new Set(shown.match(/passrail_[a-z_]+/gu));
  expect([...asked].filter((name) => !names.has(name) && name !== "passrail_day_budget_usd")).toEqual([]);
  expect(asked.size).toBeGreaterThan(8);
});

test("a stranger learns nothing from it", async () => {
  expect(
    (await served.app.request("http://127.0.0.1:4321/metrics", { headers: { host: "127.0.0.1:4321" } })).status,
  ).toBe(401);
});
