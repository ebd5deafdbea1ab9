// Settings and insights with something in them: a key that is made, used and revoked; what a browser remembers; money and loops as they were.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { approveFiles } from "../harness/approve-files.ts";
import { isBrowserMissing } from "./browser.ts";
import { type Dashboard, openDashboard, show, walk } from "./dashboard.ts";
import { faultsOf } from "./faults.ts";
import { picture } from "./picture.ts";

const SLOW = 150_000;
const AGENT = join(import.meta.dirname, "../fixtures/agents/coding-agent.mjs");

describe.skipIf(isBrowserMissing())("settings and insights", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await openDashboard();
  }, SLOW);
  afterAll(() => dashboard.close());

  test("a key is made and shown once, works, and works no more once it is revoked; both are in the audit record", async () => {
    const { daemon } = dashboard;
    const { context, page, seen } = await dashboard.visit("/settings?tab=keys");
    await page.getByText("No keys yet.").waitFor();
    await page.getByRole("button", { name: "Create a key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("ci");
    await dialog.getByLabel("Note").fill("for <b>builds</b>");
    await dialog.getByText("passrail key create ci --scope viewer").waitFor();
    await dialog.getByRole("button", { name: "Create key" }).click();
    await dialog.getByText("Copy the token now: it is shown only once.").waitFor();
    const token = (await dialog.locator("code").innerText()).trim();
    expect((await daemon.call("GET", "/api/runs", { token })).status).toBe(200);
    expect((await daemon.call("POST", "/api/runs", { token, body: { flow: "feature", title: "x" } })).status).toBe(403);
    await dialog.getByRole("button", { name: "I have copied it" }).click();
    await page.getByText("for <b>builds</b>").waitFor();
    expect(await page.content()).not.toContain(token);

    await page.getByRole("button", { name: "Revoke ci" }).click();
    await dialog.getByText("You cannot undo this.").waitFor();
    await dialog.getByRole("button", { name: "Revoke", exact: true }).click();
    await page.getByText("Revoked ci.").waitFor();
    await page.getByText("No keys yet.").waitFor();
    expect((await daemon.call("GET", "/api/runs", { token })).status).toBe(401);

    await show(page, `${daemon.url}/settings?tab=audit`);
    for (const deed of ["POST /api/keys", "DELETE /api/keys/"]) await page.getByText(deed).first().waitFor();
    expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
    await context.close();
  });

  test("every part of the settings is without fault, and what the browser remembers is there after a reload", async () => {
    const { context, page, seen } = await dashboard.visit("/settings");
    await page.getByLabel("Dark").check();
    await page.getByLabel(/Keys without Ctrl/u).uncheck();
    await page.reload({ waitUntil: "domcontentloaded" });
    expect(await page.getByLabel("Dark").isChecked()).toBe(true);
    expect(await page.locator("html").getAttribute("data-theme")).toBe("dark");
    // Switched off is switched off.
    await page.locator("body").press("g");
    await page.locator("body").press("r");
    expect(new URL(page.url()).pathname).toBe("/settings");
    await page.getByLabel(/Keys without Ctrl/u).check();
    await page.getByLabel("System").check();
    for (const tab of ["general", "values", "notices", "keys", "audit"]) {
      await walk(page, `/settings?tab=${tab}`);
      await picture(page, `settings-${tab}-light`);
      expect(await faultsOf(page)).toEqual([]);
    }
    expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
    await context.close();
  });

  test(
    "insights add up what agents told: cost, tokens and attempts by agent, loops and waits",
    async () => {
      const script = join(dashboard.daemon.dir, "paid.json");
      const say = (verdict: string, more = {}) => [{ submit: { verdict, summary: "Done.", ...more } }];
      const words = { spec: "APPROVED", design: "APPROVED" };
      const said = Object.fromEntries(Object.entries(words).map(([stage, word]) => [stage, [say(word)]]));
      writeFileSync(
        script,
        JSON.stringify({
          ...said,
          build: [[{ write: { path: "a.txt", text: "1" } }, ...say("COMPLETE")]],
          qa: [
            say("REVISE", { issues: [{ severity: "major", description: "no tests" }] }),
            say("SHIP", { findings: [{ id: "F1", state: "fixed", reason: "there are tests" }] }),
          ],
        }),
      );
      const settings = { agents: { "*": { runner: "claude", command: [process.execPath, AGENT, script] } } };
      writeFileSync(join(dashboard.daemon.project, "passrail.yaml"), JSON.stringify(settings));
      approveFiles(dashboard.daemon.home, dashboard.daemon.project);
      const run = await dashboard.start("feature", "Paid");
      await dashboard.answer(run.id, "approve");
      await dashboard.stands(run.number, "review");
      const { context, page, seen } = await dashboard.visit("/insights?by=agent&since=all");
      await page.getByText("$1.50", { exact: true }).first().waitFor();
      await page.getByText("in 6 attempts").waitFor();
      const builder = page.getByRole("row").filter({ hasText: "in2" });
      for (const text of ["$0.50", "100 % of the largest"]) await builder.getByText(text).waitFor();
      await page.getByRole("listitem").filter({ hasText: "qa sent work back" }).getByText("1×").waitFor();
      const waits = page.getByRole("row").filter({ hasText: "gate ship" });
      await waits.first().waitFor();
      await picture(page, "insights-paid-light");
      expect(await faultsOf(page)).toEqual([]);
      // A number leads to the runs behind it.
      await builder.getByRole("link", { name: "in2" }).click();
      const behind = page.getByRole("table", { name: "Runs behind the number" });
      await behind.getByRole("link", { name: `#${run.number} Paid` }).waitFor();
      await behind.getByText("$1.50").waitFor();
      await page.getByText("0 of 0 completed runs").waitFor();
      await picture(page, "insights-picked-light");
      expect(await faultsOf(page)).toEqual([]);
      await page.getByRole("link", { name: "Close" }).click();
      await behind.waitFor({ state: "detached" });
      // The run that costs most is the first, and leads to its page.
      await page.getByRole("link", { name: "Run", exact: true }).click();
      await page
        .getByRole("row")
        .nth(1)
        .getByRole("link", { name: `#${run.number} Paid` })
        .waitFor();
      await page.getByRole("row").nth(1).getByText("$1.50").waitFor();
      // The same money on the run, and on its own tab.
      await show(page, `${dashboard.daemon.url}/runs/${run.number}?tab=cost`);
      await page.getByText("$1.50").first().waitFor();
      await picture(page, "run-cost-paid-light");
      expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
      await context.close();
    },
    SLOW,
  );
});
