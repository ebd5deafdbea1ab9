// What a page says about its own connection, and what it does when the daemon goes and comes back: nobody reloads anything here.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../harness/until.ts";
import { isBrowserMissing } from "./browser.ts";
import { type Dashboard, DESKTOP, itemOf, openDashboard } from "./dashboard.ts";

const SLOW = 150_000;

/** A phone at the edge of its net. */
const SLOW_NET = { offline: false, latency: 500, downloadThroughput: 150 * 1024, uploadThroughput: 50 * 1024 };

describe.skipIf(isBrowserMissing())("a page that stays open", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await openDashboard();
  }, SLOW);
  afterAll(() => dashboard.close());

  test(
    "R-000-35: the daemon is killed and started again under it, with a status mirror that does not answer: it says both, and goes on without a reload",
    async () => {
      const { daemon } = dashboard;
      const port = new URL(daemon.url).port;
      await dashboard.start("feature", "Before the end");
      const { context, page, seen } = await dashboard.visit("/", { ...DESKTOP, loadsAhead: true });
      await page.getByText("● Live").first().waitFor();
      await page.getByText("1 waiting for you").first().waitFor({ state: "attached" });
      await page.evaluate("window.isTheSame = true");

      // While it was idle it loaded the code of every page, so that no click is lost.
      await page.locator("html[data-parts=loaded]").waitFor({ state: "attached", timeout: 60_000 });

      daemon.process.child.kill("SIGKILL");
      await daemon.process.ended;
      await page.getByText("Reconnecting, stale for").first().waitFor();
      // What was known stays on the page, and is called stale there.
      expect(await page.getByText("Before the end").count()).toBeGreaterThan(0);
      for (const place of ["Insights", "Flows", "Now"]) {
        await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: place }).click();
        await page.getByRole("heading", { level: 1, name: place === "Now" ? /^Now/u : place }).waitFor();
      }

      const config = join(daemon.dir, "config", "passrail");
      mkdirSync(config, { recursive: true });
      writeFileSync(join(config, "passrail.yaml"), "status_mirror: { url: postgres://nobody@127.0.0.1:1/none }\n");
      await daemon.up("--port", port);
      await page.getByText("● Live").first().waitFor({ timeout: 30_000 });
      await dashboard.start("feature", "After the start");
      await page.getByText("2 waiting for you").first().waitFor({ state: "attached" });
      await page.getByText("After the start").first().waitFor();
      const mirror = page.getByRole("region", { name: "Status mirror" });
      await mirror
        .getByText(/^Status mirror behind since .*postgres:\/\/nobody@127\.0\.0\.1:1\/none/u)
        .waitFor({ timeout: 60_000 });
      expect(await page.evaluate("window.isTheSame")).toBe(true);
      // Only the broken connection itself is in the console.
      expect(seen.complaints.filter((text) => !/ERR_|Failed to load resource/u.test(text))).toEqual([]);
      await context.close();
    },
    SLOW,
  );

  test(
    "on a slow net it says what it loads and that it sends, and what is pressed twice is done once",
    async () => {
      const { daemon } = dashboard;
      const run = await dashboard.start("feature", "Slowly");
      const item = await until("it waits", () => itemOf(daemon, run.id), 20_000);
      const { context, page, seen } = await dashboard.visit("/");
      const session = await context.newCDPSession(page);
      await session.send("Network.emulateNetworkConditions", SLOW_NET);
      await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Flows" }).click();
      await page
        .getByRole("main")
        .getByText(/^Loading .*…$/u)
        .first()
        .waitFor();
      await page.getByRole("button", { name: "Start quick", exact: true }).waitFor({ timeout: 30_000 });
      await page.evaluate(`history.pushState({}, "", "/g/${item}")`);
      const approve = page.getByRole("region", { name: "Decision" }).getByRole("button", { name: "Approve" });
      await approve.dblclick();
      await dashboard.stands(run.number, "review");
      const { events } = (await daemon.call("GET", `/api/runs/${run.number}/events`)).body as unknown as {
        events: { event: { type: string } }[];
      };
      expect(events.filter(({ event }) => event.type === "gate.answered")).toHaveLength(1);
      expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
      await context.close();
    },
    SLOW,
  );
});
