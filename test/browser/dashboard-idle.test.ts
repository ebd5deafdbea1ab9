// What a page that only follows costs the network: nearly nothing while the agent is silent, and little more than what it says otherwise.

import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { approveFiles } from "../harness/approve-files.ts";
import { until } from "../harness/until.ts";
import { isBrowserMissing } from "./browser.ts";
import { type CountingProxy, openCountingProxy } from "./counting-proxy.ts";
import { type Dashboard, DESKTOP, openDashboard } from "./dashboard.ts";

const LINE = "what an agent says while it works, and a little more than that";
const LINES = 4000;
const WATCHED_MS = 10_000;
const PER_MINUTE = 20 * 1024;

/** Says much at once, then what is written into a file for it. */
const TALKER = `
import { readFileSync } from "node:fs";
process.stdin.resume();
for (let at = 0; at < ${LINES}; at++) console.log(at + " ${LINE}");
let said = 0;
setInterval(() => {
  const lines = readFileSync(process.argv[2], "utf8").split("\\n").slice(0, -1);
  for (; said < lines.length; said++) console.log(lines[said]);
}, 100);
`;

describe.skipIf(isBrowserMissing())("following", () => {
  let dashboard: Dashboard;
  let proxy: CountingProxy;
  let number: number;
  let words: string;
  beforeAll(async () => {
    [dashboard, proxy] = await Promise.all([openDashboard(), openCountingProxy()]);
    const { daemon } = dashboard;
    const agent = join(daemon.dir, "talker.mjs");
    words = join(daemon.dir, "words.txt");
    writeFileSync(agent, TALKER);
    writeFileSync(words, "");
    const command = [process.execPath, agent, words];
    writeFileSync(join(daemon.project, "passrail.yaml"), JSON.stringify({ agents: { "*": { command } } }));
    approveFiles(daemon.home, daemon.project);
    const run = await dashboard.start("feature", "Talk");
    number = run.number;
    await dashboard.answer(run.id, "approve");
  }, 60_000);
  afterAll(async () => {
    proxy.close();
    await dashboard.daemon.call("POST", `/api/runs/${number}/cancel`, { body: { reason: "done" } });
    await dashboard.close();
  });

  test("the log of a silent agent costs at most 20 KB a minute, and a new line costs a line and not the file", async () => {
    const { context, page } = await dashboard.visit(`/runs/${number}?tab=log&file=output`, {
      ...DESKTOP,
      proxy: proxy.proxy,
      loadsAhead: true,
    });
    await page.getByText(`${LINES - 1} ${LINE}`).waitFor({ timeout: 30_000 });
    await isQuiet(page);
    const before = proxy.bytes();
    await sleep(WATCHED_MS);
    const idle = ((proxy.bytes() - before) / WATCHED_MS) * 60_000;
    if (idle > PER_MINUTE) throw new Error(`${idle} bytes a minute: ${proxy.asked().slice(-20).join(" ")}`);
    const quiet = proxy.bytes();
    for (let at = 0; at < 20; at++) {
      appendFileSync(words, `new ${at} ${LINE}\n`);
      await page.getByText(`new ${at} ${LINE}`).waitFor();
    }
    // The file has 280 KB by now; each of the lines is fetched and announced once, with the heads of its request.
    expect(proxy.bytes() - quiet).toBeLessThanOrEqual(20 * 4096);
    console.log(`idle: ${Math.round(idle)} bytes a minute; 20 new lines: ${proxy.bytes() - quiet} bytes`);
    await context.close();
  }, 90_000);
});

/** Everything is loaded ahead, and nothing has been asked for since a second. */
async function isQuiet(page: Page): Promise<void> {
  await page.locator("html[data-parts=loaded]").waitFor({ state: "attached", timeout: 60_000 });
  await until("the page is quiet", async () => {
    const before = (await page.evaluate("performance.getEntriesByType('resource').length")) as number;
    await sleep(1000);
    return (await page.evaluate("performance.getEntriesByType('resource').length")) === before ? true : undefined;
  });
}
