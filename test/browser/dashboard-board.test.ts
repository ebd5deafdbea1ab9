// Source 000's board in the dashboard: cards that say where a feature is, that move by themselves, and that can be decided on.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isBrowserMissing } from "./browser.ts";
import { colourOf } from "./colour.ts";
import { type Dashboard, DESKTOP, openDashboard, STRAIGHT } from "./dashboard.ts";

const SLOW = 150_000;
const BOARD = "/board?flow=feature";
const LANES = ["pending", "approved", "speccing", "designing", "building", "qa", "review", "shipped"];

describe.skipIf(isBrowserMissing())("the board", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await openDashboard();
  }, SLOW);
  afterAll(() => dashboard.close());

  test("R-000-11: nothing starts before the button is pressed; pressing it starts IN1 by itself", async () => {
    const hold = holding("spec");
    dashboard.play({ ...STRAIGHT, spec: [{ verdict: "APPROVED", hold: hold.file }] });
    const run = await dashboard.start("feature", "By button");
    const { context, page } = await dashboard.visit(BOARD);
    await card(page, "pending", "By button").getByRole("button", { name: "Approve" }).click();
    const attempts = async (): Promise<unknown> =>
      (await dashboard.daemon.call("GET", `/api/runs/${run.number}`)).body["stages"];
    expect(JSON.stringify(await attempts())).not.toContain("startedAt");
    await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
    await card(page, "speccing", "By button").getByText("IN1").waitFor();
    hold.go();
    await dashboard.stands(run.number, "review");
    await context.close();
  });

  test(
    "R-000-37: a card shows stage and agent; R-000-38: a loop only when there is one, n of 2, in another colour at the end",
    async () => {
      const first = holding("build-1");
      const second = holding("build-2");
      const third = holding("build-3");
      dashboard.play({
        ...STRAIGHT,
        build: [first, second, third].map(({ file }) => ({ verdict: "COMPLETE", hold: file })),
        qa: [{ verdict: "REVISE", issues: ["no tests"] }],
      });
      const run = await dashboard.start("feature", "In loops");
      const { context, page } = await dashboard.visit(BOARD);
      await dashboard.answer(run.id, "approve");
      const building = card(page, "building", "In loops");
      await building.getByText("IN2").waitFor();
      await building.getByText("at build").waitFor();
      expect(await building.getByText("Revision loop").count()).toBe(0);
      first.go();
      await building.locator('[data-tip="Revision loop 1 of 2"]').waitFor();
      const early = await colourOf(building.locator('[data-tip="Revision loop 1 of 2"]'));
      second.go();
      await building.locator('[data-tip="Revision loop 2 of 2"]').waitFor();
      expect(await colourOf(building.locator('[data-tip="Revision loop 2 of 2"]'))).not.toEqual(early);
      // As often as may be, and not escalated for that.
      expect(await building.getByText("Escalated").count()).toBe(0);
      third.go();
      await card(page, "escalated", "In loops").getByText("Escalated").waitFor();
      await context.close();
    },
    SLOW,
  );

  test("R-000-39: the panel has the whole history, closed, with its count; REVISE opens to issues; times with a date when not today", async () => {
    const { context, page } = await dashboard.visit(BOARD);
    await card(page, "escalated", "In loops").getByRole("link", { name: "In loops" }).click();
    const panel = page.getByRole("complementary", { name: "Ticket" });
    const history = panel.getByText(/History · \d+ events/u);
    await history.waitFor();
    expect(page.url()).toContain("ticket=");
    expect(await panel.getByText("REVISE").first().isVisible()).toBe(false);
    await history.click();
    const count = Number(/\d+/u.exec(await history.innerText())?.[0]);
    const rows = panel.locator("ol > li");
    expect(await rows.count()).toBe(count);
    expect(count).toBeGreaterThanOrEqual(9);
    const revise = rows.filter({ hasText: "REVISE" }).first();
    expect(await revise.getByText("no tests").isVisible()).toBe(false);
    await revise.locator("summary").click();
    await revise.getByText("no tests").waitFor();
    const today = await rows.first().locator("time").innerText();
    expect(today).not.toMatch(/20\d\d/u);
    await context.close();
    // The same tomorrow.
    const later = await dashboard.visit(new URL(page.url()).pathname + new URL(page.url()).search, DESKTOP);
    await later.page.clock.install({ time: Date.now() + 26 * 3600_000 });
    await later.page.reload({ waitUntil: "domcontentloaded" });
    const there = later.page.getByRole("complementary", { name: "Ticket" });
    await there.getByText(/History · \d+ events/u).click();
    expect(await there.locator("ol > li time").first().innerText()).toMatch(/20\d\d/u);
    await later.context.close();
  });

  test("R-000-41: what waits at a gate has its buttons on the card and in the panel, also when it was escalated", async () => {
    const { context, page } = await dashboard.visit(BOARD);
    const ready = card(page, "review", "By button");
    for (const name of ["Approve", "Request changes", "Reject"]) await ready.getByRole("button", { name }).waitFor();
    await ready.getByRole("link", { name: "By button" }).click();
    const panel = page.getByRole("complementary", { name: "Ticket" });
    for (const name of ["Approve", "Request changes", "Reject"]) await panel.getByRole("button", { name }).waitFor();
    // Back without a reason is not possible, and says why.
    await panel.getByRole("button", { name: "Request changes" }).click();
    const send = page.getByRole("dialog").getByRole("button", { name: "Request changes" });
    expect(await send.getAttribute("aria-disabled")).toBe("true");
    expect(await send.getAttribute("data-tip")).toBe("Enter a reason first.");
    await page.keyboard.press("Escape");
    // The page behind a dialog has no roles until the dialog is gone.
    await card(page, "escalated", "In loops").getByRole("button").nth(2).waitFor();
    await context.close();
  });

  test("R-000-42: an agent of which nothing was heard for more than five minutes makes its card say stalled", async () => {
    const hold = holding("stalled");
    dashboard.play({ ...STRAIGHT, design: [{ verdict: "APPROVED", hold: hold.file }] });
    const run = await dashboard.start("feature", "Silence");
    await dashboard.answer(run.id, "approve");
    await dashboard.stands(run.number, "designing");
    const { context, page } = await dashboard.visit(BOARD);
    const silent = card(page, "designing", "Silence");
    await silent.waitFor();
    expect(await silent.getByText("Stalled").count()).toBe(0);
    await page.clock.install({ time: Date.now() + 5.5 * 60_000 });
    await page.reload({ waitUntil: "domcontentloaded" });
    await silent.getByText("Stalled").waitFor();
    hold.go();
    await context.close();
    await dashboard.stands(run.number, "review");
  });

  test(
    "R-000-40: one lane per status; cards move within a second without a reload; it says when it is not live, and catches up",
    async () => {
      const { daemon } = dashboard;
      dashboard.play(STRAIGHT);
      const run = await dashboard.start("feature", "On the move");
      const { context, page } = await dashboard.visit(BOARD);
      await card(page, "pending", "On the move").waitFor();
      const names = await page.locator("main section h2").allInnerTexts();
      expect(names.map((text) => text.split("\n")[0])).toEqual(
        expect.arrayContaining([...LANES, "escalated", "canceled"]),
      );
      expect(new Set(names).size).toBe(names.length);
      await page.evaluate("window.isTheSame = true");
      await dashboard.answer(run.id, "approve");
      await card(page, "review", "On the move").waitFor();
      await dashboard.answer(run.id, "approve", "fine");
      const from = performance.now();
      await card(page, "shipped", "On the move").waitFor();
      expect(performance.now() - from).toBeLessThan(1000);
      // Something happens while nobody can tell.
      const port = new URL(daemon.url).port;
      const waiting = await dashboard.start("feature", "Meanwhile");
      await card(page, "pending", "Meanwhile").waitFor();
      daemon.process.child.kill("SIGKILL");
      await daemon.process.ended;
      await page.getByText("Reconnecting, stale for").first().waitFor();
      await daemon.up("--port", port);
      await dashboard.answer(waiting.id, "decline", "not now");
      await page.getByText("● Live").first().waitFor();
      await card(page, "canceled", "Meanwhile").waitFor();
      expect(await page.evaluate("window.isTheSame")).toBe(true);
      await context.close();
    },
    SLOW,
  );

  /** A file that an agent waits for. */
  function holding(name: string): { readonly file: string; go(): void } {
    const file = join(dashboard.daemon.dir, `go-${name}`);
    return { file, go: () => writeFileSync(file, "") };
  }
});

function card(page: Page, lane: string, title: string) {
  return page.locator(`section[aria-label^="${lane},"] article`).filter({ hasText: title });
}
