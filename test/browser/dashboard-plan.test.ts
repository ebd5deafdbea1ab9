// A build plan from the start form to the merge: what is read from the plan before anything starts, the exception that a person allows, the
// merge gate with its evidence and its true words, where the work landed, and the project with its queue.

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { approveFiles } from "../harness/approve-files.ts";
import { APPROVED, hands } from "../harness/handoff-text.ts";
import { until } from "../harness/until.ts";
import { INPUT, planSaying, SPEC, TASK } from "../scenarios/build-plan/plan-bench.ts";
import { isBrowserMissing } from "./browser.ts";
import { choose } from "./choose.ts";
import { type Dashboard, DESKTOP, itemOf, openDashboard, PHONE, walk } from "./dashboard.ts";
import { faultsOf } from "./faults.ts";
import { picture } from "./picture.ts";

const SLOW = 150_000;
const LONGEST_WAIT = 60_000;

describe.skipIf(isBrowserMissing())("a build plan", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await openDashboard();
    const { project, home } = dashboard.daemon;
    const built = hands(
      { gates: ["Tests: OK (1 test)"] },
      { write: { "src/names.ts": "export const names = [];" }, commit: true },
    );
    const script = {
      dev: [built],
      dod: [APPROVED],
      review: [APPROVED],
      test: [APPROVED],
      "update-specs": [hands()],
    };
    const settings = {
      agents: { "*": { command: dashboard.daemon.player(script).split(" ") } },
      checks: { unit: [process.execPath, "-e", "console.log('1 passed')"] },
      merge: { target: "main", forge: "local" },
    };
    mkdirSync(join(project, "docs"));
    for (const [path, text] of Object.entries({
      "README.md": "# names\n",
      "docs/spec.md": SPEC,
      "docs/plan.md": planSaying("Complexity: standard", "New infrastructure: no"),
      "docs/task.md": TASK,
      "passrail.yaml": JSON.stringify(settings),
    }))
      writeFileSync(join(project, path), text);
    for (const words of [
      ["add", "-A"],
      ["commit", "-q", "-m", "plan"],
    ])
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@localhost", ...words], { cwd: project });
    approveFiles(home, project);
    writeFileSync(join(project, "notes.txt"), "not committed\n");
  }, SLOW);
  afterAll(() => dashboard.close());

  test(
    "is read before it starts, allowed by a person, judged with its evidence, and landed where the gate said",
    async () => {
      const { daemon } = dashboard;
      const { context, page, seen } = await dashboard.visit("/runs", DESKTOP);
      await page.keyboard.press("n");
      const form = page.getByRole("dialog");
      await choose(form.getByLabel("Flow"), /^build-plan · the flow/u);
      for (const [name, path] of Object.entries(INPUT)) await form.getByLabel(name, { exact: true }).fill(path);
      const read = form.getByRole("region", { name: "What will start" });
      await read.getByText("build-plan-standard", { exact: true }).waitFor();
      const told = (await read.innerText()).replaceAll(/\s+/gu, " ");
      expect(told).toContain("Complexity: standard");
      expect(told).toContain("New infrastructure: no");
      expect(told).toContain("The project has uncommitted files: notes.txt");
      await form.getByLabel("Title").fill("Show names");
      const start = form.getByRole("button", { name: "Start", exact: true });
      expect(await start.getAttribute("data-tip")).toBe("Allow the exception, or commit first.");
      await form.getByLabel("Start from what is committed; leave the uncommitted files out").check();
      await form.getByText("--allow-dirty").last().waitFor();
      expect(await faultsOf(page)).toEqual([]);
      await picture(page, "start-plan-light");
      await start.click();
      await page.waitForURL("**/runs/1");
      const runs = (await daemon.call("GET", "/api/runs")).body as unknown as { runs: { id: string }[] };
      const id = runs.runs[0]?.id ?? "";
      await dashboard.answer(id, "approve");
      await dashboard.stands(1, "merge question");

      const item = (await itemOf(daemon, id)) ?? "";
      await walk(page, `/g/${item}`);
      await page.getByText("Lands passrail/", { exact: false }).waitFor();
      expect(await page.getByText("If you approve").locator("..").innerText()).toMatch(
        /^If you approve: Lands passrail\/\w+ on main of the project's repository, through the merge queue\.$/u,
      );
      const work = page.getByRole("region", { name: "Where the work is" });
      expect((await work.innerText()).replaceAll(/\s+/gu, " ")).toMatch(
        /^passrail\/\w+ 2 commits at [0-9a-f]{12} Copy folder$/u,
      );
      const evidence = page.getByRole("table", { name: "Evidence" });
      const row = (text: string) => evidence.getByRole("row").filter({ hasText: text });
      await row("unit").first().getByText("run by Passrail").waitFor();
      await row("Tests: OK (1 test)").getByText("reported").waitFor();
      await row("the thing exists").first().getByText("reported").waitFor();
      expect(await faultsOf(page)).toEqual([]);
      await picture(page, "gate-merge-light");
      await page.setViewportSize(PHONE.viewport ?? { width: 390, height: 844 });
      expect(await faultsOf(page)).toEqual([]);
      await picture(page, "gate-merge-phone");
      await page.setViewportSize({ width: 320, height: 640 });
      expect(await faultsOf(page)).toEqual([]);
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.getByRole("button", { name: "Approve" }).click();
      await page.getByText("Approved: Show names").last().waitFor();

      await dashboard.stands(1, "done");
      await walk(page, `/g/${item}`);
      await page.getByText(/2 commits of passrail\/\w+ landed in main as [0-9a-f]{12}\./u).waitFor();
      await picture(page, "closed-landed-light");

      // The folder gets a name, and loses it again.
      await walk(page, "/projects");
      await page.getByText("No run works or waits.", { exact: false }).waitFor();
      await page.getByRole("button", { name: "Give it a name" }).click();
      await form.getByLabel("Name (optional)").fill("names");
      await form.getByRole("button", { name: "Add", exact: true }).click();
      const project = page.getByRole("table", { name: "Projects" }).getByRole("row").filter({ hasText: "names" });
      for (const text of ["the daemon's own", "approved", "#1 Show names"]) await project.getByText(text).waitFor();
      await project.getByRole("button", { name: "Remove names" }).click();
      await form.getByRole("button", { name: "Remove", exact: true }).click();
      await page.getByText("No projects are registered.").waitFor();
      await until("it is forgotten", async () => {
        const { projects } = (await daemon.call("GET", "/api/projects")).body as unknown as { projects: unknown[] };
        return projects.length === 0 ? true : undefined;
      });
      expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
      await context.close();
    },
    SLOW + LONGEST_WAIT,
  );
});
