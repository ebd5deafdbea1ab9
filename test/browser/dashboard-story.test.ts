// Source 003's story in the dashboard: five agents with their indicators, handoffs that open, and changes that come by themselves.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isBrowserMissing } from "./browser.ts";
import { colourOf } from "./colour.ts";
import { type Dashboard, DESKTOP, openDashboard } from "./dashboard.ts";
import { tellStory, type ToldStory } from "./told-story.ts";

const SLOW = 150_000;
const STORY = "v0.1:1.1.1";
const AGENTS = ["analyst", "implementer", "reviewer", "refactorer", "documenter"];
const PLAN = { plan: "<b>first</b> the tests", files_to_modify: ["a.ts"] };
const CODE = { files_changed: ["a.ts"], summary: "s", build_passes: true };

describe.skipIf(isBrowserMissing())("a story's page", () => {
  let dashboard: Dashboard;
  let story: ToldStory;
  beforeAll(async () => {
    dashboard = await openDashboard();
    story = await tellStory(dashboard.daemon, STORY, "Log in");
  }, SLOW);
  afterAll(() => dashboard.close());

  test("R-003-44: it pictures the five agents in order, each with an indicator in words", async () => {
    const { context, page } = await visit();
    expect(await standing(page)).toEqual([
      ["analyst", "active"],
      ["implementer", "pending"],
      ["reviewer", "pending"],
      ["refactorer", "pending"],
      ["documenter", "pending"],
    ]);
    await agent(page, "implementer").getByText("Not yet").waitFor();
    await context.close();
  });

  test("R-003-42: a change is seen within a second without a reload, and nothing of other stories is asked for again", async () => {
    const other = await tellStory(dashboard.daemon, "v0.1:9.9.9", "Another story");
    const { context, page, seen } = await visit();
    await page.getByText("● Live").first().waitFor();
    await page.evaluate("window.isTheSame = true");
    // The other story's page is the sign that its event was heard here.
    const beside = await context.newPage();
    await beside.goto(`${dashboard.daemon.url}/tickets/${encodeURIComponent("v0.1:9.9.9")}`);
    await agent(beside, "analyst", "active").waitFor();
    const ofStory = (): number => seen.asked.filter((url) => url.includes(encodeURIComponent(STORY))).length;
    const before = ofStory();
    await other.hand("analyst", "implementer", PLAN);
    await agent(beside, "implementer", "active").waitFor();
    expect(ofStory()).toBe(before);
    await beside.close();
    /** How much longer than it may each change took to be seen. */
    const late: number[] = [];
    const change = async (act: () => Promise<unknown>, name: string, is: string): Promise<void> => {
      const slowest = Math.max(1000, 10 * (await roundTripMs(page)));
      await act();
      const from = performance.now();
      await agent(page, name, is).waitFor({ timeout: 30_000 });
      late.push(performance.now() - from - slowest);
    };
    await change(() => story.hand("analyst", "implementer", PLAN), "implementer", "active");
    await change(() => story.hand("implementer", "reviewer", CODE), "reviewer", "active");
    const last = await lastHandoff();
    await change(() => story.reject(last, "Tests failing"), "implementer", "active");
    // In the middle: a machine that is busy with other tests may be late once.
    expect(late.toSorted((a, b) => a - b)[1]).toBeLessThan(0);
    expect(await page.evaluate("window.isTheSame")).toBe(true);
    await context.close();
  });

  test("R-003-49: after a reject the implementer pulses, the reviewer has no check, and attempts are numbered", async () => {
    const { context, page } = await visit();
    expect(await standing(page)).toEqual([
      ["analyst", "done"],
      ["implementer", "active"],
      ["reviewer", "rejected"],
      ["refactorer", "pending"],
      ["documenter", "pending"],
    ]);
    expect(await agent(page, "implementer").locator(".pulse").count()).toBe(1);
    expect(await agent(page, "reviewer").locator(".lucide-check").count()).toBe(0);
    await agent(page, "implementer").getByText("attempt 2").waitFor();
    await context.close();
  });

  test("R-003-45: handoffs are a list with times that opens; R-003-46: a click shows the payload, formatted and as text", async () => {
    const { context, page } = await visit();
    const rows = page.getByRole("button", { name: /to (implementer|reviewer|analyst)/u });
    expect(await rows.count()).toBeGreaterThanOrEqual(4);
    expect(await rows.first().locator("time").getAttribute("datetime")).toMatch(/^\d{4}-\d\d-\d\dT/u);
    const row = page.getByRole("button", { name: /analyst\s+to\s+implementer/u }).first();
    expect(await row.getAttribute("aria-expanded")).toBe("false");
    await row.click();
    await page.getByText(JSON.stringify(PLAN, null, 2)).waitFor();
    expect(await page.locator("main pre b").count()).toBe(0);
    expect(page.url()).toContain("handoff=");
    // What is open stands in the address, and opens there for somebody else.
    const { context: second, page: theirs } = await dashboard.visit(
      new URL(page.url()).pathname + new URL(page.url()).search,
    );
    await theirs.getByText(JSON.stringify(PLAN, null, 2)).waitFor();
    await second.close();
    await row.click();
    await page.getByText(JSON.stringify(PLAN, null, 2)).waitFor({ state: "hidden" });
    await context.close();
  });

  test("R-003-47: why something was rejected is on the page", async () => {
    const { context, page } = await visit();
    await page.getByText("Tests failing").first().waitFor();
    await agent(page, "reviewer").getByText("Tests failing").waitFor();
    await context.close();
  });

  test("R-003-48: the current agent's name, the progress, a blue pulse on who is active, a green check on who is done", async () => {
    const { context, page } = await dashboard.visit(path(), { ...DESKTOP, reducedMotion: "no-preference" });
    await page.getByText("Now: implementer").waitFor();
    await page.getByText("1 of 5 done").waitFor();
    expect(await page.getByRole("progressbar").getAttribute("value")).toBe("1");
    const active = agent(page, "implementer");
    await page.getByRole("progressbar").waitFor();
    expect(
      await page.evaluate("getComputedStyle(document.querySelector('[data-is=active] .pulse')).animationName"),
    ).not.toBe("none");
    const blue = await colourOf(active);
    expect(blue.blue).toBeGreaterThan(Math.max(blue.red, blue.green));
    const done = agent(page, "analyst");
    await done.locator(".lucide-check").waitFor();
    const green = await colourOf(done);
    expect(green.green).toBeGreaterThan(Math.max(green.red, green.blue));
    await context.close();
  });

  test("R-003-50: loading, empty, failed and offline are said; the keyboard reaches everything; words beside colours", async () => {
    const { context, page } = await visit();
    const words = await Promise.all(AGENTS.map((name) => agent(page, name).innerText()));
    expect(words.map((text) => /Done|Working|Not yet|Sent back|Handed over/u.test(text))).toEqual(Array(5).fill(true));
    const row = page.getByRole("button", { name: /analyst\s+to\s+implementer/u }).first();
    await row.focus();
    await page.keyboard.press("Enter");
    await page.getByText(JSON.stringify(PLAN, null, 2)).waitFor();
    // The same address, answered late, with nothing, and with a fault.
    let go = (): void => undefined;
    const held = new Promise<void>((resolve) => (go = resolve));
    await page.route("**/api/handoffs?*", async (route) => {
      await held;
      await route.fulfill({ json: { currentAgent: null, phase: null, handoffs: [] } });
    });
    await page.reload({ waitUntil: "domcontentloaded" });
    await page.getByText("Loading the story…").waitFor();
    go();
    await page.getByText("No handoffs yet.").waitFor();
    await page.unroute("**/api/handoffs?*");
    const problem = { type: "x", title: "x", status: 500, code: "internal_error", detail: "It broke." };
    await page.route("**/api/handoffs?*", (route) => route.fulfill({ status: 500, json: problem }));
    await page.reload({ waitUntil: "domcontentloaded" });
    await page.getByRole("alert").getByText("It broke.").waitFor();
    await page.unroute("**/api/handoffs?*");
    await page.getByRole("button", { name: "Try again" }).click();
    await agent(page, "analyst").waitFor();
    dashboard.daemon.process.child.kill("SIGKILL");
    await page.getByText("The daemon cannot be reached.").waitFor();
    await page.getByText("Reconnecting, stale for").first().waitFor();
    await agent(page, "analyst").waitFor();
    await context.close();
  });

  const path = (): string => `/tickets/${encodeURIComponent(STORY)}`;

  async function visit(): Promise<Awaited<ReturnType<Dashboard["visit"]>>> {
    const visited = await dashboard.visit(path());
    await agent(visited.page, "analyst").waitFor();
    return visited;
  }

  async function lastHandoff(): Promise<number> {
    const { handoffs } = (await dashboard.daemon.call("GET", `/api/handoffs?storyId=${STORY}`)).body as unknown as {
      handoffs: { id: number }[];
    };
    return handoffs.at(-1)?.id ?? 0;
  }
});

function agent(page: Page, name: string, is?: string) {
  return page.locator(`[data-agent="${name}"]${is === undefined ? "" : `[data-is="${is}"]`}`);
}

async function standing(page: Page): Promise<unknown> {
  const all = await page.locator("[data-agent]").all();
  return Promise.all(all.map((each) => Promise.all([each.getAttribute("data-agent"), each.getAttribute("data-is")])));
}

/** One question to the daemon and two frames: a few hundredths of a second, and more where the machine is busy with other tests. */
async function roundTripMs(page: Page): Promise<number> {
  const from = performance.now();
  await page.evaluate(`fetch(location.href).then((answer) => answer.text())
    .then(() => new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown))))`);
  return performance.now() - from;
}
