// What a person comes for, each in at most three clicks and by keyboard: what needs me, what works, what it costs; stop it, hold it, start it.

import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { until } from "../harness/until.ts";
import { isBrowserMissing } from "./browser.ts";
import { type Dashboard, itemOf, openDashboard, PHONE, show, STRAIGHT, type Visit } from "./dashboard.ts";
import { faultsOf } from "./faults.ts";
import { picture } from "./picture.ts";

const SLOW = 150_000;
type Started = { readonly id: string; readonly number: number };

describe.skipIf(isBrowserMissing())("tasks", () => {
  let dashboard: Dashboard;
  let visit: Visit;
  let page: Page;
  let working: Started;
  let gate: Started;
  beforeAll(async () => {
    dashboard = await openDashboard();
    gate = await dashboard.start("feature", "Decide me");
    dashboard.play({ ...STRAIGHT, spec: [{ print: "Reading the tests\n", sleepMs: 3600_000 }] });
    working = await dashboard.start("feature", "Works long");
    await dashboard.answer(working.id, "approve");
    visit = await dashboard.visit("/");
    ({ page } = visit);
  }, SLOW);
  afterAll(() => dashboard.close());

  const rail = () => page.getByRole("navigation", { name: "Main" });
  const dialog = () => page.getByRole("dialog");
  const runOf = async ({ number }: Started) => (await dashboard.daemon.call("GET", `/api/runs/${number}`)).body;

  test(
    "without a click: what needs me, what works with its last line, what today costs; without a fault, also on the narrowest screen",
    async () => {
      await page.getByRole("heading", { name: "Needs you (1)" }).waitFor();
      await page.locator("[data-need]").filter({ hasText: "Decide me" }).waitFor();
      const row = page.locator(`[data-working="${working.number}"]`);
      await row.getByText("Reading the tests").waitFor({ timeout: 60_000 });
      await row.getByText(/spec #1/u).waitFor();
      await rail()
        .getByText(/^Today \$0\.00 of \$/u)
        .waitFor();
      await rail().getByText("1 working", { exact: false }).waitFor({ state: "attached" });
      await picture(page, "now-light");
      expect(await faultsOf(page)).toEqual([]);
      for (const width of [320, 768, 1024, 1440]) {
        await page.setViewportSize({ width, height: 800 });
        // A page is laid out anew a moment after its window changed.
        const over = async () => [width, await page.evaluate("document.documentElement.scrollWidth - innerWidth")];
        await expect.poll(over, { timeout: 10_000 }).toEqual([width, 0]);
      }
      await page.setViewportSize({ width: 1280, height: 800 });
    },
    SLOW,
  );

  test("put off with a key, the same in another browser, and back with two clicks", async () => {
    await page.locator("[data-need]").filter({ hasText: "Decide me" }).waitFor();
    await page.keyboard.press("e");
    await page.getByRole("heading", { name: "Needs you (0)" }).waitFor();
    const other = await dashboard.visit("/", PHONE);
    await other.page.getByRole("heading", { name: "Needs you (0)" }).waitFor();
    await picture(other.page, "now-later-phone");
    expect(await faultsOf(other.page)).toEqual([]);
    await other.context.close();
    await page.getByRole("link", { name: /^Later/u }).click();
    await page.getByRole("button", { name: "Show it again now" }).click();
    await page.getByRole("heading", { name: "Needs you (1)" }).waitFor();
  });

  test(
    "one agent is stopped in two clicks: it ends, the run is paused and goes on where it was",
    async () => {
      await show(page, `${dashboard.daemon.url}/`);
      await page.getByRole("button", { name: `Stop spec of #${working.number} now` }).click();
      await dialog().getByText("Ends the agent at once and pauses the run.", { exact: false }).waitFor();
      await dialog()
        .getByRole("button", { name: /^Stop now/u })
        .click();
      await page.getByText("No agent works at the moment.").waitFor({ timeout: 60_000 });
      await page
        .locator(`[data-next="${working.number}"]`)
        .getByText("a person has paused the run", { exact: false })
        .waitFor();
      expect(await runOf(working)).toMatchObject({ paused: true });
    },
    SLOW,
  );

  test(
    "everything is paused in two clicks, also what is started later, and resumed in two, or from the palette by keyboard; without a connection it says so at once",
    async () => {
      await rail().getByRole("button", { name: "Pause everything" }).click();
      await dialog()
        .getByLabel(/Reason/u)
        .fill("<b>night</b>");
      await dialog().getByRole("button", { name: "Pause everything" }).click();
      const banner = page.getByRole("region", { name: "Everything is paused" });
      await banner.getByText(/^Everything is paused by .+ since .+ · <b>night<\/b> · runs that are started/u).waitFor();
      const later = await dashboard.start("feature", "Started later");
      expect(await runOf(later)).toMatchObject({ paused: true });
      await dashboard.daemon.call("POST", `/api/runs/${later.number}/cancel`, { body: {} });
      await picture(page, "paused-light");
      expect(await faultsOf(page)).toEqual([]);
      await banner.getByRole("button", { name: "Resume everything" }).click();
      await dialog().getByRole("button", { name: "Resume everything" }).click();
      await page.getByText("Resumed 2 runs.").waitFor();
      await banner.waitFor({ state: "detached" });
      await until(
        "it works again",
        async () => ((await runOf(working))["paused"] === false ? true : undefined),
        60_000,
      );
      await rail().getByRole("button", { name: "Pause everything" }).waitFor();

      await page.keyboard.press("Control+k");
      await dialog().getByRole("combobox").waitFor();
      await page.keyboard.type("pause every");
      await page.keyboard.press("Enter");
      await dialog().getByText("No further stage of any open run starts", { exact: false }).waitFor();
      expect(await faultsOf(page)).toEqual([]);
      await visit.context.setOffline(true);
      await dialog().getByRole("button", { name: "Pause everything" }).click();
      await dialog().getByText("The daemon does not answer.").waitFor();
      await visit.context.setOffline(false);
      expect(await runOf(gate)).toMatchObject({ paused: false });
      await dialog().getByRole("button", { name: "Pause everything" }).click();
      await page.getByText("Paused 2 runs.").waitFor();
      expect(await runOf(gate)).toMatchObject({ paused: true });
      expect(await itemOf(dashboard.daemon, gate.id)).toBeDefined();
      await dashboard.daemon.call("POST", "/api/resume", { body: {} });
    },
    SLOW,
  );

  test(
    "the budget of a run is changed on its page with one click, and by keyboard; the limit of a day in three clicks, with its diff first",
    async () => {
      await show(page, `${dashboard.daemon.url}/runs/${working.number}`);
      await page.getByRole("button", { name: "Change budget" }).click();
      await dialog().getByLabel("Dollars, for the whole run").fill("60");
      await picture(page, "run-budget-light");
      expect(await faultsOf(page)).toEqual([]);
      await page.keyboard.press("Enter");
      await page.getByText(`#${working.number} may cost $60.00 in all.`).waitFor();
      await page.locator("[data-cost]").getByText("of $60.00").waitFor();
      expect(await runOf(working)).toMatchObject({ limit: { usd: 60 } });

      await show(page, `${dashboard.daemon.url}/settings?tab=values`);
      await page.getByRole("button", { name: "Change budgets.day.usd" }).click();
      await dialog().getByLabel("Where").selectOption("project");
      await dialog().getByLabel("Dollars").fill("77");
      await dialog()
        .getByText(/^\+.*77/u)
        .waitFor();
      await picture(page, "settings-edit-light");
      expect(await faultsOf(page)).toEqual([]);
      await dialog().getByRole("button", { name: "Write the file" }).click();
      await page.getByText("budgets.day.usd is written. It counts at once.").waitFor();
      await rail()
        .getByText(/^Today \$0\.00 of \$77\.00/u)
        .waitFor();
      expect(visit.seen.complaints).toEqual([]);
    },
    SLOW,
  );

  test(
    "why nothing starts is on every page, without a click, and one click says that the program works again",
    async () => {
      const store = openSqliteStore({ file: join(dashboard.daemon.home, "passrail.db") });
      const now = Date.now();
      await store.setHold({
        runner: "claude",
        account: "",
        cause: "quota",
        reason: "<b>You have hit your limit</b>",
        since: new Date(now).toISOString(),
        until: new Date(now + 3_600_000).toISOString(),
        runId: null,
        by: "engine",
      });
      store.close();
      await show(page, `${dashboard.daemon.url}/runs`);
      const banner = page.getByRole("region", { name: "Agents that are out" });
      await banner.getByText(/^claude is over its quota · until /u).waitFor();
      await picture(page, "held-light");
      expect(await faultsOf(page)).toEqual([]);
      await banner.getByRole("button", { name: "It works again" }).click();
      await page.getByText("0 runs may start now.").waitFor();
      await banner.waitFor({ state: "detached" });
    },
    SLOW,
  );

  test(
    "a flow is started from its page; six places, and on a phone four tabs with the rest behind More",
    async () => {
      expect(await rail().getByRole("link").allInnerTexts()).toHaveLength(7);
      await show(page, `${dashboard.daemon.url}/flows/feature`);
      await page.getByRole("button", { name: "Start a run" }).click();
      await dialog().getByLabel(/Title/u).fill("From the flow");
      await dialog().getByText("Agents and workspace").click();
      await dialog().getByLabel("IN2 is played by").waitFor();
      await dialog().getByLabel("Workspace").selectOption("clone");
      await dialog().getByText("--workspace clone", { exact: false }).waitFor();
      expect(await faultsOf(page)).toEqual([]);
      await dialog()
        .getByRole("button", { name: /^Start/u })
        .click();
      await page.waitForURL("**/runs/*");
      const started = (await dashboard.daemon.call("GET", "/api/inbox")).body as unknown as {
        items: { id: string; subject: { title: string } }[];
      };
      const item = started.items.find(({ subject }) => subject.title === "From the flow");
      const events = (await dashboard.daemon.call("GET", `/api/runs/${item?.id.split(".")[0]}/events`)).body;
      expect(JSON.stringify(events)).toContain('"clone"');
      const phone = await dashboard.visit("/", PHONE);
      const tabs = phone.page.getByRole("navigation", { name: "Main" });
      expect(await tabs.getByRole("link").count()).toBe(3);
      await tabs.getByRole("button", { name: "More" }).tap();
      await phone.page.getByRole("dialog").getByRole("link", { name: "Workers" }).waitFor();
      await picture(phone.page, "more-phone");
      expect(await faultsOf(phone.page)).toEqual([]);
      await phone.page.getByRole("dialog").getByRole("link", { name: "Workers" }).tap();
      await phone.page.waitForURL("**/workers");
      await phone.page.getByRole("heading", { name: "Workers" }).waitFor();
      expect([phone.seen.complaints, phone.seen.elsewhere]).toEqual([[], []]);
      await phone.context.close();
    },
    SLOW,
  );
});
