// A person watches the real Claude Code and the real Codex in the dashboard, and ends them from there. Only the model behind them is scripted.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isBrowserMissing } from "../browser/browser.ts";
import { type Dashboard, openDashboard } from "../browser/dashboard.ts";
import { faultsOf } from "../browser/faults.ts";
import { picture } from "../browser/picture.ts";
import type { Script } from "../fixtures/models/scenario.ts";
import { type FakeModels, startFakeModels } from "../fixtures/models/server.ts";
import { approveFiles } from "../harness/approve-files.ts";
import { until } from "../harness/until.ts";
import { cliPath, contractTests } from "./installed.ts";
import { claude, codex, type Vendor } from "./vendors.ts";

const API_KEY = "sk-ant-api03-seen0000000000000000000000000000000000000";

/** It looks around, and then works on something that does not end. */
const TURNS: Script = [
  { text: "I look around first.", do: [{ bash: "echo out-of-the-shell" }] },
  { text: "Now the long part.", do: [{ bash: "echo begun && sleep 600" }] },
];

describe.skipIf(contractTests() === "left out" || isBrowserMissing())("the activity of real agents", () => {
  let models: FakeModels;
  let dashboard: Dashboard;
  let folder: string;
  let runners: Record<string, ReturnType<typeof runnerOf>>;
  beforeAll(async () => {
    models = await startFakeModels({ scenario: { rules: [{ id: "work", match: {}, turns: TURNS }] } });
    folder = mkdtempSync(join(tmpdir(), "passrail-watched-"));
    runners = Object.fromEntries([claude, codex].map((vendor) => [vendor.cli, runnerOf(vendor)]));
    dashboard = await openDashboard({ runners });
  }, 150_000);
  afterAll(async () => {
    await dashboard.close();
    await models.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function runnerOf(vendor: Vendor) {
    const home = join(folder, vendor.cli);
    mkdirSync(home);
    const path = `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`;
    return {
      command: [cliPath(vendor.cli)],
      env: { HOME: home, PATH: path, ...vendor.setUp(home, models.url, API_KEY) },
    };
  }

  test.each([claude, codex])(
    "$cli is read while it works, and ended from the page",
    async (vendor) => {
      const { daemon } = dashboard;
      const settings = { runners, agents: { "*": { runner: vendor.cli, model: vendor.model } } };
      writeFileSync(join(daemon.project, "passrail.yaml"), JSON.stringify(settings));
      approveFiles(daemon.home, daemon.project);
      const run = await dashboard.start("feature", `Watched: ${vendor.cli}`);
      await dashboard.answer(run.id, "approve");

      const { context, page, seen } = await dashboard.visit(`/runs/${run.number}?tab=activity`);
      const box = page.getByRole("log", { name: "Activity of spec #1" });
      await box.getByText("I look around first.").waitFor({ timeout: 90_000 });
      await box.getByText("out-of-the-shell", { exact: true }).waitFor({ timeout: 60_000 });
      await box.getByText("Now the long part.").waitFor({ timeout: 60_000 });
      await box.getByText("running").waitFor({ timeout: 60_000 });
      expect(await faultsOf(page)).toEqual([]);
      await picture(page, `activity-real-${vendor.cli}`);

      await page.getByRole("button", { name: "Actions" }).click();
      await page.getByRole("menuitem", { name: "Cancel", exact: true }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Cancel", exact: true }).click();
      await page.getByText("Canceled", { exact: true }).first().waitFor({ timeout: 60_000 });
      const left = async () => (await daemon.call("GET", "/api/workers")).text.includes(run.id);
      await until("the agent is gone", async () => ((await left()) ? undefined : true), 60_000);
      await box.getByText("running").waitFor({ state: "detached" });
      expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
      await context.close();
    },
    240_000,
  );
});
