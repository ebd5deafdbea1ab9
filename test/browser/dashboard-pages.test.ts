// Every page and what opens over it, in light, in dark and on a phone: nothing that axe finds, nothing wider than the screen, no error in the
// console; and a picture of each in test-results/screenshots, for people to look at.

import { gzipSync } from "node:zlib";
import type { Page, Response } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isBrowserMissing } from "./browser.ts";
import { type Dashboard, DESKTOP, openDashboard, PHONE, SAVES_DATA, walk } from "./dashboard.ts";
import { faultsOf, OVERLAYS } from "./faults.ts";
import { faultsInEveryLook } from "./looks.ts";
import { picture } from "./picture.ts";
import { type Populated, populate } from "./populated.ts";

const SLOW = 240_000;

describe.skipIf(isBrowserMissing())("every page", () => {
  let dashboard: Dashboard;
  let populated: Populated;
  beforeAll(async () => {
    dashboard = await openDashboard();
    populated = await populate(dashboard);
  }, SLOW);
  afterAll(() => dashboard.close());

  test(
    "is without fault in axe's eyes, not too wide, and without an error, in light, in dark and on a phone",
    async () => {
      const { context, page, seen } = await dashboard.visit("/", DESKTOP);
      const faults: string[] = [];
      for (const [title, path] of populated.pages) {
        await walk(page, path);
        faults.push(...(await faultsInEveryLook(page, title)));
        faults.push(...seen.complaints.splice(0).map((text) => `${title}: ${text}`));
      }
      expect(faults).toEqual([]);
      expect(seen.elsewhere).toEqual([]);
      await context.close();
    },
    SLOW,
  );

  test(
    "what opens over a page is without fault as well: commands, keys, menus and every form",
    async () => {
      const { context, page, seen } = await dashboard.visit("/", DESKTOP);
      const faults: string[] = [];
      const overlays = overlaysOf(page, populated);
      let at = "";
      for (const [name, path, open] of overlays) {
        if (path !== at) await walk(page, path);
        at = path;
        const over = page.locator(OVERLAYS).first();
        const opened = async (): Promise<void> => {
          if (await over.isVisible()) return;
          await open();
          await over.waitFor();
        };
        faults.push(...(await faultsInEveryLook(page, `over-${name}`, opened)));
        await page.keyboard.press("Escape");
        await over.waitFor({ state: "detached" });
        faults.push(...seen.complaints.splice(0).map((text) => `${name}: ${text}`));
      }
      expect(faults).toEqual([]);
      await context.close();
    },
    SLOW,
  );

  test("the shell is at most 150 KB of packed script, and with it a page that a phone opens at most 170 KB", async () => {
    for (const [path, sign] of [
      ["/", /Ship “Login by a code”/u],
      [`/g/${populated.ship.item}`, /^Approve/u],
    ] as const) {
      const context = await dashboard.browser.newContext(PHONE);
      const page = await context.newPage();
      // A phone that saves data loads nothing ahead.
      await page.addInitScript(SAVES_DATA);
      const asked: string[] = [];
      const scripts: Response[] = [];
      page.on("request", (request) => void asked.push(request.url()));
      page.on("response", (response) => {
        if (response.request().resourceType() === "script") scripts.push(response);
      });
      await page.goto(await dashboard.address(path), { waitUntil: "domcontentloaded" });
      await page.getByText(sign).first().waitFor();
      // The diff comes behind the decision, and nobody waits for it: neither it nor what is asked for with it counts.
      const behind = asked.findIndex((url) => /\/run-changes/u.test(url));
      const waited = scripts.filter((response) => behind === -1 || asked.indexOf(response.url()) < behind);
      // Read now: the body of a script that comes later is gone with its page.
      const packed = await Promise.all(
        waited.map(async (response) => ({
          path: new URL(response.url()).pathname,
          size: gzipSync(await response.body()).length,
        })),
      );
      const document = await (await context.request.get(dashboard.daemon.url)).text();
      const named = new Set([...document.matchAll(/(?:src|href)="(?<path>[^"]+\.js)"/gu)].map((each) => each[1]));
      const sum = (of: typeof packed) => of.reduce((total, { size }) => total + size, 0);
      const shell = packed.filter((each) => named.has(each.path));
      // Every script that the document names was measured.
      expect(new Set(shell.map((each) => each.path))).toEqual(named);
      expect(sum(shell)).toBeGreaterThan(50 * 1024);
      expect(sum(shell)).toBeLessThanOrEqual(150 * 1024);
      expect(sum(packed)).toBeLessThanOrEqual(170 * 1024);
      await context.close();
    }
  });

  test("the door and a page that is not there are without fault as well", async () => {
    const context = await dashboard.browser.newContext(PHONE);
    const page = await context.newPage();
    await page.goto(dashboard.daemon.url, { waitUntil: "domcontentloaded" });
    await page.getByLabel("Login code").waitFor();
    await picture(page, "login-phone");
    expect(await faultsOf(page)).toEqual([]);
    await page.goto(await dashboard.address("/runs/999"), { waitUntil: "domcontentloaded" });
    await page.getByRole("navigation", { name: "Main" }).waitFor();
    await page.getByRole("alert").first().waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await context.close();
  });
});

type OverlayOf = readonly [name: string, path: string, open: () => Promise<void>];

/** Those of one page stand together: it is loaded once for all of them. */
function overlaysOf(page: Page, { ship, done, working }: Populated): readonly OverlayOf[] {
  const press = (name: string | RegExp) => () => page.getByRole("button", { name }).first().click();
  const type = (keys: string) => () => page.keyboard.press(keys);
  const act = (name: string) => async () => {
    await press("Actions")();
    await page.getByRole("menuitem", { name, exact: true }).click();
  };
  const select = async () => {
    const first = page.getByRole("row").nth(1).getByRole("checkbox");
    // The window's size changed: what was selected may be so still.
    if (!(await first.isChecked())) await first.check();
    await page.getByRole("region", { name: "Selected" }).getByRole("button", { name: "Pause" }).click();
  };
  return [
    ["commands", "/", type("Control+k")],
    ["keys", "/", type("Shift+?")],
    ["pause-all", "/", () => commandNamed(page, "Pause everything")],
    ["start", "/flows/feature", press("Start a run")],
    ["new-ticket", "/work", press("New ticket")],
    ["bulk", "/runs", select],
    ["actions", `/runs/${working}`, press("Actions")],
    ["cancel", `/runs/${working}`, act("Cancel")],
    ["budget", `/runs/${working}`, press("Change budget")],
    [
      "event",
      `/runs/${ship.number}?tab=history`,
      () => page.getByRole("group", { name: "Events" }).getByRole("button").first().click(),
    ],
    ["discard", `/runs/${done}`, press(/^Discard/u)],
    ["setting", "/settings?tab=values", press(/^Change/u)],
    ["new-key", "/settings?tab=keys", press(/^(?:Create|New)/u)],
    ["add-project", "/projects", press(/^Add/u)],
    ["remove-project", "/projects", press(/^Remove/u)],
  ];
}

async function commandNamed(page: Page, words: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Commands" }).getByRole("combobox").fill(words);
  await page.getByRole("option", { name: words }).first().click();
  await page.getByRole("dialog", { name: "Commands" }).waitFor({ state: "detached" });
}
