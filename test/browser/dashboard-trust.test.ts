// The page on which a person approves the files that decide what runs, and the badges that say what contained the agents.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isBrowserMissing } from "./browser.ts";
import { type Dashboard, DESKTOP, itemOf, openDashboard, show, STRAIGHT, walk } from "./dashboard.ts";
import { faultsOf, overflowsOf } from "./faults.ts";
import { injected, openEverything } from "./injected.ts";
import { NAMES, PAYLOADS } from "./payloads.ts";
import { faultsInEveryLook } from "./looks.ts";
import { picture } from "./picture.ts";

const SLOW = 240_000;
const FLOW = "flow: own\nversion: 1\nsubject: task\nallow_ungated: true\nstages:\n  - { id: ship, kind: gate }\n";
/** How a badge names an agent that ran beside the person's own files. */
const BARE = /no sandbox: worktree, processes held by/u;

describe.skipIf(isBrowserMissing())("trust", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await openDashboard();
  }, SLOW);
  afterAll(() => dashboard.close());

  const write = (path: string, text: string): void => {
    const file = join(dashboard.daemon.project, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  const stateOf = async () => (await dashboard.daemon.call("GET", "/api/trust")).body["state"] as unknown;
  const button = (page: Page, name: string) => page.getByRole("button", { name });

  test(
    "S10: the inbox leads to a change, which a person reads, approves and revokes; the first use asks in the same place",
    async () => {
      write(".passrail/flows/own.yaml", FLOW);
      const { context, page, seen } = await dashboard.visit("/", DESKTOP);
      await page
        .getByText(/^Files that decide what runs wait for your approval/u)
        .last()
        .waitFor();
      await page.getByRole("link", { name: "Look", exact: true }).click();
      await page.getByText("The files have changed. Runs keep the approved version.").waitFor();
      await page.getByText("flow own: a person decides at ship").waitFor();
      await page.getByText("+  - { id: ship, kind: gate }").waitFor();
      await picture(page, "trust-changed-light");
      await button(page, "Approve this version").click();
      await page.getByText("Approved. Runs use these files.").last().waitFor();
      await expect.poll(stateOf).toBe("approved");
      await button(page, "Revoke the approval…").click();
      await page.getByRole("dialog").waitFor();
      expect(await faultsOf(page)).toEqual([]);
      await picture(page, "trust-revoke-light");
      await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
      await expect.poll(stateOf).toBe("approved");
      await button(page, "Revoke the approval…").click();
      await page.getByRole("dialog").getByRole("button", { name: "Revoke", exact: true }).click();
      await page.getByText("These files are not approved. Nothing starts before you approve them.").waitFor();
      expect(await stateOf()).toBe("new");
      await picture(page, "trust-new-light");
      expect(await faultsOf(page)).toEqual([]);
      await button(page, "Approve this version").click();
      await page.getByText("Approved. Runs use these files.").last().waitFor();
      await expect.poll(stateOf).toBe("approved");
      expect(seen).toMatchObject({ complaints: [], elsewhere: [] });
      await context.close();
    },
    SLOW,
  );

  test(
    "S10: a file that changes under the page is not approved with it",
    async () => {
      write(".passrail/flows/own.yaml", `${FLOW}  - { id: second, kind: gate }\n`);
      const { context, page } = await dashboard.visit("/trust", DESKTOP);
      await button(page, "Approve this version").waitFor();
      write(".passrail/flows/own.yaml", `${FLOW}  - { id: third, kind: gate }\n`);
      await button(page, "Approve this version").click();
      await page.getByText("The files have changed since this page showed them.").waitFor();
      expect(await stateOf()).toBe("changed");
      await button(page, "Look again").click();
      await page.getByText("+  - { id: third, kind: gate }").waitFor();
      await context.close();
    },
    SLOW,
  );

  test(
    "S16: hostile names and lines are text; light, dark and narrow pages are without fault",
    async () => {
      for (const [at, name] of NAMES.entries())
        if (!/\p{C}/u.test(name)) write(`.passrail/prompts/${at} ${name}.md`, PAYLOADS[at] ?? "");
      write(".passrail/prompts/hidden.md", PAYLOADS.join("\n"));
      const { context, page, seen } = await dashboard.visit("/trust");
      await page.getByText("U+202E").first().waitFor();
      await openEverything(page);
      expect(await injected(page)).toEqual([]);
      expect(await faultsInEveryLook(page, "trust-hostile")).toEqual([]);
      expect(await overflowsOf(page)).toEqual([]);
      expect(seen).toMatchObject({ complaints: [], elsewhere: [] });
      await context.close();
    },
    SLOW,
  );

  test(
    "S06: the gate and the run say what contained the agents, and the gate marks files that decide what runs",
    async () => {
      const files = { ".github/workflows/ci.yml": "on: push", "passrail.yaml": "slots: 9", "package-lock.json": "{}" };
      dashboard.play({ ...STRAIGHT, build: [{ verdict: "COMPLETE", write: files, commit: true }] });
      const run = await dashboard.start("feature", "Badges");
      const { context, page } = await dashboard.visit("/", DESKTOP);
      await walk(page, `/g/${await itemOf(dashboard.daemon, run.id)}`);
      expect(await page.getByText("no sandbox").count()).toBe(0);
      await dashboard.answer(run.id, "approve");
      await dashboard.stands(run.number, "review");
      await walk(page, `/g/${await itemOf(dashboard.daemon, run.id)}`);
      await page.getByText(BARE).first().waitFor();
      await page.getByText("Look at these changes first").waitFor();
      await page.getByText("is CI configuration").waitFor();
      expect(await faultsInEveryLook(page, "badge-gate")).toEqual([]);
      await show(page, `${dashboard.daemon.url}/runs/${run.number}?tab=stages`);
      expect(await page.getByText(BARE).count()).toBe(4);
      expect(await faultsInEveryLook(page, "badge-run")).toEqual([]);
      await context.close();
    },
    SLOW,
  );
});
