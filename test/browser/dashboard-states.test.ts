// What a page says while it has nothing to say: nothing there yet, still loading, refused by the daemon, and no daemon at all.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../harness/until.ts";
import { isBrowserMissing } from "./browser.ts";
import { type Dashboard, openDashboard, walk } from "./dashboard.ts";
import { faultsOf } from "./faults.ts";
import { faultsInEveryLook } from "./looks.ts";
import { picture } from "./picture.ts";

const SLOW = 240_000;
const PLACES = [
  "/",
  "/board",
  "/runs",
  "/tickets",
  "/flows",
  "/agents",
  "/workers",
  "/projects",
  "/insights",
  "/trust",
  "/settings?tab=keys",
];
const named = (path: string): string => path.replaceAll(/[^a-z]/gu, "") || "inbox";

describe.skipIf(isBrowserMissing())("a page without its data", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await openDashboard();
  }, SLOW);
  afterAll(() => dashboard.close());

  test(
    "R-003-50: where there is nothing yet every page says so, in light, in dark and on a phone",
    async () => {
      const { context, page, seen } = await dashboard.visit("/");
      const faults: string[] = [];
      for (const path of PLACES) {
        await walk(page, path);
        faults.push(...(await faultsInEveryLook(page, `empty-${named(path)}`)));
      }
      expect(faults).toEqual([]);
      expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
      await context.close();
    },
    SLOW,
  );

  test(
    "R-003-50: what the daemon refuses stands on the page with its reason, and trying again helps once it is well",
    async () => {
      const { context, page } = await dashboard.visit("/");
      let isWell = false;
      await page.route("**/api/**", async (route) => {
        const path = new URL(route.request().url()).pathname;
        if (isWell || /sessions|whoami|events/u.test(path)) return route.continue();
        const problem = {
          type: "about:blank",
          title: "No",
          status: 500,
          code: "internal",
          detail: "The disk is full.",
        };
        return route.fulfill({ status: 500, contentType: "application/problem+json", body: JSON.stringify(problem) });
      });
      for (const path of PLACES) {
        isWell = false;
        await page.goto(`${dashboard.daemon.url}${path}`, { waitUntil: "domcontentloaded" });
        await page.getByRole("alert").getByText("The disk is full.").first().waitFor();
        if (path === "/runs") expect(await faultsOf(page)).toEqual([]);
        isWell = true;
        // A page may have failed in several places, one behind the other.
        await until(`${path} is well`, async () => {
          const again = page.getByRole("button", { name: "Try again" });
          if ((await again.count()) > 0) await again.first().click();
          return (await page.getByRole("alert").count()) === 0 ? true : undefined;
        });
      }
      await context.close();
    },
    SLOW,
  );

  test("R-003-50: while it loads a page says what it loads, and is without fault", async () => {
    const { context, page } = await dashboard.visit("/");
    let go = (): void => undefined;
    const held = new Promise<void>((resolve) => (go = resolve));
    await page.route("**/api/runs?**", async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(`${dashboard.daemon.url}/runs`, { waitUntil: "domcontentloaded" });
    await page
      .getByRole("main")
      .getByText(/^Loading .*…$/u)
      .first()
      .waitFor();
    await picture(page, "loading-runs-light");
    expect(await faultsOf(page)).toEqual([]);
    go();
    await page
      .getByRole("main")
      .getByText(/^Loading .*…$/u)
      .first()
      .waitFor({ state: "detached" });
    await context.close();
  });
});
