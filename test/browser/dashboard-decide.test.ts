// The main path, by a person with nothing but a browser: start, send back, answer an escalation, ship; with a mouse, by touch, by keyboard alone,
// and by two at once.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../harness/until.ts";
import { isBrowserMissing } from "./browser.ts";
import { choose } from "./choose.ts";
import { type Dashboard, itemOf, openDashboard, PHONE, show, STRAIGHT } from "./dashboard.ts";
import { faultsOf } from "./faults.ts";
import { picture } from "./picture.ts";

const SLOW = 150_000;
const CODE = "export const greeting = 'hello';\nexport const name = 'world';";

describe.skipIf(isBrowserMissing())("deciding", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await openDashboard();
  }, SLOW);
  afterAll(() => dashboard.close());

  test(
    "approve to start, three times REVISE, an escalation answered, comments on lines sent back, shipped: from the browser only",
    async () => {
      const log = join(dashboard.daemon.dir, "prompts.jsonl");
      dashboard.play({
        ...STRAIGHT,
        build: [{ verdict: "COMPLETE", write: { "src/hello.ts": CODE }, commit: true, log }],
        qa: [{ verdict: "REVISE", issues: ["no tests"] }],
        "qa#4": [{ verdict: "SHIP", summary: "all is well" }],
        "qa#5": [{ verdict: "SHIP", summary: "all is well" }],
      });
      const { context, page, seen } = await dashboard.visit("/runs");
      await startRun(page, "Say hello");

      await go(page, "Now");
      await decision(page).getByRole("heading", { name: "Start “Say hello”?" }).waitFor();
      await decision(page).getByRole("button", { name: "Approve" }).click();

      await decision(page)
        .getByRole("heading", { name: "qa of “Say hello” was escalated" })
        .waitFor({ timeout: 60_000 });
      await decision(page).getByText("no tests").first().waitFor();
      await decision(page)
        .getByRole("textbox", { name: /^Comment/u })
        .fill("Write one test and go on.");
      await decision(page).getByRole("button", { name: "Again" }).click();

      await decision(page).getByRole("heading", { name: "Ship “Say hello”?" }).waitFor({ timeout: 60_000 });
      // The changes since the escalation was answered: those of the fourth attempt. Sending back needs a reason, and the button says so.
      const back = decision(page).getByRole("button", { name: "Request changes" });
      expect(await back.getAttribute("aria-disabled")).toBe("true");
      await decision(page).getByRole("button", { name: "Comment on line 8 of src/hello.ts" }).first().click();
      await page.getByLabel(/About line 8/u).fill("Ask for the name instead");
      await page.getByRole("button", { name: "Add comment" }).click();
      await decision(page).getByText("1 line comment is sent with your decision.").waitFor();
      const before = await page.locator("[data-decision]").getAttribute("data-decision");
      await back.click();

      // The next one asks in the same words, and may be there before anybody sees that the first has gone.
      const another = page.locator(`[data-decision]:not([data-decision="${before}"])`);
      await another.getByRole("heading", { name: "Ship “Say hello”?" }).waitFor({ timeout: 60_000 });
      const prompts = readFileSync(log, "utf8")
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { prompt: string }).prompt);
      expect(prompts[3]).toContain("Write one test and go on.");
      const last = prompts.at(-1) ?? "";
      expect(prompts).toHaveLength(5);
      expect(last).toContain("Ask for the name instead");
      expect(last).toContain("src/hello.ts:8");

      await decision(page).getByRole("button", { name: "Approve" }).click();
      // The word about the first gate may still be there.
      await page.getByText("Approved: Say hello").last().waitFor();
      await dashboard.stands(1, "shipped");
      // No question is left, but the work has not landed yet.
      await page.getByRole("heading", { name: "Needs you (1)" }).waitFor();
      const merge = page.getByRole("button", { name: "Merge: Say hello" });
      await merge.waitFor();
      // What the decision rests on is beside it, and it can be taken back as well.
      await decision(page).getByText("export const greeting").first().waitFor();
      await picture(page, "end-merge-light");
      // On a phone the buttons are in sight before anything is scrolled, below the evidence.
      const end = await page.locator("[data-loose-end]").getAttribute("data-loose-end");
      const phone = await dashboard.visit(`/?item=${end}`, PHONE);
      await phone.page.getByText("export const greeting").first().waitFor();
      const box = await phone.page.getByRole("button", { name: "Merge: Say hello" }).boundingBox();
      expect((box?.y ?? 9999) + (box?.height ?? 0)).toBeLessThan(844);
      await picture(phone.page, "end-merge-phone");
      expect([await faultsOf(phone.page), phone.seen.complaints]).toEqual([[], []]);
      await phone.context.close();
      await page.evaluate("localStorage['passrail.undo'] = '30'");
      await merge.click();
      await page.getByRole("dialog").getByRole("button", { name: "Merge", exact: true }).click();
      const held = page.locator("[data-held]").filter({ hasText: "Merge: Say hello" });
      await held.waitFor();
      await page.getByRole("heading", { name: "Needs you (0)" }).waitFor();
      await held.getByRole("button", { name: "Undo" }).click();
      await page.waitForURL("**/runs/1");
      const { runs } = (await dashboard.daemon.call("GET", "/api/runs")).body as unknown as { runs: unknown[] };
      expect(runs).toHaveLength(1);
      expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
      await context.close();
    },
    SLOW,
  );

  test("two browsers decide at once: one is taken, and the other is told who was first", async () => {
    dashboard.play(STRAIGHT);
    const run = await dashboard.start("feature", "For two");
    const item = await itemOf(dashboard.daemon, run.id);
    const visits = await Promise.all([dashboard.visit(`/g/${item}`), dashboard.visit(`/g/${item}`)]);
    const pages = visits.map(({ page }) => page);
    for (const page of pages) await page.getByRole("heading", { name: "Start “For two”?" }).waitFor();
    const [first, second] = pages as [Page, Page];
    await second.getByRole("textbox", { name: /^Comment/u }).fill("Not this one.");
    // The second one's answer is on its way when the first is given.
    let go = (): void => undefined;
    const held = new Promise<void>((resolve) => (go = resolve));
    await second.route("**/answer", async (route) => {
      await held;
      await route.continue();
    });
    await second.getByRole("button", { name: "Reject" }).click();
    await first.getByRole("button", { name: "Approve" }).click();
    await first.getByText("Approved: For two").waitFor();
    go();
    await second.getByText("Another person has already decided this.").waitFor();
    await second.getByRole("status").getByText("Approved").first().waitFor();
    await second
      .getByText(/^by \S+/u)
      .first()
      .waitFor();
    const events = JSON.stringify((await dashboard.daemon.call("GET", `/api/runs/${run.number}/events`)).body);
    expect(events.match(/"gate\.answered"/gu)).toHaveLength(1);
    // Whoever comes later by the same link sees it as well.
    await first.goto(`${dashboard.daemon.url}/g/${item}`, { waitUntil: "domcontentloaded" });
    await first
      .getByText(/^by \S+/u)
      .first()
      .waitFor();
    for (const { context } of visits) await context.close();
    await dashboard.stands(run.number, "review");
    await dashboard.answer(run.id, "approve");
  });

  test("on a phone by touch: from the inbox to the gate, approved by a thumb that needs no aim", async () => {
    dashboard.play(STRAIGHT);
    const run = await dashboard.start("feature", "By thumb");
    const { context, page, seen } = await dashboard.visit("/", PHONE);
    await page
      .getByRole("link", { name: /By thumb/u })
      .first()
      .tap();
    await page.waitForURL("**/g/**");
    const approve = page.getByRole("button", { name: "Approve" });
    await approve.waitFor();
    for (const name of ["Approve", "Reject"]) {
      const box = await page.getByRole("button", { name }).boundingBox();
      expect(box?.height).toBeGreaterThanOrEqual(44);
      expect(box?.width).toBeGreaterThanOrEqual(44);
    }
    await approve.tap();
    await page.getByText("Approved: By thumb").waitFor();
    await dashboard.stands(run.number, "review");
    expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
    await context.close();
    await dashboard.answer(run.id, "approve");
  });

  test("a decision can be taken back for ten seconds, is sent now on request, when the page is left, or at once without a connection that could send it", async () => {
    dashboard.play(STRAIGHT);
    const runs = [];
    for (const title of ["Undo it", "Send it", "Leave it"]) runs.push(await dashboard.start("feature", title));
    const [undone, sent, left] = runs as [Started, Started, Started];
    const waits = async ({ id }: Started) => (await itemOf(dashboard.daemon, id)) !== undefined;
    const { context, page, seen } = await dashboard.visit(`/g/${await itemOf(dashboard.daemon, undone.id)}`);
    await page.evaluate("localStorage['passrail.undo'] = '30'");
    const held = (title: string) => page.locator("[data-held]").filter({ hasText: title });
    const approve = page.getByRole("button", { name: "Approve" });
    await page.getByText("Live", { exact: false }).first().waitFor();
    await approve.click();
    await held("Undo it")
      .getByText(/is sent in [0-9]+ s/u)
      .waitFor();
    expect(await waits(undone)).toBe(true);
    await held("Undo it").getByRole("button", { name: "Undo" }).click();
    await page.getByRole("heading", { name: "Start “Undo it”?" }).waitFor();
    await held("Undo it").waitFor({ state: "detached" });
    expect(await waits(undone)).toBe(true);

    const open = async ({ id }: Started) =>
      show(page, `${dashboard.daemon.url}/g/${await itemOf(dashboard.daemon, id)}`);
    await open(sent);
    await page.getByText("Live", { exact: false }).first().waitFor();
    await approve.click();
    await held("Send it").getByRole("button", { name: "Send now" }).click();
    await page.getByText("Approved: Send it").waitFor();
    await dashboard.stands(sent.number, "review");

    await open(left);
    await page.getByText("Live", { exact: false }).first().waitFor();
    await approve.click();
    await held("Leave it").waitFor();
    await page.goto("about:blank");
    await dashboard.stands(left.number, "review");
    expect(await waits(undone)).toBe(true);
    expect([seen.complaints, seen.elsewhere.filter((url) => url !== "about:blank")]).toEqual([[], []]);
    await context.close();
    await dashboard.answer(undone.id, "decline", "enough");
    for (const { id } of [sent, left]) await dashboard.answer(id, "approve");
  });

  test("by keyboard alone: to the inbox, through it, a reason, back, approved; the list of keys and the palette", async () => {
    const log = join(dashboard.daemon.dir, "keyboard.jsonl");
    dashboard.play({ ...STRAIGHT, build: [{ verdict: "COMPLETE", write: { "b.txt": "1" }, commit: true, log }] });
    const first = await dashboard.start("feature", "Keys one");
    const second = await dashboard.start("feature", "Keys two");
    const { context, page, seen } = await dashboard.visit("/board");
    const { keyboard } = page;
    // A frame that comes late, as on a busy machine: the keys must not wait for it.
    await page.evaluate(LATE_FRAMES);
    await keyboard.press("g");
    await keyboard.press("i");
    await decision(page).getByRole("heading", { name: "Start “Keys one”?" }).waitFor();
    await keyboard.press("j");
    await decision(page).getByRole("heading", { name: "Start “Keys two”?" }).waitFor();
    await keyboard.press("k");
    await decision(page).getByRole("heading", { name: "Start “Keys one”?" }).waitFor();
    // On the row the keys decide nothing: only inside the decision do they.
    await page.locator("[data-need]:focus").filter({ hasText: "Keys one" }).waitFor();
    await keyboard.press("Control+Enter");
    await page.getByText("Go to the decision first").waitFor();
    expect(await itemOf(dashboard.daemon, first.id)).toBeDefined();
    await keyboard.press("Enter");
    await page.locator("#decision-head:focus").waitFor();
    await keyboard.press("Control+Enter");
    await page.getByText("Approved: Keys one").waitFor();
    await dashboard.stands(first.number, "review");
    // Sent back: the keys lead to the reason that is missing.
    await page.getByRole("link", { name: /Ship “Keys one”/u }).waitFor();
    await keyboard.press("j");
    await decision(page).getByRole("heading", { name: "Ship “Keys one”?" }).waitFor();
    await page.locator("[data-need]:focus").filter({ hasText: "Keys one" }).waitFor();
    await keyboard.press("Enter");
    await page.locator("#decision-head:focus").waitFor();
    await keyboard.press("Control+Shift+Enter");
    await page.locator("main [role=status]").getByText("Enter a reason first").waitFor();
    const comment = page.locator("main textarea:focus");
    await comment.waitFor();
    await keyboard.type("Shorter, please.");
    await expect.poll(() => comment.inputValue()).toBe("Shorter, please.");
    await keyboard.press("Control+Shift+Enter");
    await page.getByText("Sent back: Keys one").waitFor();
    await until("it is built again", () => (readFileSync(log, "utf8").includes("Shorter, please.") ? true : undefined));
    await dashboard.stands(first.number, "review");
    await keyboard.press("Shift+?");
    await page.getByRole("dialog").getByText("Next entry").waitFor();
    await keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    await keyboard.press("Control+k");
    await page.getByRole("dialog").getByRole("combobox").waitFor();
    await keyboard.type("Workers");
    await keyboard.press("Enter");
    await page.waitForURL("**/workers");
    await keyboard.press("g");
    await keyboard.press("i");
    await decision(page).getByRole("heading").first().waitFor();
    expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
    await context.close();
    await dashboard.answer(first.id, "approve");
    await dashboard.answer(second.id, "decline", "enough");
  });
});

type Started = { readonly id: string; readonly number: number };

const LATE_FRAMES = `
  const soon = requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (act) => setTimeout(() => soon(act), 150);
`;

function decision(page: Page) {
  return page.getByRole("region", { name: "Decision" });
}

async function go(page: Page, place: string): Promise<void> {
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: place }).click();
}

async function startRun(page: Page, title: string): Promise<void> {
  await page.getByRole("button", { name: "Start a run" }).click();
  const dialog = page.getByRole("dialog");
  await choose(dialog.getByLabel(/Flow/u), /^feature ·/u);
  await dialog.getByLabel(/Title/u).fill(title);
  await dialog.getByRole("button", { name: /Start/u }).click();
}
