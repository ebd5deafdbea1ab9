// The place Work against the real daemon: tickets and ad-hoc runs as list, board and graph; acts on many at once, with one way back and a
// result for each; drags only where they are allowed.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../harness/until.ts";
import { isBrowserMissing } from "./browser.ts";
import { choose } from "./choose.ts";
import { type Dashboard, openDashboard, show, STRAIGHT, type Visit, walk } from "./dashboard.ts";
import { faultsOf, overflowsOf } from "./faults.ts";
import { faultsInEveryLook } from "./looks.ts";
import { picture } from "./picture.ts";

const SLOW = 150_000;
const LONG = `Internationalization${"x".repeat(160)}`;

describe.skipIf(isBrowserMissing())("Work", () => {
  let dashboard: Dashboard;
  let visit: Visit;
  const runs: { id: string; number: number }[] = [];
  const fileOf = (id: string) => join(dashboard.daemon.project, `feature_requests/FR-1/${id}.md`);
  const statusOf = async (number: number) =>
    (await dashboard.daemon.call("GET", `/api/runs/${number}`)).body as Readonly<Record<string, unknown>>;

  beforeAll(async () => {
    dashboard = await openDashboard();
    const write = (id: string, title: string, more = ""): void => {
      mkdirSync(dirname(fileOf(id)), { recursive: true });
      writeFileSync(fileOf(id), `---\nid: ${id}\ntitle: ${title}\nrepo: .\nstatus: Backlog\n${more}---\n\nDo it.\n`);
    };
    write("AGI-1", "Round prices");
    write("AGI-2", "Show prices in the cart", "dependsOn: [AGI-1]\n");
    write("AGI-3", "Show prices in the mail", "dependsOn: [AGI-1]\n");
    write("AGI-4", "Announce it", "dependsOn: [AGI-2, AGI-3]\n");
    write("AGI-5", LONG);
    dashboard.play(STRAIGHT);
    for (const title of ["Alpha export", "Beta export", "Gamma export"])
      runs.push(await dashboard.start("feature", title));
    const done = await dashboard.start("feature", "Finished export");
    runs.push(done);
    await dashboard.answer(done.id, "approve");
    await dashboard.stands(done.number, "review");
    await dashboard.answer(done.id, "approve");
    await dashboard.stands(done.number, "shipped");
    visit = await dashboard.visit("/work");
  }, SLOW);
  afterAll(() => dashboard.close());

  test(
    "one list has tickets and ad-hoc runs; the address holds order, groups and filters, and former addresses lead there",
    async () => {
      const { page } = visit;
      const table = page.getByRole("table", { name: "Work" });
      await row(page, "Round prices").waitFor();
      await row(page, "Alpha export").waitFor();
      // Finished work that is on its branch only is not called done.
      await row(page, "Finished export").getByText("Done, not landed").waitFor();
      await page.getByRole("link", { name: /^To merge 1$/u }).click();
      await row(page, "Alpha export").waitFor({ state: "detached" });
      await page.getByRole("link", { name: /^All / }).click();
      await table.getByRole("button", { name: "Work" }).click();
      expect(new URL(page.url()).searchParams.get("sort")).toBe("title");
      await until("the list is sorted", async () => {
        const titles = await page.locator("[data-row]").allInnerTexts();
        return titles[0] === "Alpha export" ? true : undefined;
      });
      await choose(page.getByLabel("Group by"), "State");
      await table.getByText("Waiting for you", { exact: true }).first().waitFor();
      await picture(page, "work-list-grouped-light");
      await show(page, `${dashboard.daemon.url}/tickets?state=waits`);
      expect(new URL(page.url()).pathname).toBe("/work");
      await row(page, "Announce it").waitFor();
      expect(await page.getByText("Alpha export").count()).toBe(0);
      await show(page, `${dashboard.daemon.url}/board?flow=feature`);
      await page.locator('section[aria-label^="pending,"]').getByText("Alpha export").waitFor();
      expect(new URL(page.url()).searchParams.get("lanes")).toBe("words");
    },
    SLOW,
  );

  test(
    "an act on many says what happens to each, can be taken back, is carried out once, and shows what failed",
    async () => {
      const { page } = visit;
      await show(page, `${dashboard.daemon.url}/work`);
      await page.evaluate("localStorage['passrail.undo'] = '30'");
      for (const title of ["Alpha export", "Beta export", "Finished export"])
        await page.getByLabel(`Select ${title}`, { exact: true }).check();
      const bar = page.getByRole("region", { name: "Selected" });
      await bar.getByText("3 selected").waitFor();
      await bar.getByRole("button", { name: "Pause", exact: true }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByRole("region", { name: "What will happen" }).getByText("Beta export").waitFor();
      const left = dialog.getByRole("region", { name: "Left alone" });
      await left.getByText("The run is completed (shipped).").waitFor();
      await picture(page, "work-bulk-light");
      expect(await faultsOf(page)).toEqual([]);
      await dialog.getByRole("button", { name: "Pause 2" }).click();
      // Taken back with the key: nothing was sent.
      const asked = page.getByRole("region", { name: "What you asked for" });
      await asked.getByText("Pause: 2 entries").waitFor();
      await page.keyboard.press("z");
      await asked.waitFor({ state: "detached" });
      expect((await statusOf(runs[0]?.number ?? 0))["paused"]).toBe(false);
      // Again, and one of them ends meanwhile.
      for (const title of ["Alpha export", "Beta export"])
        await page.getByLabel(`Select ${title}`, { exact: true }).check();
      await bar.getByRole("button", { name: "Pause", exact: true }).click();
      await dialog.getByRole("button", { name: "Pause 2" }).click();
      await dashboard.daemon.call("POST", `/api/runs/${runs[1]?.number}/cancel`, { body: { reason: "" } });
      await asked.getByRole("button", { name: "Send now" }).click();
      await asked.getByText("1 of 2 done, 1 failed").waitFor();
      await asked.getByText(/Beta export.*canceled/u).waitFor();
      await picture(page, "work-bulk-result-light");
      expect((await statusOf(runs[0]?.number ?? 0))["paused"]).toBe(true);
      await row(page, "Alpha export").getByText("Paused").waitFor();
      await asked.getByRole("button", { name: "Try the failed again" }).click();
      await asked.getByText("1 of 2 done, 1 failed").waitFor();
      await asked.getByRole("button", { name: "Close" }).click();
      // By keyboard: down to a row, select it, and take the selection away.
      await page.keyboard.press("j");
      await page.keyboard.press("x");
      await bar.getByText("1 selected").waitFor();
      await page.keyboard.press("Escape");
      await bar.waitFor({ state: "detached" });
      await page.evaluate("localStorage['passrail.undo'] = '0'");
    },
    SLOW,
  );

  test(
    "the board has six lanes; a card is dragged only where that is allowed, and the file or the run follows",
    async () => {
      const { page } = visit;
      await show(page, `${dashboard.daemon.url}/work?view=board`);
      const names = await page.locator("main section h2").allInnerTexts();
      expect(names.map((text) => text.split("\n")[0])).toEqual([
        "Backlog",
        "Under way",
        "Waiting for you",
        "To merge",
        "Done",
        "Stopped",
      ]);
      await picture(page, "work-board-light");
      // A decision is not made by a drop.
      await drag(page, card(page, "Waiting for you", "Gamma export"), "Under way", /the decision and its evidence/u);
      await card(page, "Waiting for you", "Gamma export").waitFor();
      expect((await statusOf(runs[2]?.number ?? 0))["status"]).toBe("waiting");
      await drag(page, card(page, "Backlog", "Internationalization"), "Stopped", /Move AGI-5 to Canceled/u);
      await card(page, "Stopped", "Internationalization").waitFor();
      expect(readFileSync(fileOf("AGI-5"), "utf8")).toContain("status: Canceled");
      await drag(page, card(page, "Stopped", "Internationalization"), "Backlog", /Move AGI-5 to Backlog/u);
      await card(page, "Backlog", "Internationalization").waitFor();
      await drag(page, card(page, "Waiting for you", "Gamma export"), "Stopped", /Cancel #3/u);
      await card(page, "Stopped", "Gamma export").waitFor();
      expect((await statusOf(runs[2]?.number ?? 0))["status"]).toBe("canceled");
      await choose(page.getByLabel("Group by"), "Flow");
      await page.getByRole("heading", { name: /^ticket/u }).waitFor();
      await picture(page, "work-board-grouped-light");
    },
    SLOW,
  );

  test("the graph has an arrow for each dependency and no other, and each box leads to its ticket", async () => {
    const { page, seen } = visit;
    await show(page, `${dashboard.daemon.url}/work?view=graph`);
    const graph = page.getByRole("region", { name: "Dependencies" });
    expect(await graph.getByRole("listitem").count()).toBe(4);
    expect(await graph.locator("svg > path[marker-end]").count()).toBe(4);
    await picture(page, "work-graph-light");
    await graph.getByRole("link", { name: /Announce it/u }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Announce it" }).waitFor();
    expect(seen.complaints).toEqual([]);
  });

  test("two runs are compared side by side, with what becomes of each and which files it changed", async () => {
    const { page } = visit;
    await show(page, `${dashboard.daemon.url}/compare?runs=${runs[3]?.number},${runs[0]?.number}`);
    const finished = page.getByRole("region", { name: `Run #${runs[3]?.number}` });
    await finished.getByRole("link", { name: "1 file, +1 −0" }).waitFor();
    await finished.getByText("SHIP").waitFor();
    await finished.getByRole("button", { name: /^Merge/u }).waitFor();
    await page
      .getByRole("region", { name: `Run #${runs[0]?.number}` })
      .getByText("It has not ended yet.")
      .waitFor();
    await page.getByRole("table", { name: "Files" }).getByText("a.txt").waitFor();
    await picture(page, "compare-light");
    expect(await faultsOf(page)).toEqual([]);
  });

  test(
    "every view is without fault in light, in dark and on a phone, and fits from 320 to 1440 pixels",
    async () => {
      const faults: string[] = [];
      const views = [
        ["work-list", "/work"],
        ["work-board", "/work?view=board"],
        ["work-graph", "/work?view=graph"],
      ] as const;
      const { page, seen } = visit;
      for (const [name, path] of views) {
        await walk(page, path);
        faults.push(...(await faultsInEveryLook(page, name)));
        faults.push(...(await overflowsOf(page)).map((fault) => `${name}: ${fault}`));
        faults.push(...seen.complaints.splice(0));
      }
      expect(faults).toEqual([]);
    },
    SLOW,
  );
});

/** As a hand does it: over the lane until it says what a drop would do there. */
async function drag(page: Page, from: Locator, to: string, says: RegExp): Promise<void> {
  await from.hover({ position: { x: 20, y: 8 } });
  await page.mouse.down();
  await lane(page, to).hover();
  await lane(page, to).getByText(says).waitFor();
  await lane(page, to).hover();
  await page.mouse.up();
}

function row(page: Page, title: string) {
  return page.getByRole("row").filter({ hasText: title });
}

function lane(page: Page, name: string) {
  return page.locator(`section[aria-label^="${name},"]`);
}

function card(page: Page, name: string, title: string) {
  return lane(page, name).locator("article").filter({ hasText: title });
}
