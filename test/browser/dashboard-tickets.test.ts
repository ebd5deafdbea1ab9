// Tickets that are files, in the dashboard: made and changed in the page, moved by hand, shown with what they wait for, however many there are
// and whatever they say.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../harness/until.ts";
import { isBrowserMissing } from "./browser.ts";
import { type Dashboard, openDashboard, PHONE, show, walk } from "./dashboard.ts";
import { PAYLOADS, TITLES } from "./payloads.ts";
import { faultsInEveryLook } from "./looks.ts";
import { picture } from "./picture.ts";

const SLOW = 240_000;
describe.skipIf(isBrowserMissing())("tickets that are files", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await openDashboard();
  }, SLOW);
  afterAll(() => dashboard.close());

  function write(path: string, head: string, body = "Do it."): string {
    const file = join(dashboard.daemon.project, "feature_requests", path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `---\n${head}\n---\n\n${body}\n`);
    return file;
  }
  const known = (id: string) =>
    until(`${id} is known`, async () =>
      (await dashboard.daemon.call("GET", `/api/tickets/${id}`)).status === 200 ? true : undefined,
    );

  test("the first ticket is created from the empty page, and is a file then", async () => {
    const { context, page, seen } = await dashboard.visit("/tickets");
    await page.getByText("No tickets yet.").waitFor();
    await page.getByText("passrail spec").waitFor();
    await picture(page, "tickets-empty-light");
    await page.getByRole("button", { name: "Create a ticket" }).click();
    const dialog = page.getByRole("dialog");
    const create = dialog.getByRole("button", { name: "Create" });
    expect(await create.getAttribute("data-tip")).toBe("Enter a title.");
    await dialog.getByLabel("Title").fill("Say hello: now");
    await dialog.getByLabel("What to do").fill("As a **visitor** I want to be greeted.");
    await dialog.getByLabel("Priority").fill("3");
    await picture(page, "ticket-new-light");
    await create.click();
    await page.getByRole("heading", { name: "Say hello: now" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/tickets/AGI-1");
    const folder = join(dashboard.daemon.project, "feature_requests");
    const text = readFileSync(join(folder, "FR-1/AGI-1.md"), "utf8");
    expect(readdirSync(folder).filter((name) => name.startsWith("FR-"))).toEqual(["FR-1"]);
    expect(text).toContain("priority: 3");
    expect(text).toContain("As a **visitor** I want to be greeted.");
    await page.getByText("Can start").first().waitFor();
    await page.getByText("No runs yet.").waitFor();
    expect(seen.complaints).toEqual([]);
    await context.close();
  });

  test(
    "a ticket is started in the page: its card walks through the lanes, its file says the same, and the page tells its runs",
    async () => {
      const hold = join(dashboard.daemon.dir, "go-research");
      dashboard.play({
        "*": [{ via: "none" }],
        research: [{ via: "none", hold }],
        plan: [{ via: "none", hold: `${hold}-plan` }],
      });
      write("FR-8/AGI-80.md", "id: AGI-80\ntitle: On its way\nrepo: .\nstatus: Backlog");
      await known("AGI-80");
      const board = await dashboard.visit("/board?flow=ticket");
      await card(board.page, "Backlog", "On its way").waitFor();
      const { context, page, seen } = await dashboard.visit("/tickets/AGI-80");
      await page.getByRole("button", { name: "Start now" }).click();
      await card(board.page, "Research In Progress", "On its way").waitFor();
      await page.getByText("Research In Progress").first().waitFor();
      const file = join(dashboard.daemon.project, "feature_requests/FR-8/AGI-80.md");
      expect(readFileSync(file, "utf8")).toContain("Research In Progress");
      // While an agent works nothing can be moved, and it says why.
      await page.getByRole("button", { name: "Move" }).click();
      await page.getByText("a run works on it; cancel or pause the run first").first().waitFor();
      await page.keyboard.press("Escape");
      writeFileSync(hold, "");
      await card(board.page, "Plan In Progress", "On its way").waitFor();
      await page.getByText("Plan In Progress").first().waitFor();
      await page
        .getByRole("link", { name: /^#\d+$/u })
        .first()
        .waitFor();
      await picture(page, "ticket-started-light");
      expect(seen.complaints).toEqual([]);
      writeFileSync(`${hold}-plan`, "");
      await board.context.close();
      await context.close();
    },
    SLOW,
  );

  test(
    "a status that a person writes while an agent works is kept, and shown beside what the run says",
    async () => {
      const hold = join(dashboard.daemon.dir, "go-torn");
      dashboard.play({ "*": [{ via: "none", hold }] });
      const file = write("FR-8/AGI-81.md", "id: AGI-81\ntitle: Pulled at\nrepo: .\nstatus: Needs Spec");
      await known("AGI-81");
      const started = await dashboard.daemon.call("POST", "/api/tickets/AGI-81/start", { body: {} });
      expect(started.status).toBe(200);
      const { context, page } = await dashboard.visit("/tickets/AGI-81");
      await page.getByText("Spec In Progress").first().waitFor();
      await until("the file says so", () =>
        readFileSync(file, "utf8").includes("Spec In Progress") ? true : undefined,
      );
      writeFileSync(file, readFileSync(file, "utf8").replace("Spec In Progress", "Needs Plan"));
      const banner = page.getByRole("alert").filter({ hasText: "disagree" });
      await banner.getByText("Needs Plan", { exact: true }).waitFor();
      await banner.getByText("Spec In Progress", { exact: true }).waitFor();
      await picture(page, "ticket-conflict-run-light");
      expect(readFileSync(file, "utf8")).toContain("status: Needs Plan");
      writeFileSync(hold, "");
      await banner.waitFor({ state: "detached" });
      await context.close();
    },
    SLOW,
  );

  test("what a ticket waits for stands on its card, in its row and in the picture of its page", async () => {
    write("FR-2/AGI-2.md", "id: AGI-2\ntitle: Greet by name\nrepo: .\nstatus: Backlog\ndependsOn: [AGI-1, AGI-77]");
    write("FR-2/AGI-3.md", "id: AGI-3\ntitle: Greet in colour\nrepo: .\nstatus: Needs Plan\ndependsOn: [AGI-2]");
    await known("AGI-3");
    const { context, page } = await dashboard.visit("/board?flow=ticket");
    const blocked = card(page, "Backlog", "Greet by name");
    await blocked.getByText("Blocked by").waitFor();
    expect(await blocked.innerText()).toContain("AGI-1 (Backlog), AGI-77 (unknown dependency)");
    await card(page, "Needs Plan", "Greet in colour").getByText("Waiting for others").waitFor();
    await picture(page, "board-tickets-light");
    await show(page, `${dashboard.daemon.url}/tickets?state=waits`);
    await page.getByRole("table", { name: "Work" }).getByText("AGI-77").waitFor();
    await show(page, `${dashboard.daemon.url}/tickets/AGI-2`);
    const drawn = page.getByRole("region", { name: "Dependencies" });
    expect(await drawn.getByRole("listitem").count()).toBe(4);
    await drawn.getByText("ticket not found").waitFor();
    // By keyboard from one to the next.
    await drawn.getByRole("link", { name: /AGI-3/u }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Greet in colour" }).waitFor();
    await context.close();
  });

  test("only legal moves are offered; a move is written into the file and the card follows", async () => {
    const { context, page } = await dashboard.visit("/board?flow=ticket");
    await card(page, "Needs Plan", "Greet in colour").getByRole("button", { name: "Move AGI-3" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "To Needs Spec" }).waitFor();
    expect(await dialog.getByRole("button", { name: "To Done" }).count()).toBe(0);
    await dialog.getByText("its work has to be proven merged first: passrail done AGI-3").waitFor();
    await dialog.getByRole("button", { name: "To Needs Spec" }).click();
    await dialog.getByRole("button", { name: "To Needs Spec" }).click();
    await card(page, "Needs Spec", "Greet in colour").waitFor();
    const file = join(dashboard.daemon.project, "feature_requests/FR-2/AGI-3.md");
    expect(readFileSync(file, "utf8")).toContain("status: Needs Spec");
    // And the other way round: an edit by hand moves the card within a second.
    await page.evaluate("window.isTheSame = true");
    writeFileSync(file, readFileSync(file, "utf8").replace("Needs Spec", "Needs Validate"));
    const from = performance.now();
    await card(page, "Needs Validate", "Greet in colour").waitFor();
    expect(performance.now() - from).toBeLessThan(1500);
    expect(await page.evaluate("window.isTheSame")).toBe(true);
    await context.close();
  });

  test("an edit of what somebody else changed meanwhile is refused, and says what the file says now", async () => {
    const { context, page } = await dashboard.visit("/tickets/AGI-3");
    await page.getByRole("button", { name: "Edit" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Title").fill("Greet in two colours");
    const file = join(dashboard.daemon.project, "feature_requests/FR-2/AGI-3.md");
    writeFileSync(file, readFileSync(file, "utf8").replace("Needs Validate", "Blocked"));
    await until("the daemon knows", async () =>
      String((await dashboard.daemon.call("GET", "/api/tickets/AGI-3")).body["word"]) === "Blocked" ? true : undefined,
    );
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText('it says "Blocked" now').waitFor();
    await picture(page, "ticket-edit-conflict-light");
    expect(readFileSync(file, "utf8")).toContain("title: Greet in colour");
    await dialog.getByRole("button", { name: "Show the file as it is now" }).click();
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("dialog").getByLabel("Title").fill("Greet in two colours");
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Greet in two colours" }).waitFor();
    expect(readFileSync(file, "utf8")).toContain("Greet in two colours");
    await context.close();
  });

  test("a conflict of file and run shows both words and what to do; broken files are told with file and line", async () => {
    write(
      "FR-3/AGI-4.md",
      'id: AGI-4\ntitle: Torn\nrepo: .\nstatus: Needs Plan\nconflict: "the run is at Implement In Progress"',
    );
    write("FR-3/AGI-5.md", "id: AGI-5\ntitle: Typo\nrepo: .\nstatus: Need Plan");
    await known("AGI-4");
    const { context, page } = await dashboard.visit("/tickets/AGI-4");
    const banner = page.getByRole("alert").filter({ hasText: "disagree" });
    await banner.getByText("the run is at Implement In Progress").waitFor();
    await banner.getByText("Needs Plan").first().waitFor();
    await banner.getByText("Passrail overwrote nothing.").waitFor();
    await show(page, `${dashboard.daemon.url}/tickets`);
    await page.getByText("in ticket files").click();
    await page.getByText("feature_requests/FR-3/AGI-5.md:5").waitFor();
    await picture(page, "tickets-problems-light");
    await context.close();
  });

  test("the palette creates a ticket and finds one that nothing has worked on", async () => {
    const { context, page } = await dashboard.visit("/");
    await page.keyboard.press("Control+k");
    await page.getByPlaceholder("What do you want to do?").fill("AGI-2");
    await page.getByRole("option", { name: /Ticket AGI-2/u }).click();
    await page.getByRole("heading", { name: "Greet by name" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByPlaceholder("What do you want to do?").fill("new ticket");
    await page.getByRole("option", { name: /New ticket/u }).click();
    await page.getByRole("dialog", { name: "New ticket" }).waitFor();
    await context.close();
  });

  test(
    "S16: hostile titles, bodies, groups, hints, dependencies and addresses of tickets are text on every page",
    async () => {
      const all = PAYLOADS.join("\n\n");
      for (const [at, title] of TITLES.slice(0, 12).entries())
        write(
          `FR-4/AGI-${10 + at}.md`,
          [
            `id: AGI-${10 + at}`,
            `title: ${JSON.stringify(title)}`,
            "repo: .",
            "status: Backlog",
            "group: evil",
            `variantHint: ${JSON.stringify(title)}`,
            `dependsOn: ${JSON.stringify([title.slice(0, 40), "AGI-2"])}`,
            `last_error: ${JSON.stringify(title)}`,
            `conflict: ${JSON.stringify(title)}`,
            `pr_url: "javascript:alert(1)"`,
            `${JSON.stringify(title.slice(0, 30))}: x`,
          ].join("\n"),
          all,
        );
      write("FR-4/AGI-40.md", `id: AGI-40\ntitle: x\nrepo: .\nstatus: ${JSON.stringify(PAYLOADS[1])}`);
      await known("AGI-21");
      const { context, page, seen } = await dashboard.visit("/");
      const found: unknown[] = [];
      for (const path of [
        "/tickets",
        "/tickets/AGI-10",
        "/tickets/AGI-13",
        "/tickets/AGI-20",
        "/board?flow=ticket",
        "/board?flow=ticket&ticket=AGI-12",
      ]) {
        await walk(page, path);
        await page.evaluate(`for (const each of document.querySelectorAll("main details")) each.open = true`);
        const strange = (await page.evaluate(`[...document.querySelectorAll(
          "main img, main script, main iframe, main style, main form[action], main video, main object")].map((x) => x.outerHTML.slice(0, 200))
          .concat([...document.querySelectorAll("a[href^='javascript']")].map((x) => x.outerHTML))
          .concat(window.hit === undefined ? [] : ["a script ran"])`)) as string[];
        found.push(...strange, ...seen.complaints.splice(0));
      }
      expect(found).toEqual([]);
      expect(seen.elsewhere).toEqual([]);
      await context.close();
    },
    SLOW,
  );

  test(
    "variants stand side by side; pages of tickets are without fault in axe's eyes in light, dark and on a phone",
    async () => {
      for (const [at, hint] of ["with a table", "with a list", "with a chart"].entries())
        write(
          `FR-5/AGI-${50 + at}.md`,
          `id: AGI-${50 + at}\ntitle: Report ${hint}\nrepo: .\nstatus: ${at === 0 ? "Done" : "Backlog"}\ngroup: report\nvariantHint: ${hint}\ndependsOn: [AGI-1]`,
          "## What\n\nA report.\n\n- [ ] tests",
        );
      await known("AGI-52");
      const pages = [
        ["tickets-files", "/tickets"],
        ["ticket-file", "/tickets/AGI-2"],
        ["ticket-variants", "/tickets/AGI-51"],
        ["ticket-conflict", "/tickets/AGI-4"],
        ["board-tickets", "/board?flow=ticket&ticket=AGI-2"],
        ["ticket-new", "/tickets?new=1"],
      ] as const;
      const faults: string[] = [];
      const { context, page, seen } = await dashboard.visit("/");
      for (const [name, path] of pages) {
        await walk(page, path);
        if (name === "ticket-new") await page.getByRole("dialog").waitFor();
        faults.push(...(await faultsInEveryLook(page, name)));
        faults.push(...seen.complaints.splice(0).map((fault) => `${name}: ${fault}`));
        if (name !== "ticket-variants") continue;
        const table = page.getByRole("table", { name: "Variants" });
        expect(await table.getByRole("row").filter({ hasText: "Report with" }).count()).toBe(3);
        await table.getByText("with a chart").first().waitFor();
      }
      await context.close();
      const phone = await dashboard.visit("/tickets/AGI-51", PHONE);
      const table = phone.page.getByRole("table", { name: "Variants" });
      await table.getByText("Report with a chart").waitFor();
      // Another program edits another ticket of the group: the page of this one shows it.
      write(
        "FR-5/AGI-52.md",
        "id: AGI-52\ntitle: Report with two charts\nrepo: .\nstatus: Backlog\ngroup: report\nvariantHint: with a chart\ndependsOn: [AGI-1]",
        "## What\n\nA report.\n\n- [ ] tests",
      );
      await table.getByText("Report with two charts").waitFor();
      await chooseByKeyboard(phone.page);
      expect(phone.seen.complaints).toEqual([]);
      await phone.context.close();
      expect(faults).toEqual([]);
    },
    SLOW,
  );

  test(
    "with 10,000 tickets a list answers quickly and draws only what is in sight",
    async () => {
      for (let at = 0; at < 10_000; at++)
        write(
          `FR-${100 + (at % 50)}/AGI-${1000 + at}.md`,
          `id: AGI-${1000 + at}\ntitle: Number ${at}\nrepo: .\nstatus: Backlog`,
        );
      await known("AGI-10999");
      const times: number[] = [];
      for (let at = 0; at < 30; at++) {
        const from = performance.now();
        const { status } = await dashboard.daemon.call("GET", `/api/tickets?limit=50&before=f${1000 + at * 300}`);
        expect(status).toBe(200);
        times.push(performance.now() - from);
      }
      const p95 = times.toSorted((a, b) => a - b)[28] ?? 0;
      // The bar is 100 ms on a machine of its own; here others work beside it.
      expect(p95).toBeLessThan(400);
      const { context, page } = await dashboard.visit("/tickets");
      await page.getByRole("link", { name: "Number 9999" }).waitFor();
      await page.getByText(/Only the newest .* are shown/u).waitFor();
      expect(await page.evaluate("document.querySelectorAll('*').length")).toBeLessThan(2500);
      await show(page, `${dashboard.daemon.url}/board?flow=ticket`);
      await page.getByText(/Only the newest .* are shown/u).waitFor();
      expect(await page.evaluate("document.querySelectorAll('*').length")).toBeLessThan(3000);
      console.log(
        `tickets: a page of 50 among 10,000: median ${times.toSorted((a, b) => a - b)[15]?.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms`,
      );
      await context.close();
    },
    SLOW,
  );
});

/** The dialog says what becomes of the others; afterwards the files say it. */
async function chooseByKeyboard(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Choose AGI-51" }).focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Backlog → Canceled. It has no work.").waitFor();
  await dialog.getByRole("button", { name: "Choose it and cancel the other" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("AGI-51 is chosen. Canceled: AGI-52. Its branch stays.").waitFor();
  const table = page.getByRole("table", { name: "Variants" });
  await table.getByRole("row").filter({ hasText: "AGI-52" }).getByText("Canceled", { exact: true }).waitFor();
  // Nothing is left to cancel, and the button says so.
  const again = table.getByRole("button", { name: "Choose AGI-51" });
  expect(await again.getAttribute("data-tip")).toContain("nothing to cancel");
}

function card(page: Page, lane: string, title: string) {
  return page.locator(`section[aria-label^="${lane},"] article`).filter({ hasText: title });
}
