// An escalation about a finding that does not converge: both sides' words on one page, and the run's list of findings.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isBrowserMissing } from "./browser.ts";
import { type Dashboard, itemOf, openDashboard, STRAIGHT } from "./dashboard.ts";
import { picture } from "./picture.ts";

const SLOW = 150_000;
const HOSTILE = "<img src=x onerror=alert(1)> \u202eevil";

describe.skipIf(isBrowserMissing())("findings", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await openDashboard();
  }, SLOW);
  afterAll(() => dashboard.close());

  test(
    "the escalation shows the finding, the reviewer's reasons and the builder's notes of every iteration",
    async () => {
      const built = { verdict: "COMPLETE", write: { "src/name.ts": "export {};" }, commit: true };
      dashboard.play({
        ...STRAIGHT,
        build: [built],
        "build#2": [{ ...built, findings: [{ id: "F1", note: "guarded the empty name" }] }],
        "build#3": [{ ...built, findings: [{ id: "F2", note: HOSTILE }] }],
        "qa#1": [
          {
            verdict: "REVISE",
            issues: [{ severity: "major", description: "empty names crash", file: "src/name.ts", line: 7 }],
          },
        ],
        "qa#2": [
          {
            verdict: "REVISE",
            issues: ["the log is noisy"],
            findings: [{ id: "F1", state: "fixed", reason: "no crash" }],
          },
        ],
        "qa#3": [
          {
            verdict: "REVISE",
            issues: [],
            findings: [
              { id: "F1", state: "not_fixed", reason: "it crashes again with a space" },
              { id: "F2", state: "not_fixed", reason: "as noisy as before" },
            ],
          },
        ],
      });
      const run = await dashboard.start("feature", "Names", { body: "Names can be empty." });
      await dashboard.answer(run.id, "approve");
      await dashboard.stands(run.number, "escalated");
      const { context, page, seen } = await dashboard.visit(`/g/${(await itemOf(dashboard.daemon, run.id)) ?? ""}`);
      const findings = page.getByRole("list", { name: "Findings" });
      const first = findings.locator("#finding-F1");
      await first.waitFor();
      const said = (await first.innerText()).replaceAll(/\s+/gu, " ");
      for (const words of [
        "raised by qa, iteration 1",
        "src/name.ts:7",
        "F1 came back after it was closed",
        "empty names crash",
        "build, iteration 2: says — guarded the empty name",
        "qa, iteration 2: fixed — no crash",
        "qa, iteration 3: not fixed — it crashes again with a space",
      ])
        expect(said).toContain(words);
      expect(await findings.locator("#finding-F2").innerText()).toContain("<img src=x onerror=alert(1)>");
      // Why it is asked now stands before the evidence: no loop is left here, and what does not get fixed is named.
      await page.getByText("No loop is left, and F1 came back after it was closed.", { exact: false }).waitFor();
      await picture(page, "escalation-findings");

      await page.goto(page.url().replace(/\/g\/.*$/u, `/runs/${run.number}?tab=findings`));
      await page.getByRole("list", { name: "Findings", exact: true }).locator("#finding-F2").waitFor();
      const loops = page.getByRole("table", { name: "Loops" });
      const judge = loops.getByRole("row").filter({ hasText: "qa" });
      await judge.getByText("3 of 3").waitFor();
      await judge.getByText("build", { exact: true }).waitFor();
      await picture(page, "run-findings");
      expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
      await context.close();
    },
    SLOW,
  );
});
