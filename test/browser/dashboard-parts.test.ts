// The parts that every page is made of, under the page's policy: lists to choose from, what elements say of themselves, messages.

import type { Locator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isBrowserMissing } from "./browser.ts";
import { choose } from "./choose.ts";
import { type Dashboard, itemOf, openDashboard, PHONE, show } from "./dashboard.ts";
import { faultsOf } from "./faults.ts";

describe.skipIf(isBrowserMissing())("the parts of pages", () => {
  let dashboard: Dashboard;
  let items: readonly string[];
  beforeAll(async () => {
    dashboard = await openDashboard();
    const runs = [];
    for (const title of ["One", "Two", "Three"]) runs.push(await dashboard.start("feature", title));
    items = await Promise.all(runs.map(async ({ id }) => (await itemOf(dashboard.daemon, id)) ?? ""));
  }, 60_000);
  afterAll(() => dashboard.close());

  test("a list is chosen from with the mouse, with keys and by touch, on a page and in a dialog", async () => {
    const { context, page, seen } = await dashboard.visit("/runs");
    const flow = page.getByLabel("Flow", { exact: true });
    await choose(flow, "feature");
    await page.waitForURL("**/runs?flow=feature");
    await flow.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("listbox").waitFor();
    // Base UI's guards lead the focus on as soon as they get it.
    const faults = (await faultsOf(page)).filter((fault) => !fault.includes("data-base-ui-focus-guard"));
    expect(faults).toEqual([]);
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.search === "");
    await page.keyboard.press("n");
    const dialog = page.getByRole("dialog", { name: "Start a run" });
    const inside = dialog.getByLabel("Flow");
    await inside.focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.type("quick");
    await page.keyboard.press("Enter");
    await inside.getByText(/^quick ·/u).waitFor();
    await inside.click();
    // Escape closes the list and not the dialog.
    await page.keyboard.press("Escape");
    await page.getByRole("listbox").waitFor({ state: "hidden" });
    expect(await dialog.isVisible()).toBe(true);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    const phone = await dashboard.visit("/work", PHONE);
    const group = phone.page.getByLabel("Group by");
    await group.tap();
    await phone.page.getByRole("option", { name: "Flow" }).tap();
    await phone.page.waitForURL(/by=flow/u);
    expect([seen.complaints, seen.elsewhere, phone.seen.complaints]).toEqual([[], [], []]);
    await Promise.all([context.close(), phone.context.close()]);
  });

  test("an element says more under the pointer, under the focus and under a finger; Escape ends it", async () => {
    const { context, page, seen } = await dashboard.visit("/runs");
    const said = page.getByRole("tooltip");
    await page.getByRole("table", { name: "Runs" }).locator("time").first().hover();
    await said.getByText(String(new Date().getFullYear())).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await said.waitFor({ state: "detached" });
    await page.keyboard.press("n");
    const start = page.getByRole("button", { name: "Start", exact: true });
    await start.focus();
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Tab");
    await said.getByText("Enter a title.").waitFor();
    const phone = await dashboard.visit("/runs", PHONE);
    await phone.page.locator("time").first().tap();
    await phone.page.getByRole("tooltip").waitFor();
    expect([seen.complaints, seen.elsewhere, phone.seen.complaints]).toEqual([[], [], []]);
    await Promise.all([context.close(), phone.context.close()]);
  });

  test("a message covers neither what can be taken back nor the comment that is being written", async () => {
    const [first = "", second = ""] = items;
    const { context, page, seen } = await dashboard.visit(`/?item=${first}`);
    await page.evaluate("localStorage['passrail.undo'] = '5'");
    await show(page, `${dashboard.daemon.url}/?item=${first}`);
    await page.getByRole("button", { name: /^Approve/u }).click();
    const undo = page.getByRole("region", { name: "What you asked for" });
    await undo.waitFor();
    await page.locator(`[data-need="${second}"]`).click();
    const comment = page.getByRole("textbox", { name: /^Comment/u });
    await comment.fill("I write while it is sent");
    // It comes by itself, when the time to take it back is over.
    const told = page.getByRole("region", { name: "Notifications" });
    await told.getByText(/One/u).waitFor({ timeout: 20_000 });
    await expectApart(told, comment);
    await page.evaluate("document.activeElement.blur()");
    await page.evaluate("localStorage['passrail.undo'] = '30'");
    await page.getByRole("button", { name: /^Approve/u }).click();
    await undo.waitFor();
    await page.keyboard.press("e");
    await told.getByText(/^Hidden until/u).waitFor();
    await expectApart(told, undo);
    expect(await faultsOf(page)).toEqual([]);
    await told.getByRole("button", { name: "Dismiss" }).first().click();
    expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
    await context.close();
  });
});

async function expectApart(one: Locator, other: Locator): Promise<void> {
  const [a, b] = await Promise.all([one.boundingBox(), other.boundingBox()]);
  if (a === null || b === null) throw new Error("one of them is not shown");
  const isApart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
  expect({ a, b, isApart }).toEqual({ a, b, isApart: true });
}
