// A person watches the real Claude Code and the real Codex in the dashboard, speaks to them and stops them from there. Only the model behind them
// is scripted.

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

const WORDS = "Use the new API, said the person";
/** So much in each of its answers, so that the head of the page counts in ones. */
const tokens = { input: 700, output: 50 };
const EVERY_TURN = tokens.input + tokens.output;

/**
 * It looks around, and works on something until a file is there. Claude Code hears what a person says with the result of that, and Codex when
 * its turn ends. Then it works on something that does not end.
 */
function turnsOf(vendor: Vendor, go: string): { work: Script; told: Script } {
  const endless = { do: [{ bash: "echo begun && sleep 600" }], tokens };
  const heard = { text: "As you say.", ...endless };
  const waits = { bash: `until [ -e ${go} ]; do sleep 0.1; done; echo out-of-the-shell` };
  return {
    work: [
      { text: "I look around first.", do: [{ bash: "echo looked-around" }], tokens },
      { text: "Now the long part.", do: [waits], tokens },
      vendor.cli === "claude" ? heard : { text: "That was the long part.", tokens },
    ],
    told: [heard],
  };
}

describe.skipIf(contractTests() === "left out" || isBrowserMissing())("the activity of real agents", () => {
  let models: FakeModels;
  let dashboard: Dashboard;
  let folder: string;
  let runners: Record<string, ReturnType<typeof runnerOf>>;
  beforeAll(async () => {
    models = await startFakeModels({ scenario: { rules: [] } });
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
    "$cli is read while it works, what it uses is counted in the head, it is spoken to and stopped from the page",
    async (vendor) => {
      const { daemon } = dashboard;
      const go = join(folder, `${vendor.cli}.go`);
      const { work, told } = turnsOf(vendor, go);
      models.play({
        rules: [
          ...(vendor.cli === "claude" ? [] : [{ id: "told", match: { prompt: WORDS }, turns: told }]),
          { id: "work", match: {}, turns: work },
        ],
      });
      const settings = { runners, agents: { "*": { runner: vendor.cli, model: vendor.model } } };
      writeFileSync(join(daemon.project, "passrail.yaml"), JSON.stringify(settings));
      approveFiles(daemon.home, daemon.project);
      const run = await dashboard.start("feature", `Watched: ${vendor.cli}`);
      await dashboard.answer(run.id, "approve");

      const { context, page, seen } = await dashboard.visit(`/runs/${run.number}?tab=activity`);
      const box = page.getByRole("log", { name: "Activity of spec #1" });
      const counted = (turns: number) =>
        page
          .locator("[data-tokens]")
          .filter({ hasText: `${(turns * EVERY_TURN).toLocaleString("en-US")} tokens` })
          .waitFor({ timeout: 60_000 });
      await box.getByText("I look around first.").waitFor({ timeout: 90_000 });
      await box.getByText("looked-around", { exact: true }).waitFor({ timeout: 60_000 });
      await box.getByText("Now the long part.").waitFor({ timeout: 60_000 });
      await box.getByText("running").waitFor({ timeout: 60_000 });
      await counted(2);
      expect(await faultsOf(page)).toEqual([]);
      await picture(page, `activity-real-${vendor.cli}`);

      await page.getByLabel("Say something to the agent of spec").fill(WORDS);
      await page.getByRole("button", { name: "Send", exact: true }).click();
      const messages = page.getByRole("region", { name: "Messages to the agent" });
      await messages.getByRole("listitem").getByText(WORDS).waitFor();
      writeFileSync(go, "");
      await box.getByText("out-of-the-shell", { exact: true }).waitFor({ timeout: 60_000 });
      await box.getByText("As you say.").waitFor({ timeout: 60_000 });
      await messages.getByText("reached attempt 1", { exact: false }).waitFor({ timeout: 60_000 });
      const heard = models.requests.filter(({ body }) => JSON.stringify(body).includes(WORDS));
      expect(JSON.stringify(heard.at(-1)?.body).split(WORDS)).toHaveLength(2);
      await counted(vendor.cli === "claude" ? 3 : 4);
      await box.getByText("running").waitFor({ timeout: 60_000 });

      await page.getByRole("button", { name: "Actions" }).click();
      await page.getByRole("menuitem", { name: /^Stop now/u }).click();
      await page
        .getByRole("dialog")
        .getByRole("button", { name: /^Stop now/u })
        .click();
      const { body } = await until("it is paused", async () => {
        const answer = await daemon.call("GET", `/api/runs/${run.number}`);
        return answer.body["paused"] === true ? answer : undefined;
      });
      expect(body["status"]).toBe("running");
      const left = async () => (await daemon.call("GET", "/api/workers")).text.includes(run.id);
      await until("the agent is gone", async () => ((await left()) ? undefined : true), 60_000);
      await box.getByText("running").waitFor({ state: "detached" });
      expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
      await context.close();
      await daemon.call("POST", `/api/runs/${run.number}/cancel`, { body: {} });
    },
    240_000,
  );
});
