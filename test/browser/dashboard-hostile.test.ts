// S16 in the dashboard: text of agents, tickets and files is text. Whatever it says, no dialog opens, nobody else is asked for anything, the
// page's policy has nothing to stop, and no element comes from it.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isBrowserMissing } from "./browser.ts";
import { type Dashboard, itemOf, openDashboard, show, STRAIGHT } from "./dashboard.ts";
import { NAMES, PAYLOADS, TITLES } from "./payloads.ts";
import { tellStory } from "./told-story.ts";

const SLOW = 240_000;
const TICKET = `<img/src=x/onerror=alert(1)>`;
const STORY = `v0.1:<svg/onload=alert(1)>`;

describe.skipIf(isBrowserMissing())("hostile text", () => {
  let dashboard: Dashboard;
  let pages: readonly string[];
  beforeAll(async () => {
    dashboard = await openDashboard();
    pages = await plant();
  }, SLOW);
  afterAll(() => dashboard.close());

  test(
    "S16: 30 payloads in titles, bodies, ids, verdicts, logs, file names and handoffs are text on every page",
    async () => {
      expect(PAYLOADS.length).toBeGreaterThanOrEqual(30);
      const { context, page, seen } = await dashboard.visit("/");
      const found: unknown[] = [];
      for (const path of pages) {
        await show(page, `${dashboard.daemon.url}${path}`);
        await openEverything(page);
        found.push(...(await injected(page)).map((what) => [path, what]));
        found.push(...seen.complaints.splice(0).map((what) => [path, what]));
      }
      expect(found).toEqual([]);
      expect(seen.elsewhere).toEqual([]);
      await context.close();
    },
    SLOW,
  );

  test("S08: characters that hide are shown", async () => {
    const { context, page } = await dashboard.visit(`/tickets/${encodeURIComponent(TICKET)}`);
    await page.getByText("U+202E").first().waitFor();
    await page.getByText("U+200B").first().waitFor();
    await context.close();
  });

  /** Everything that can carry text carries all of it; the pages where it is shown. */
  async function plant(): Promise<readonly string[]> {
    const { daemon } = dashboard;
    const all = PAYLOADS.join("\n\n");
    const verdict = { agent: "IN1", feature_id: TICKET, verdict: "APPROVED", summary: PAYLOADS.slice(0, 12).join(" ") };
    const issues = PAYLOADS.map((text, at) => ({
      severity: "major",
      description: text,
      file: NAMES[at] ?? "",
      line: at,
    }));
    dashboard.play({
      ...STRAIGHT,
      spec: [{ via: "text", text: `${all}\n\n\`\`\`json\n${JSON.stringify(verdict)}\n\`\`\`` }],
      build: [{ verdict: "COMPLETE", summary: all.slice(0, 1500), write: written(), commit: true }],
      qa: [
        { verdict: "REVISE", issues },
        { verdict: "SHIP", summary: all.slice(0, 1500) },
      ],
    });
    const run = await dashboard.start("feature", TITLES[1] ?? "", { id: TICKET, body: all });
    const item = await itemOf(daemon, run.id);
    await dashboard.answer(run.id, "approve", all);
    for (const title of TITLES) await dashboard.start("feature", title, { body: all });
    const handoff = await handOver(all);
    await dashboard.stands(run.number, "review");
    const ship = await itemOf(daemon, run.id);
    const tabs = ["timeline", "stages", "log", "changes", "events", "artifacts", "cost"];
    return [
      "/",
      `/?item=${ship}`,
      `/g/${ship}`,
      `/g/${item}`,
      "/board?flow=feature",
      `/board?flow=feature&ticket=${encodeURIComponent(TICKET)}`,
      "/runs",
      `/runs?q=${encodeURIComponent(PAYLOADS[0] ?? "")}`,
      ...tabs.map((tab) => `/runs/${run.number}?tab=${tab}&stage=spec&attempt=1`),
      `/runs/${run.number}?tab=${encodeURIComponent(PAYLOADS[1] ?? "")}&stage=${encodeURIComponent(PAYLOADS[3] ?? "")}`,
      "/tickets",
      `/tickets/${encodeURIComponent(TICKET)}`,
      `/tickets/${encodeURIComponent(STORY)}`,
      `/tickets/${encodeURIComponent(STORY)}?handoff=${handoff}`,
      `/flows/${encodeURIComponent("<svg onload=alert(1)>")}`,
      "/agents",
      "/workers",
      "/insights",
      "/settings",
    ];
  }

  /** Git keeps names as they are; a file system does not take all of them. */
  function written(): Record<string, string> {
    return Object.fromEntries(NAMES.map((name, at) => [`${at} ${name}`, PAYLOADS[at] ?? ""]));
  }

  /** The number of the handoff that holds it all. */
  async function handOver(text: string): Promise<number> {
    const story = await tellStory(dashboard.daemon, STORY, TITLES[3] ?? "", text);
    const payload = { plan: text, ...Object.fromEntries(PAYLOADS.map((each) => [each, each])) };
    const handoff = await story.hand("analyst", "implementer", payload);
    await story.reject(handoff, text);
    return handoff;
  }
});

/** What is folded is opened, so that it is drawn. */
async function openEverything(page: Page): Promise<void> {
  await page.evaluate(`(() => {
    for (const each of document.querySelectorAll("main details")) each.open = true;
    for (const each of document.querySelectorAll("main button[aria-expanded=false]")) each.click();
  })()`);
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
}

/** Elements and attributes that no page of ours has. */
async function injected(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const strange = "iframe, object, embed, base, video, audio, math, meta[http-equiv], form[action], [srcdoc], [name=token], " +
      "main img, main style, main link, main script";
    const found = [...document.querySelectorAll(strange)].map((each) => each.outerHTML.slice(0, 200));
    for (const each of document.querySelectorAll("*"))
      for (const { name } of each.attributes) if (name.startsWith("on")) found.push(each.outerHTML.slice(0, 200));
    for (const { src = "", href = "", outerHTML } of document.querySelectorAll("script, link"))
      if (new URL(src || href, location).origin !== location.origin) found.push(outerHTML.slice(0, 200));
    for (const link of document.querySelectorAll("a[href]")) {
      const isOurs = link.origin === location.origin;
      const isSafe = /^(https?:|mailto:)/.test(link.getAttribute("href")) && /noopener/.test(link.rel) && /nofollow/.test(link.rel);
      if (!isOurs && !isSafe) found.push(link.outerHTML.slice(0, 200));
    }
    if (window.hit !== undefined) found.push("a script ran");
    return found;
  })()`);
}
