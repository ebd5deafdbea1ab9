// The door of the dashboard: a code that is good once, a session that is kept by the browser and told to nobody else.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isBrowserMissing } from "./browser.ts";
import { DESKTOP, openDashboard, type Dashboard, watch } from "./dashboard.ts";

const SLOW = 150_000;

describe.skipIf(isBrowserMissing())("the door of the dashboard", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await openDashboard();
  }, SLOW);
  afterAll(() => dashboard.close());

  test("a wrong code is refused and says so; the right one opens the page, once", async () => {
    const { daemon, browser } = dashboard;
    const context = await browser.newContext(DESKTOP);
    const page = await context.newPage();
    await page.goto(daemon.url, { waitUntil: "domcontentloaded" });
    const code = page.getByLabel("Login code");
    await code.fill("not-a-code");
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("alert").waitFor();
    expect(await page.getByRole("navigation").count()).toBe(0);
    const right = new URL(await dashboard.address()).hash.replace("#login=", "");
    await code.fill(right);
    await code.press("Enter");
    await page.getByRole("navigation", { name: "Main" }).waitFor();
    // The same code a second time, by somebody who looked over the shoulder.
    const thief = await (await browser.newContext(DESKTOP)).newPage();
    await thief.goto(`${daemon.url}/#login=${right}`, { waitUntil: "domcontentloaded" });
    await thief.getByRole("alert").waitFor();
    expect(await thief.getByRole("navigation").count()).toBe(0);
    await thief.context().close();
    await context.close();
  });

  test("S04: code and token are in no address, no kept storage, no recording but for headers, and no log", async () => {
    const { daemon, browser } = dashboard;
    const har = join(daemon.dir, "visit.har");
    const context = await browser.newContext({ ...DESKTOP, recordHar: { path: har, content: "embed" } });
    const seen = await watch(context, daemon);
    const page = await context.newPage();
    const address = await dashboard.address("/runs?q=a");
    const code = new URL(address).hash.replace("#login=", "");
    await page.goto(address, { waitUntil: "domcontentloaded" });
    await page.getByText("Live", { exact: false }).first().waitFor();
    expect(page.url()).toBe(`${daemon.url}/runs?q=a`);
    await page.getByRole("link", { name: "Flows", exact: true }).click();
    await page.waitForURL("**/flows");
    await page.goBack();
    expect(page.url()).not.toContain(code);
    const kept = (await page.evaluate(
      "({ tab: sessionStorage.getItem('passrail.session'), kept: JSON.stringify(localStorage), cookies: document.cookie })",
    )) as { tab: string; kept: string; cookies: string };
    expect(kept.tab).toHaveLength(daemon.token.length);
    expect(kept.tab).not.toBe(daemon.token);
    expect([kept.cookies, await context.cookies()]).toEqual(["", []]);
    await context.close();

    const secrets = [daemon.token, kept.tab, code];
    const logs = readdirSync(join(daemon.home, "logs")).map((name) =>
      readFileSync(join(daemon.home, "logs", name), "utf8"),
    );
    for (const secret of secrets)
      for (const text of [kept.kept, ...seen.asked, ...logs, daemon.process.err()]) expect(text).not.toContain(secret);
    // A recording has headers, as the browser's own tools do; beyond these only the answer that gave the token has it.
    const recorded = readFileSync(har, "utf8");
    expect(recorded).not.toContain(daemon.token);
    type Entry = { request: { url: string; headers: unknown }; response: { content: { text?: string } } };
    const { entries } = (JSON.parse(recorded) as { log: { entries: Entry[] } }).log;
    expect(entries.length).toBeGreaterThan(5);
    for (const { request, response } of entries) {
      if (request.url.endsWith("/api/sessions")) continue;
      const bare = JSON.stringify([{ ...request, headers: [] }, response]);
      for (const secret of secrets) expect(bare).not.toContain(secret);
    }
    expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
  });

  test("a session that was ended elsewhere leads to the door, and back in by another code", async () => {
    const { context, page } = await dashboard.visit("/runs");
    const own = (await page.evaluate("sessionStorage.getItem('passrail.session')")) as string;
    expect((await dashboard.daemon.call("DELETE", "/api/sessions/current", { token: own })).status).toBe(200);
    await page.reload({ waitUntil: "domcontentloaded" });
    await page.getByLabel("Login code").waitFor();
    await page.getByText("The session has ended.").waitFor();
    await page.getByLabel("Login code").fill(new URL(await dashboard.address()).hash.replace("#login=", ""));
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("navigation", { name: "Main" }).waitFor();
    expect(page.url()).toBe(`${dashboard.daemon.url}/runs`);
    await context.close();
  });

  test("8 tabs at once are all logged in by one code, live and answered", async () => {
    const { context, page, seen } = await dashboard.visit("/");
    const tabs = [page];
    for (const path of ["/board", "/runs", "/tickets", "/flows", "/agents", "/workers", "/insights"]) {
      const tab = await context.newPage();
      tabs.push(tab);
      await tab.goto(`${dashboard.daemon.url}${path}`, { waitUntil: "domcontentloaded" });
    }
    expect(tabs).toHaveLength(8);
    for (const tab of tabs) await tab.getByText("● Live").first().waitFor({ timeout: 10_000 });
    // Everything in the page hears of what happens, through one connection.
    await dashboard.start("feature", "Seen by all");
    for (const tab of tabs)
      await tab.getByText("1 waiting for you").first().waitFor({ state: "attached", timeout: 10_000 });
    expect(seen.asked.filter((url) => url.endsWith("/api/events")).length).toBeLessThanOrEqual(1);
    expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
    await context.close();
  });
});
