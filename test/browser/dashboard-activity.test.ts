// What an agent does, by a person who watches it: readable while it happens, searched over all attempts, on a phone, and as it was when it is over.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { approveFiles } from "../harness/approve-files.ts";
import { until } from "../harness/until.ts";
import { isBrowserMissing } from "./browser.ts";
import { type Dashboard, DESKTOP, itemOf, openDashboard, PHONE } from "./dashboard.ts";
import { faultsOf } from "./faults.ts";
import { picture } from "./picture.ts";

const SLOW = 180_000;
const AGENT = join(import.meta.dirname, "../fixtures/agents/coding-agent.mjs");
const QUESTION = "Up or down? <b onclick=alert(2)>";
const HOSTILE = `<img src=x onerror=alert(1)> \u202e evil ${"w".repeat(400)}`;

const assistant = (id: string, ...content: readonly object[]) => ({
  print: {
    type: "assistant",
    parent_tool_use_id: null,
    message: { id, model: "scripted-model", content, usage: { input_tokens: 1000, output_tokens: 1 } },
  },
});
const use = (id: string, name: string, input: object) => assistant(`m-${id}`, { type: "tool_use", id, name, input });
const result = (id: string, content: string, isError = false) => ({
  print: { type: "user", message: { content: [{ type: "tool_result", tool_use_id: id, content, is_error: isError }] } },
});
const did = (id: string, name: string, input: object, output = "ok", isError = false) => [
  use(id, name, input),
  result(id, output, isError),
];
const shards = Array.from({ length: 12 }, (_, at) => ` ✓ src/orders-${at}.test.ts (14 tests) 89ms`).join("\n");

/** Looks around, edits, fails once, and waits with a command under way. */
const WORK = [
  assistant("m0", {
    type: "thinking",
    thinking: "The task touches the order module.\nI look at the code that exists first.",
  }),
  { say: "I'll start by looking at the existing order module and its tests." },
  ...did(
    "b1",
    "Bash",
    { command: "git log --oneline -5 && ls src" },
    "3f2a1bc Add cart totals\n8c1d2e0 Set up project",
  ),
  ...["orders", "users", "prices", "carts"].flatMap((name) =>
    did(`r-${name}`, "Read", { file_path: `/src/${name}.ts` }),
  ),
  ...did("e1", "Edit", {
    file_path: "/src/orders.ts",
    old_string: "export const total = sum(lines);\n",
    new_string: "export const total = round(sum(lines), 5);\nexport const tax = total * rate;\n",
  }),
  ...did("b2", "Bash", { command: "npm test" }, "Exit code 1\n1 test failed: total is rounded", true),
  { say: `A name from the ticket: ${HOSTILE}` },
  ...did("b3", "Bash", { command: "npm test -- shard 359" }, shards),
  use("b4", "Bash", { command: "npm test -- shard 360" }),
];

describe.skipIf(isBrowserMissing())("the activity of a run", () => {
  let dashboard: Dashboard;
  let run: { id: string; number: number };
  let more: string;
  let go: string;
  beforeAll(async () => {
    dashboard = await openDashboard();
    more = join(dashboard.daemon.dir, "activity.more");
    go = join(dashboard.daemon.dir, "activity.go");
    const script = {
      spec: [
        [
          { ask: { question: QUESTION } },
          { say: "The spec mentions the needle." },
          { submit: { verdict: "APPROVED", summary: "Specified." } },
        ],
      ],
      design: [[{ submit: { verdict: "APPROVED", summary: "Designed." } }]],
      build: [
        [
          ...WORK,
          { until: more },
          assistant("m9", { type: "text", text: "Half of the shards are green." }),
          { until: go },
          result("b4", "all green"),
          { say: "Shard 360 is green." },
          { write: { path: "a.txt", text: "1" } },
          { submit: { verdict: "COMPLETE", summary: "Rounded." } },
        ],
      ],
      qa: [[{ submit: { verdict: "SHIP", summary: "Fine." } }]],
    };
    const file = join(dashboard.daemon.dir, "activity.json");
    writeFileSync(file, JSON.stringify(script));
    const settings = {
      agents: { "*": { runner: "claude", command: [process.execPath, AGENT, file] } },
      limits: { "*": { question: "10m" } },
    };
    mkdirSync(dashboard.daemon.project, { recursive: true });
    writeFileSync(join(dashboard.daemon.project, "passrail.yaml"), JSON.stringify(settings));
    approveFiles(dashboard.daemon.home, dashboard.daemon.project);
    run = await dashboard.start("feature", "Round prices to five cents");
    await dashboard.answer(run.id, "approve");
  }, SLOW);
  afterAll(() => dashboard.close());

  test(
    "R-X-07: a question of an agent at work is answered in the browser at once, and the same attempt goes on with it",
    async () => {
      const item = await until("a person is asked", () => itemOf(dashboard.daemon, run.id), 60_000);
      const { context, page, seen } = await dashboard.visit(`/g/${item}`);
      await page.getByText(/The agent waits for your answer until/u).waitFor();
      await page.getByText(QUESTION).first().waitFor();
      // Nobody waits for second thoughts while an agent waits.
      await page.getByLabel("The agent gets your answer word for word").fill(HOSTILE);
      await page.getByRole("button", { name: "Send the answer" }).click();
      await page.getByText("and it reached the agent while it worked").first().waitFor();
      await dashboard.stands(run.number, "building");
      const told = readFileSync(`${join(dashboard.daemon.dir, "activity.json")}.tools`, "utf8").split("\n")[0] ?? "";
      expect(told).toContain("<img src=x onerror=alert(1)>");
      const starts = readFileSync(`${join(dashboard.daemon.dir, "activity.json")}.log`, "utf8")
        .trim()
        .split("\n");
      expect(starts.filter((line) => (JSON.parse(line) as { stage: string }).stage === "spec")).toHaveLength(1);
      expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
      await context.close();
    },
    SLOW,
  );

  const log = (page: Page, of: string) => page.getByRole("log", { name: `Activity of ${of}` });

  test(
    "a live attempt is the first thing on the page: messages, folded thoughts, calls with results, edits; nothing an agent says acts",
    async () => {
      expect(existsSync(go)).toBe(false);
      const { context, page, seen } = await dashboard.visit(`/runs/${run.number}`);
      const box = log(page, "build #1");
      await box.getByText("I'll start by looking at the existing order module").waitFor();
      await box.getByText("npm test -- shard 360").waitFor();
      await box.getByText("running").waitFor();
      await box.getByText("Read 4 files").waitFor();
      await page.getByText(/^[0-9,]+ tokens.* so far$/u).waitFor();
      await box.getByText("8c1d2e0 Set up project").waitFor();
      await box.getByText("export const tax = total * rate;").waitFor();
      await box.getByText("exit 1").waitFor();
      await box.getByText("9 more lines").waitFor();
      await box.getByText("U+202E").waitFor();
      expect(await page.getByText("I look at the code that exists first.").count()).toBe(0);
      await box.getByRole("button", { name: /^Thought: The task touches/u }).click();
      await box.getByText("I look at the code that exists first.").waitFor();
      await box.getByRole("button", { name: "Read 4 files" }).click();
      await box.getByText("/src/prices.ts").waitFor();
      expect(await faultsOf(page)).toEqual([]);
      await picture(page, "activity-light");
      await page.emulateMedia({ colorScheme: "dark" });
      expect(await faultsOf(page, "colours")).toEqual([]);
      await picture(page, "activity-dark");
      expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
      await context.close();
    },
    SLOW,
  );

  test("the head of the page counts what the agent uses, and more of it while it works", async () => {
    const { context, page } = await dashboard.visit(`/runs/${run.number}`);
    const used = page.locator("[data-tokens]");
    await used.waitFor();
    const before = await used.innerText();
    writeFileSync(more, "");
    await log(page, "build #1").getByText("Half of the shards are green.").waitFor();
    await expect.poll(() => used.innerText(), { timeout: 20_000 }).not.toBe(before);
    const [first, then] = [before, await used.innerText()].map((text) => Number(text.replaceAll(/[^0-9]/gu, "")));
    expect(then).toBeGreaterThan(first ?? 0);
    expect(await page.getByText("Working", { exact: true }).first().isVisible()).toBe(true);
    await context.close();
  });

  test("it fits every screen from 320 pixels on, and a phone", async () => {
    const { context, page } = await dashboard.visit(`/runs/${run.number}`, PHONE);
    await log(page, "build #1").getByText("npm test -- shard 360").waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await picture(page, "activity-phone");
    await context.close();
    const { context: wide, page: other } = await dashboard.visit(`/runs/${run.number}`);
    await log(other, "build #1").getByText("npm test -- shard 360").waitFor();
    for (const width of [320, 375, 640, 768, 1024, 1440]) {
      await other.setViewportSize({ width, height: 800 });
      await other.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
      expect([width, await other.evaluate("document.documentElement.scrollWidth")]).toEqual([width, width]);
    }
    await wide.close();
  });

  test("a text is found in every attempt, and leads there; the raw files are beside it", async () => {
    const { context, page, seen } = await dashboard.visit(`/runs/${run.number}`);
    await page.getByLabel("Search all attempts").fill("NEEDLE");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: /spec #1 .*mentions the needle/u }).click();
    await page.waitForURL(/stage=spec&attempt=1#E[0-9]+$/u);
    await log(page, "spec #1").getByText("The spec mentions the needle.").waitFor();
    await page.getByRole("region", { name: "Verdict of spec #1" }).getByText("APPROVED").waitFor();
    await page.getByRole("link", { name: "Raw", exact: true }).click();
    await page.getByRole("log", { name: "output of spec #1" }).waitFor();
    await page.getByRole("link", { name: "Story", exact: true }).click();
    await log(page, "spec #1").waitFor();
    expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
    await context.close();
  });

  test("addresses of earlier versions lead to where their content is now", async () => {
    const { context, page } = await dashboard.visit("/runs");
    for (const [old, now] of [
      ["stages", "timeline"],
      ["artifacts", "timeline"],
      ["cost", "timeline"],
      ["events", "history"],
    ] as const) {
      await page.goto(`${dashboard.daemon.url}/runs/${run.number}?tab=${old}&stage=spec`, {
        waitUntil: "domcontentloaded",
      });
      await page.waitForURL(new RegExp(`tab=${now}`, "u"));
      const current = page.getByRole("navigation", { name: "Parts of the run" }).locator("[aria-current=page]").first();
      expect((await current.innerText()).toLowerCase()).toContain(now);
    }
    await context.close();
  });

  test(
    "what comes while somebody looks is appended, read only once; the end has the verdict, and the page stays where it is",
    async () => {
      const { context, page, seen } = await dashboard.visit(
        `/runs/${run.number}?tab=activity&stage=build&attempt=1`,
        DESKTOP,
      );
      const box = log(page, "build #1");
      await box.getByText("running").waitFor();
      const asked: number[] = [];
      page.on("request", (request) => {
        const { pathname, searchParams } = new URL(request.url());
        if (pathname.endsWith("/activity")) asked.push(Number(searchParams.get("from") ?? -1));
      });
      writeFileSync(go, "");
      await box.getByText("all green").waitFor();
      await box.getByText("Shard 360 is green.").waitFor();
      await page.getByRole("region", { name: "Verdict of build #1" }).getByText("COMPLETE").waitFor();
      // Only what is new was asked for: each time from where the last answer ended, never from the beginning.
      expect(asked.length).toBeGreaterThan(0);
      expect(asked).toEqual(asked.toSorted((one, other) => one - other));
      expect(Math.min(...asked)).toBeGreaterThan(1000);
      await dashboard.stands(run.number, "review");
      await box.getByText("Shard 360 is green.").waitFor();
      expect(await faultsOf(page)).toEqual([]);
      await picture(page, "activity-ended");
      expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
      await context.close();
    },
    SLOW,
  );
});
