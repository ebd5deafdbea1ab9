// What waits for a person, whatever kind it is, in one place; the words of a flow beside those of Passrail; loops with their limits wherever
// they can be seen.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../harness/until.ts";
import { isBrowserMissing } from "./browser.ts";
import { type Dashboard, itemOf, openDashboard, show, STRAIGHT, walk } from "./dashboard.ts";

const SLOW = 150_000;
const UNFINISHED = "# Handoff\n\n## Status\nincomplete\n\n## Status reason\nhalf of it\n";

describe.skipIf(isBrowserMissing())("the inbox", () => {
  let dashboard: Dashboard;
  let log: string;
  let gate: Run;
  let question: Run;
  let choice: Run;
  let escalation: Run;
  type Run = { readonly id: string; readonly number: number };
  beforeAll(async () => {
    dashboard = await openDashboard();
    const { daemon } = dashboard;
    log = join(daemon.dir, "answers.jsonl");
    dashboard.play({ ...STRAIGHT, qa: [{ verdict: "REVISE", issues: ["no tests"] }, { verdict: "SHIP" }] });
    gate = await begin("feature", "Ship me");
    dashboard.play({ ...STRAIGHT, qa: [{ verdict: "REVISE", issues: ["no tests"] }] });
    escalation = await begin("feature", "Stuck");
    await dashboard.stands(gate.number, "review");
    await dashboard.stands(escalation.number, "escalated");
    dashboard.play({ spec: [{ via: "text", text: "QUESTIONS:\n1. For whom?\n2. By when?", log }] });
    question = await dashboard.start("intake", "Unclear");
    dashboard.play({ "*": [{ via: "handoff-file", text: UNFINISHED, log }] });
    const files = { spec: "# Names", plan: "Complexity: simple", task: "# Show names" };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(daemon.project, `${name}.md`), `${text}\n`);
    const input = { "plan.spec": "spec.md", "plan.plan": "plan.md", "plan.task": "task.md" };
    choice = await begin("build-plan-simple", "Unfinished", { input, allow: ["dirty", "branch"] });
    for (const { id } of [question, choice])
      await until("it asks", async () => (await itemOf(daemon, id)) ?? undefined, 60_000);
  }, SLOW);
  afterAll(() => dashboard.close());

  async function begin(flow: string, title: string, more: Readonly<Record<string, unknown>> = {}): Promise<Run> {
    const run = await dashboard.start(flow, title, more);
    await dashboard.answer(run.id, "approve");
    return run;
  }

  test("R-X-07: gates, questions, choices and escalations stand in one inbox, with whom they wait for, since when and a link", async () => {
    const { context, page, seen } = await dashboard.visit("/");
    const list = page.getByRole("list").filter({ hasText: "Ship me" });
    const rows = { Gate: gate, Question: question, Choice: choice, Escalated: escalation };
    for (const [word, run] of Object.entries(rows)) {
      const row = list.getByRole("listitem").filter({ hasText: `#${run.number}` });
      await row.getByText(word, { exact: false }).first().waitFor();
      await row.getByText(/[0-9]+[sm] ago/u).waitFor();
      await row.getByRole("link").click();
      const decision = page.getByRole("region", { name: "Decision" });
      await decision.getByText(/waits for (owner|user|human)/u).waitFor();
      const item = await itemOf(dashboard.daemon, run.id);
      expect(new URL(page.url()).searchParams.get("item")).toBe(item);
    }
    expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
    await context.close();
  });

  test("R-X-06: the words of the flow stand beside what they mean, and runs are found by either", async () => {
    const { context, page } = await dashboard.visit(`/runs/${gate.number}?tab=stages`);
    const spec = page.locator("#stage-spec");
    await spec.getByText("APPROVED").waitFor();
    await spec.getByText("· pass").waitFor();
    await page.getByText("Waiting for you").first().waitFor();
    await page.getByText("review", { exact: true }).first().waitFor();
    for (const word of ["waiting", "review"]) {
      await show(page, `${dashboard.daemon.url}/runs?status=${word}`);
      await page.getByRole("table").getByText("Ship me").waitFor();
    }
    await show(page, `${dashboard.daemon.url}/runs?status=shipped`);
    expect(await page.getByText("Ship me").count()).toBe(0);
    await context.close();
  });

  test("R-X-11: loops and their limit are seen in the list, on the run, in its picture, at the gate, on the board and in the flow", async () => {
    const { context, page } = await dashboard.visit("/runs");
    const row = page.getByRole("row").filter({ hasText: "Ship me" });
    await row.getByText("1 of 2").first().waitFor();
    const places: readonly (readonly [path: string, text: RegExp])[] = [
      [`/runs/${gate.number}`, /revision 1 of 2/u],
      [`/g/${await itemOf(dashboard.daemon, gate.id)}`, /^1 of 2$/u],
      [`/g/${await itemOf(dashboard.daemon, escalation.id)}`, /the limit of 2 revision loops is reached/u],
      [`/g/${await itemOf(dashboard.daemon, question.id)}`, /^1 of 3$/u],
      ["/flows/feature", /max 2/u],
    ];
    for (const [path, text] of places) {
      await walk(page, path);
      await page.getByText(text).first().waitFor();
    }
    // Attempts are counted where they are listed.
    await walk(page, `/runs/${gate.number}?tab=stages`);
    await page.locator("#stage-build").getByText("#2", { exact: true }).waitFor();
    await context.close();
  });

  test("R-X-10: an attempt shows how its program ended, how long it took, where it worked and which commits it made", async () => {
    const { context, page } = await dashboard.visit(`/runs/${gate.number}?tab=stages`);
    const build = page.locator("#stage-build").getByRole("listitem").first();
    await build.getByText(/command · exit 0 · [0-9a-f]{7}\.\.[0-9a-f]{7}/u).waitFor();
    await build.getByText(/worked in .*worktrees/u).waitFor();
    await build.getByText(/ · [0-9]+s$/u).waitFor();
    for (const file of ["prompt", "log", "diff"]) {
      await walk(page, `/runs/${gate.number}?tab=stages`);
      await build.getByRole("link", { name: `${file} of build #2` }).click();
      const shown = file === "log" ? "output" : file;
      await page.getByRole("log", { name: `${shown} of build #2`, includeHidden: true }).waitFor({ state: "attached" });
    }
    await context.close();
  });

  test(
    "R-X-07: a question, a choice and an escalation are answered in the browser, and the run goes on with what was said",
    async () => {
      const { context, page, seen } = await dashboard.visit(`/g/${await itemOf(dashboard.daemon, question.id)}`);
      const send = page.getByRole("button", { name: "Send the answer" });
      expect(await send.getAttribute("data-tip")).toBe("Write an answer first.");
      await page.getByLabel("The agent gets your answer word for word").fill("For operators, by May.");
      await send.click();
      await page.getByText("Answered: Unclear").waitFor();
      const told = () => readFileSync(log, "utf8");
      await until("the agent was told", () => (told().includes("For operators, by May.") ? true : undefined), 60_000);

      await walk(page, `/g/${await itemOf(dashboard.daemon, choice.id)}`);
      await page.getByText("half of it").first().waitFor();
      await page.getByRole("button", { name: "Abort" }).click();
      await page.getByText("Answered abort: Unfinished").waitFor();
      await dashboard.stands(choice.number, "aborted");

      await walk(page, `/g/${await itemOf(dashboard.daemon, escalation.id)}`);
      await page.getByText("owner decides at ship next").waitFor();
      await page.getByRole("button", { name: "Accept" }).click();
      await dashboard.stands(escalation.number, "review");
      expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
      await context.close();
    },
    SLOW,
  );

  test(
    "R-X-07: loose ends are settled in the browser, by keyboard too; without a connection nothing is done, not even later",
    async () => {
      const { daemon } = dashboard;
      await dashboard.answer(gate.id, "approve");
      await dashboard.stands(gate.number, "shipped");
      dashboard.play({ "*": [{ exit: 7 }] });
      const stopped = await dashboard.start("checklist", "Check it");
      const statusOf = async (number: number) => (await daemon.call("GET", `/api/runs/${number}`)).body["status"];
      const isStopped = async () => ((await statusOf(stopped.number)) === "stopped" ? true : undefined);
      await until("it stopped", isStopped, 60_000);
      const folder = join(daemon.project, "feature_requests", "FR-1");
      mkdirSync(folder, { recursive: true });
      const file = join(folder, "AGI-1.md");
      writeFileSync(file, "---\nid: AGI-1\ntitle: Log in\nrepo: .\nstatus: Blocked\n---\nDo it.\n");

      const { context, page, seen } = await dashboard.visit("/");
      const row = (text: string) => page.locator("[data-need]").filter({ hasText: text });
      /** Selects it, and is what the page then shows beside the list. */
      const opened = async (text: string) => {
        await row(text).click();
        return page.locator("[data-loose-end]").filter({ hasText: text });
      };
      const dialog = page.getByRole("dialog");
      // Offline: the act fails at once, and is not sent when the connection is back.
      await (await opened("Check it")).getByRole("button", { name: "Cancel: Check it" }).click();
      await dialog.waitFor();
      await context.setOffline(true);
      await dialog.getByRole("button", { name: "Cancel" }).click();
      await dialog.getByText("The daemon does not answer.").waitFor();
      await context.setOffline(false);
      await page.keyboard.press("Escape");
      seen.complaints.length = 0;

      // By keyboard alone: the button, the dialog, and the focus back where it was.
      const merge = (await opened("Ship me")).getByRole("button", { name: "Merge: Ship me" });
      await merge.focus();
      await page.keyboard.press("Enter");
      await dialog.getByText(/Starts a run that merges passrail\/\S+ into the target branch/u).waitFor();
      // The dialog takes the focus a moment after it is there.
      await page.locator("[role=dialog]:focus-within").waitFor();
      await dialog.getByRole("button", { name: "Merge" }).focus();
      await page.keyboard.press("Enter");
      await page.getByText(/Run #[0-9]+ lands the work of #[0-9]+\./u).waitFor();
      await row("Ship me").waitFor({ state: "detached" });

      await (await opened("Log in")).getByRole("button", { name: "Move to Needs Implement: Log in" }).click();
      await dialog.getByRole("button", { name: "Move to Needs Implement" }).click();
      await page.getByText("AGI-1 is Needs Implement.").waitFor();
      expect(readFileSync(file, "utf8")).toContain("status: Needs Implement");

      expect(await statusOf(stopped.number)).toBe("stopped");
      await (await opened("Check it")).getByRole("button", { name: "Cancel: Check it" }).click();
      await dialog.getByLabel("Reason (optional, recorded)").fill("not now");
      await dialog.getByRole("button", { name: "Cancel" }).click();
      await row("Check it").waitFor({ state: "detached" });
      expect(await statusOf(stopped.number)).toBe("canceled");
      expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
      await context.close();
    },
    SLOW,
  );
});
