// One run, by a person at its page: it is started, paused, resumed and cancelled; its log is followed, searched and linked to; its timeline grows
// while it works; and the palette does all of it by name.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { approveFiles } from "../harness/approve-files.ts";
import { until } from "../harness/until.ts";
import { isBrowserMissing } from "./browser.ts";
import { choose } from "./choose.ts";
import { type Dashboard, openDashboard, STRAIGHT, walk } from "./dashboard.ts";
import { drawn } from "./faults.ts";

const SLOW = 150_000;

describe.skipIf(isBrowserMissing())("the page of a run", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await openDashboard();
  }, SLOW);
  afterAll(() => dashboard.close());

  /** A run whose spec works until `let go`; then it goes on. */
  async function held(title: string, script: Readonly<Record<string, unknown>> = STRAIGHT) {
    const hold = join(dashboard.daemon.dir, `${title.replaceAll(" ", "-")}.go`);
    dashboard.play({ ...script, spec: [{ verdict: "APPROVED", hold }] });
    const run = await dashboard.start("feature", title);
    await dashboard.answer(run.id, "approve");
    await dashboard.stands(run.number, "speccing").catch(() => undefined);
    return { ...run, letGo: () => writeFileSync(hold, "") };
  }

  const statusOf = async (number: number) => (await dashboard.daemon.call("GET", `/api/runs/${number}`)).body;
  const menu = async (page: Page, name: string) => {
    await page.getByRole("button", { name: "Actions" }).click();
    await page.getByRole("menuitem", { name, exact: true }).click();
  };

  test("a run is started in the dialog: what is missing is said, the command is shown, and its page opens", async () => {
    dashboard.play(STRAIGHT);
    const { context, page, seen } = await dashboard.visit("/runs");
    await page.getByRole("heading", { name: "Runs" }).waitFor();
    await page.keyboard.press("n");
    const dialog = page.getByRole("dialog", { name: "Start a run" });
    const start = dialog.getByRole("button", { name: "Start", exact: true });
    expect(await start.getAttribute("aria-disabled")).toBe("true");
    expect(await start.getAttribute("data-tip")).toBe("Enter a title.");
    await choose(dialog.getByLabel("Flow"), /^feature ·/u);
    await dialog.getByLabel("Title").fill("It's new");
    await dialog.getByLabel("What to do").fill("In a few words.");
    await dialog.getByLabel("Ticket id").fill("T-77");
    // The folded dry run, above it, has a command of its own.
    await dialog.getByText(String.raw`passrail run feature 'It'\''s new'`).last().waitFor();
    await start.click();
    await page.waitForURL(/\/runs\/[0-9]+$/u);
    await page.getByRole("heading", { name: "It's new" }).waitFor();
    await page.getByText(/^Run #[0-9]+ started\.$/u).waitFor();
    await page.getByRole("link", { name: "T-77" }).waitFor();
    // What the daemon objects to stands in the dialog, and nothing that was typed is lost.
    await walk(page, "/runs");
    await page.getByRole("button", { name: "Start a run" }).click();
    await dialog.getByLabel("Title").fill("Again");
    await dialog.getByLabel("Ticket id").fill("two words");
    await start.click();
    await dialog.getByRole("alert").waitFor();
    expect(await dialog.getByLabel("Title").inputValue()).toBe("Again");
    expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
    await context.close();
  });

  test(
    "paused, resumed and cancelled from the menu, with a reason that is kept; what cannot be done says why",
    async () => {
      const run = await held("To be paused");
      const { context, page, seen } = await dashboard.visit(`/runs/${run.number}`);
      await page.getByRole("button", { name: "Actions" }).click();
      const resume = page.getByRole("menuitem", { name: /^Resume/u });
      expect(await resume.getAttribute("aria-disabled")).toBe("true");
      expect(await resume.innerText()).toMatch(/not paused/u);
      await page.keyboard.press("Escape");

      await menu(page, "Pause");
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel(/Reason/u).fill("Lunch");
      await dialog.getByText(`passrail runs pause ${run.number} --reason 'Lunch'`).waitFor();
      await dialog.getByRole("button", { name: "Pause", exact: true }).click();
      await page.getByText(/^Pause: done\./u).waitFor();
      await page.getByText("Paused", { exact: true }).first().waitFor();
      expect((await statusOf(run.number))["paused"]).toBe(true);

      // What works now ends by itself, and nothing follows. A menu that is open meanwhile does not move under the pointer.
      await page.getByRole("button", { name: "Actions" }).click();
      const inMenu = page.getByRole("menuitem", { name: "Resume", exact: true });
      const place = await inMenu.boundingBox();
      const without = page.waitForResponse(
        async (answer) => answer.url().endsWith("/acts") && !(await answer.text()).includes('"stop"'),
      );
      run.letGo();
      await until("spec has ended", async () => {
        const stages = (await statusOf(run.number))["stages"] as unknown as readonly { id: string; state: string }[];
        return stages.find(({ id }) => id === "spec")?.state === "done" ? true : undefined;
      });
      await without;
      await drawn(page);
      expect(await inMenu.boundingBox()).toEqual(place);
      await inMenu.click();
      await dialog.getByRole("button", { name: "Resume", exact: true }).click();
      await page.getByText(/^Resume: done\./u).waitFor();
      await dashboard.stands(run.number, "review");
      await page.getByText("Waiting for you").first().waitFor();

      await menu(page, "Cancel");
      await dialog.getByLabel(/Reason/u).fill("Not wanted any more");
      await dialog.getByRole("button", { name: "Cancel", exact: true }).click();
      await page.getByText(/^Cancel: done\./u).waitFor();
      await page.getByText("Canceled", { exact: true }).first().waitFor();
      const events = (await dashboard.daemon.call("GET", `/api/runs/${run.number}/events?limit=200`)).text;
      for (const word of ["Lunch", "Not wanted any more", "human:"]) expect(events).toContain(word);
      expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
      await context.close();
    },
    SLOW,
  );

  test("the timeline of a run that works grows without a reload, and folds what it waited for people", async () => {
    const run = await held("Growing");
    const { context, page, seen } = await dashboard.visit(`/runs/${run.number}?tab=timeline`);
    const bar = page.getByText(/^Agent working [0-9]+s, still$/u);
    await bar.waitFor({ state: "attached" });
    const before = await bar.textContent();
    await until("it has grown", async () => ((await bar.textContent()) === before ? undefined : true));
    const fold = page.getByLabel("Fold waits for people");
    expect(await fold.isChecked()).toBe(true);
    run.letGo();
    await dashboard.stands(run.number, "review");
    // The gate is waited for now: a row of its own, which is folded as soon as it is long.
    await page.getByRole("link", { name: "gate ship" }).waitFor();
    await page.getByText(/^Waiting for you [0-9]+s, still, folded$/u).waitFor({ state: "attached" });
    await fold.uncheck();
    await page.getByText(/^Waiting for you [0-9]+s, still$/u).waitFor({ state: "attached" });
    expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
    await context.close();
  });

  test(
    "a log is followed while it grows, left when somebody scrolls up, searched, and linked to by line",
    async () => {
      const hold = join(dashboard.daemon.dir, "log.go");
      const lines = (from: number, to: number) =>
        Array.from({ length: to - from }, (_, at) => `line ${from + at}${from + at === 400 ? " needle" : ""}`).join(
          "\\n",
        );
      const program = `
        import { existsSync, writeFileSync } from "node:fs";
        process.stdin.resume();
        console.log("${lines(1, 500)}");
        const timer = setInterval(() => {
          if (!existsSync(${JSON.stringify(hold)})) return;
          clearInterval(timer);
          console.log("${lines(500, 900)}");
          writeFileSync(process.env.PASSRAIL_VERDICT_FILE, JSON.stringify({ verdict: "APPROVED" }));
          process.stdin.destroy();
        }, 20);`;
      const file = join(dashboard.daemon.dir, "loud.mjs");
      writeFileSync(file, program);
      const settings = { agents: { "*": { command: [process.execPath, file] } } };
      writeFileSync(join(dashboard.daemon.project, "passrail.yaml"), JSON.stringify(settings));
      approveFiles(dashboard.daemon.home, dashboard.daemon.project);
      const run = await dashboard.start("feature", "Loud");
      await dashboard.answer(run.id, "approve");
      const { context, page, seen } = await dashboard.visit(`/runs/${run.number}?tab=log&stage=spec&attempt=1`);
      const log = page.getByRole("log");
      await log.getByText("line 499", { exact: true }).waitFor();
      await page.getByText(/· following$/u).waitFor();

      await log.evaluate((box) => ((box as unknown as { scrollTop: number }).scrollTop = 0));
      await log.getByText("line 1", { exact: true }).waitFor();
      await page.getByText(/· still growing$/u).waitFor();
      writeFileSync(hold, "");
      await page.getByText(/^899 lines/u).waitFor();
      // It stayed where it was read.
      await log.getByText("line 1", { exact: true }).waitFor();

      await page.keyboard.press("/");
      await page.keyboard.type("needle");
      await page.keyboard.press("Enter");
      await log.getByText("line 400 needle").waitFor();
      await page.waitForURL(/#L400$/u);
      const address = page.url();
      // Whoever gets the link sees the same line.
      await page.goto("about:blank");
      await page.goto(address, { waitUntil: "domcontentloaded" });
      await log.getByText("line 400 needle").waitFor();
      await log.getByRole("link", { name: "Line 402", exact: true }).click();
      await page.waitForURL(/#L402$/u);
      expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
      await context.close();
    },
    SLOW,
  );

  test("taken over from the menu: the page says who has it and how to open it, and handing back continues the stage with the note", async () => {
    const run = await held("Mine for a while");
    const { context, page, seen } = await dashboard.visit(`/runs/${run.number}`);
    await menu(page, "Take over spec");
    const dialog = page.getByRole("dialog");
    await dialog.getByText(`passrail runs takeover ${run.number} --stage spec`).waitFor();
    await dialog.getByRole("button", { name: "Take over spec", exact: true }).click();
    const banner = page.getByRole("region", { name: "Taken over" });
    await banner.getByText(/^spec is taken over by /u).waitFor();
    await banner.getByText(/^cd \//u).waitFor();
    await page.getByText("Taken over", { exact: true }).first().waitFor();
    expect((await statusOf(run.number))["takeover"]).toMatchObject({ stage: "spec", command: null, refused: null });
    // The next attempt does not wait any more.
    run.letGo();
    await banner.getByRole("button", { name: "Hand back", exact: true }).click();
    await dialog.getByLabel("Note for the next attempt").fill("The title was wrong");
    await dialog.getByText(`passrail runs handback ${run.number} --note 'The title was wrong'`).waitFor();
    await dialog.getByRole("button", { name: "Hand back spec", exact: true }).click();
    await page.getByText(/^Hand back spec: done\./u).waitFor();
    await banner.waitFor({ state: "detached" });
    await dashboard.stands(run.number, "review");
    const prompt = await dashboard.daemon.call("GET", `/api/runs/${run.number}/attempts/spec/2/prompt`);
    expect(prompt.text).toContain("The title was wrong");
    expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
    await context.close();
  });

  test("the palette opens a run, acts on it, changes colours and starts another, all by name", async () => {
    const run = await held("By palette");
    const { context, page, seen } = await dashboard.visit("/");
    const palette = page.getByRole("dialog", { name: "Commands" });
    const say = async (words: string) => {
      await page.keyboard.press("Control+k");
      await palette.getByRole("combobox").fill(words);
    };
    await say("By palette");
    await palette.getByRole("option", { name: /^Run #[0-9]+: By palette/u }).click();
    await page.waitForURL(`**/runs/${run.number}`);
    await page.getByRole("heading", { name: "By palette" }).waitFor();
    await say("pause");
    // Enter takes the chosen one, which is another one until the list has caught up with the words.
    await palette.getByRole("option", { name: /^Pause · run/u, selected: true }).waitFor();
    await palette.getByText(`passrail runs pause ${run.number}`).first().waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Pause", exact: true }).click();
    await page.getByText("Paused", { exact: true }).first().waitFor();
    await say("colours dark");
    await page.keyboard.press("Enter");
    expect(await page.locator("html").getAttribute("data-theme")).toBe("dark");
    await say("start a run");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Start a run" }).waitFor();
    await page.keyboard.press("Escape");
    await say("nothing is called so");
    await palette.getByText("No matching commands.").waitFor();
    run.letGo();
    expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
    await context.close();
  });
});
