// Judging a change: what Passrail knows by itself, what agents found beside the lines it is about, comments on lines with the text that should be
// there instead, what is new since the last decision, and finding one's way through it with keys.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../harness/until.ts";
import { isBrowserMissing } from "./browser.ts";
import { choose } from "./choose.ts";
import { type Dashboard, itemOf, openDashboard, PHONE, show, STRAIGHT, walk } from "./dashboard.ts";
import { faultsOf } from "./faults.ts";
import { picture } from "./picture.ts";

const SLOW = 150_000;
const CODE = `// Says hello.
export function greet(name: string): string {
  return "hello " + name + 12;
}`;
/** Sixty lines, of which one says what a price costs. */
const prices = (line: string) =>
  Array.from({ length: 60 }, (_, at) => (at === 29 ? line : `export const p${at} = ${at};`)).join("\n");
const LONG = `web/${"deep/".repeat(30)}x.ts`;
const ISSUES = [
  { severity: "critical", description: "The name is not checked", file: "src/hello.ts", line: 3 },
  { severity: "minor", description: "No such line here", file: "src/hello.ts", line: 90 },
  "The readme says nothing about it",
];

describe.skipIf(isBrowserMissing())("a change to judge", () => {
  let dashboard: Dashboard;
  let item: string;
  let log: string;
  let number: number;
  let run: string;
  beforeAll(async () => {
    dashboard = await openDashboard();
    log = join(dashboard.daemon.dir, "prompts.jsonl");
    writeFileSync(join(dashboard.daemon.project, "README.md"), "# Hello\n\nIt says nothing.\n");
    mkdirSync(join(dashboard.daemon.project, "src"));
    writeFileSync(
      join(dashboard.daemon.project, "src", "prices.ts"),
      `${prices("export const price = round(cost, 2);")}\n`,
    );
    for (const words of [
      ["add", "README.md", "src"],
      ["commit", "-q", "-m", "readme"],
    ])
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@localhost", ...words], {
        cwd: dashboard.daemon.project,
      });
    const price = prices("export const price = roundUp(cost, 5);").replace("p50 = 50", "p50  =  50");
    const text = {
      "src/hello.ts": `${CODE}\n`,
      "README.md": "# Hello\n\nIt says hello.\n",
      "src/prices.ts": `${price}\n`,
    };
    dashboard.play({
      ...STRAIGHT,
      build: [
        { verdict: "COMPLETE", rewrite: { ...text, [LONG]: "x\n" }, write: { "log.txt": "built" }, commit: true, log },
      ],
      "build#4": [{ verdict: "COMPLETE", write: { "src/hello.ts": "export const more = 1;" }, commit: true, log }],
      qa: [{ verdict: "REVISE", issues: ISSUES }],
      "qa#4": [{ verdict: "SHIP" }],
    });
    ({ id: run, number } = await dashboard.start("feature", "Say hello"));
    await dashboard.answer(run, "approve");
    await dashboard.stands(number, "escalated");
    item = (await itemOf(dashboard.daemon, run)) ?? "";
  }, SLOW);
  afterAll(() => dashboard.close());

  const changes = (page: Page) => page.locator("#changes");

  test("before the decision stands what Passrail ran and measured, and that it ran no check where it ran none", async () => {
    const { context, page, seen } = await dashboard.visit(`/g/${item}`);
    const checks = page.getByRole("region", { name: "Checks" });
    await checks.getByText("none: Passrail ran no test, build or linter.").waitFor();
    await checks.getByText("What Passrail measured in 4 stages").click();
    const built = checks.getByRole("listitem").filter({ hasText: "build #" });
    await built.getByText(/ exited with code 0$/u).waitFor();
    await built.getByText(/^1 file: log.txt$/u).waitFor();
    await built.getByText(/^[0-9a-f]{7}\.\.[0-9a-f]{7}$/u).waitFor();
    await checks.getByRole("listitem").filter({ hasText: "spec #1" }).getByText("no commit").waitFor();
    await picture(page, "escalation-evidence-light");
    expect([await faultsOf(page), seen.complaints, seen.elsewhere]).toEqual([[], [], []]);
    await context.close();
  });

  test("what agents found stands behind its line; what is about no line that is shown is listed, and leads to its file", async () => {
    const { context, page } = await dashboard.visit(`/g/${item}`);
    await changes(page).getByText("2 findings are not about a line shown here").waitFor();
    await changes(page).getByText("The readme says nothing about it").waitFor();
    await changes(page).getByText("The name is not checked").waitFor();
    await changes(page).getByText("1 finding", { exact: true }).last().waitFor();
    const [finding, line] = await topsOf(page, "The name is not checked", 'return "hello "');
    expect(finding).toBeGreaterThan(line);
    await changes(page).getByRole("button", { name: "Go to the file" }).click();
    // The same on the run's own page, where nothing can be said.
    await show(page, `${dashboard.daemon.url}/runs/${number}?tab=changes`);
    await page.getByText("The name is not checked").waitFor();
    expect(await page.getByRole("button", { name: /^Comment on/u }).count()).toBe(0);
    // Where there is room, the tree is beside the lines.
    await page.setViewportSize({ width: 1440, height: 900 });
    const [tree, lines] = await Promise.all([
      page.getByRole("list", { name: "Files" }).boundingBox(),
      page.locator("[data-diff]").boundingBox(),
    ]);
    expect((tree?.x ?? 0) + (tree?.width ?? 0)).toBeLessThanOrEqual(lines?.x ?? 0);
    await picture(page, "run-changes-light");
    expect(await faultsOf(page)).toEqual([]);
    await context.close();
  });

  test("two columns are a choice that is remembered, by mouse and by key; a phone has one", async () => {
    const { context, page, seen } = await dashboard.visit(`/g/${item}`);
    const two = changes(page).getByRole("button", { name: "Two columns" });
    await two.click();
    expect(await two.getAttribute("aria-pressed")).toBe("true");
    await changes(page).locator(".grid-cols-2").first().waitFor();
    // What was said stays behind its line.
    await changes(page).getByText("The name is not checked").waitFor();
    await picture(page, "diff-split-light");
    expect(await faultsOf(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: "dark" });
    await picture(page, "diff-split-dark");
    expect(await faultsOf(page, "colours")).toEqual([]);
    await page.reload({ waitUntil: "domcontentloaded" });
    await changes(page).locator(".grid-cols-2").first().waitFor();
    await page.setViewportSize({ width: 500, height: 800 });
    await changes(page).locator(".grid-cols-2").first().waitFor({ state: "detached" });
    await page.setViewportSize({ width: 1280, height: 800 });
    await changes(page).locator(".grid-cols-2").first().waitFor();
    await page.keyboard.press("l");
    await changes(page).locator(".grid-cols-2").first().waitFor({ state: "detached" });
    expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
    await context.close();
  });

  test(
    "files are a tree, the head of a file stays in sight, hidden lines open, white space can be left out, and keys lead through it",
    async () => {
      const { context, page, seen } = await dashboard.visit(`/g/${item}`);
      const files = changes(page).getByRole("list", { name: "Files" });
      await files.getByRole("button", { name: "src/", exact: true }).click();
      await files.getByRole("button", { name: /hello/u }).waitFor({ state: "detached" });
      await files.getByRole("button", { name: "src/", exact: true }).click();
      // From file to file and from change to change; the head of the file is above its lines.
      await page.keyboard.press("n");
      await page.locator('[data-diff] button[aria-label*="of README.md"]:focus').waitFor();
      for (let files = 0; files < 3; files++) await page.keyboard.press("j");
      await page.locator("[data-diff] h3 button:focus").filter({ hasText: "prices.ts" }).waitFor();
      await page.keyboard.press("n");
      await page
        .locator('[data-diff] button[aria-label="Comment on removed line 30 of src/prices.ts"]:focus')
        .waitFor();
      await changes(page).getByRole("button", { name: "Show 20 lines above change 1" }).click();
      await changes(page).getByText("export const p10 = 10;").waitFor();
      expect(await changes(page).getByText("export const p2 = 2;").count()).toBe(0);
      await changes(page).getByRole("button", { name: "Show 6 lines above change 1" }).click();
      await changes(page).getByText("export const p2 = 2;").waitFor();
      // The tree leads to a file, and the way continues from there.
      await files.getByRole("button", { name: /^prices/u }).click();
      const head = async () => ((await page.evaluate(HEAD_AT_TOP)) === "src/prices.ts" ? true : undefined);
      await until("the file is at the top of the window", head);
      await page.keyboard.press("n");
      await page
        .locator('[data-diff] button[aria-label="Comment on removed line 30 of src/prices.ts"]:focus')
        .waitFor();
      await page.keyboard.press("n");
      await page
        .locator('[data-diff] button[aria-label="Comment on removed line 51 of src/prices.ts"]:focus')
        .waitFor();
      expect(await head()).toBe(true);
      await page.keyboard.press("p");
      await page
        .locator('[data-diff] button[aria-label="Comment on removed line 30 of src/prices.ts"]:focus')
        .waitFor();
      await picture(page, "diff-context-light");
      expect(await faultsOf(page)).toEqual([]);
      // One change of two is only white space.
      const counts = (lines: string) => files.getByRole("button", { name: `prices.ts ${lines} lines` });
      const spaces = changes(page).getByRole("checkbox", { name: "Hide white space" });
      await counts("+2 −2").waitFor();
      await spaces.click();
      await counts("+1 −1").waitFor();
      await spaces.click();
      await counts("+2 −2").waitFor();
      // Viewed by a key, and still on another device.
      await page.mouse.wheel(0, -99_999);
      await until("the page is at its top", async () => ((await page.evaluate("scrollY")) === 0 ? true : undefined));
      await page.keyboard.press("v");
      await changes(page).getByText("1 viewed").waitFor();
      const other = await dashboard.visit(`/g/${item}`, PHONE);
      await changes(other.page).getByText("1 viewed").waitFor();
      expect(await changes(other.page).getByRole("checkbox", { name: "Viewed README.md" }).isChecked()).toBe(true);
      await changes(other.page).getByRole("button", { name: "Comment on line 2 of src/hello.ts" }).first().tap();
      await other.page.getByRole("button", { name: "Suggest another text" }).tap();
      await picture(other.page, "diff-phone");
      expect(await faultsOf(other.page)).toEqual([]);
      await other.page.setViewportSize({ width: 320, height: 700 });
      expect(await faultsOf(other.page, "colours")).toEqual([]);
      await other.context.close();
      expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
      await context.close();
    },
    SLOW,
  );

  test("code has colours by class, and not one style of its own", async () => {
    const { context, page, seen } = await dashboard.visit(`/g/${item}`);
    const first = (kind: string) => changes(page).locator(`code .code-${kind}`).first();
    await first("keyword").waitFor();
    await first("comment").filter({ hasText: "// Says hello." }).waitFor();
    expect(await first("keyword").innerText()).toBe("export");
    expect(await first("string").innerText()).toBe('"hello "');
    expect(await first("number").innerText()).toBe("12");
    // Of a changed line, only the words that changed are marked.
    await changes(page)
      .getByRole("list", { name: "Files" })
      .getByRole("button", { name: /^prices/u })
      .click();
    await changes(page).locator(".word-added").filter({ hasText: "roundUp" }).waitFor();
    const words = (kind: string) => changes(page).locator(`.word-${kind}`).allInnerTexts();
    expect((await words("removed")).join(" ")).toContain("round 2");
    expect((await words("added")).join(" ")).toContain("roundUp 5");
    expect(await changes(page).locator("code [style]").count()).toBe(0);
    expect(seen.complaints).toEqual([]);
    await context.close();
  });

  test("the page ends where its content ends, on a phone with changes on it as well", async () => {
    const { context, page } = await dashboard.visit(`/g/${item}`, PHONE);
    await changes(page).getByText("export").first().waitFor();
    // Rows are drawn and measured after they come into sight, so two equal readings may still be those before the first drawing. The page
    // rests once several frames in a row leave it as it is, and it must rest with little below its last line.
    const seen: unknown[] = [];
    await until(`the page ends where its content ends: ${NARROW} px or less below it`, async () => {
      seen.push(await page.evaluate(BLANK_AT_END));
      const last = seen.slice(-RESTING);
      return last.length === RESTING && last.every((blank) => Number(blank) < NARROW) ? true : undefined;
    });
    await context.close();
  });

  test(
    "by keyboard alone a comment is written and weighed; it is major by itself; the next attempt is told word by word",
    async () => {
      const { context, page, seen } = await dashboard.visit(`/g/${item}`);
      const { keyboard } = page;
      await changes(page).getByRole("button", { name: "Comment on line 1 of src/hello.ts" }).first().focus();
      await keyboard.press("ArrowDown");
      await keyboard.press("Enter");
      await page.getByLabel(/About line 2/u).waitFor();
      await keyboard.type("Say who calls it");
      await keyboard.press("Tab");
      expect(await page.getByRole("radio", { name: "major" }).isChecked()).toBe(true);
      await keyboard.press("ArrowUp");
      expect(await page.getByRole("radio", { name: "critical" }).isChecked()).toBe(true);
      await keyboard.press("Enter");
      await changes(page).getByText("You, critical:").waitFor();
      // The focus is back on the line; the next comment is major without a word.
      await page.locator('button[aria-label^="Comment on line 2"]:focus').waitFor();
      await keyboard.press("ArrowDown");
      await keyboard.press("Enter");
      await page.getByLabel(/About line 3/u).waitFor();
      await keyboard.type("Use a template");
      await keyboard.press("Control+Enter");
      await changes(page).getByText("You, major:").waitFor();
      // Written, not sent: a reload loses nothing.
      await page.reload({ waitUntil: "domcontentloaded" });
      await changes(page).getByText("You, critical:").waitFor();
      // On several lines, with the text that should be there instead.
      await changes(page).getByRole("button", { name: "Comment on line 2 of src/hello.ts" }).first().click();
      await changes(page)
        .getByRole("button", { name: "Comment on line 4 of src/hello.ts" })
        .first()
        .click({ modifiers: ["Shift"] });
      await page.getByLabel(/About lines 2 to 4/u).fill("Shorter");
      await page.getByRole("button", { name: "Suggest another text" }).click();
      const suggestion = page.getByLabel(/^Suggested text/u);
      expect(await suggestion.inputValue()).toBe(CODE.split("\n").slice(1).join("\n"));
      await suggestion.fill("export const greet = (name: string) =>\n\t`hello ${name}`;  ");
      await picture(page, "diff-suggestion-light");
      expect(await faultsOf(page)).toEqual([]);
      // What is being written is kept while its form is out of sight.
      await changes(page)
        .getByRole("button", { name: /^hello/u })
        .click();
      await page.getByRole("button", { name: "Add comment" }).click();
      await changes(page).getByText("You, major, lines 2 to 4:").waitFor();
      await page.getByRole("button", { name: "Again" }).click();
      const prompt = await until(
        "it is built again",
        () =>
          readFileSync(log, "utf8")
            .trim()
            .split("\n")
            .map((line) => (JSON.parse(line) as { prompt: string }).prompt)
            .find((text) => text.includes("Use a template")),
        60_000,
      );
      expect(prompt).toContain("[critical] Say who calls it (src/hello.ts:2)");
      expect(prompt).toContain("[major] Use a template (src/hello.ts:3)");
      expect(prompt).toContain(
        "[major] Shorter (src/hello.ts:2-4)\nSuggested text in place of lines 2-4:\n```suggestion\nexport const greet = (name: string) =>\n\t`hello ${name}`;  \n```",
      );
      // The next decision begins with what is new since this one.
      await dashboard.stands(number, "review");
      await walk(page, `/g/${await itemOf(dashboard.daemon, run)}`);
      const source = changes(page).getByRole("combobox");
      await source.getByText(/^since your last decision/u).waitFor();
      await page.getByText("Since your last decision", { exact: true }).waitFor();
      await changes(page).getByText("export const more = 1;").waitFor();
      await picture(page, "diff-since-light");
      expect(await changes(page).getByRole("button", { name: "README.md" }).count()).toBe(0);
      await choose(source, "all commits");
      await changes(page)
        .getByRole("button", { name: /^README.md/u })
        .first()
        .waitFor();
      expect([seen.complaints, seen.elsewhere]).toEqual([[], []]);
      await context.close();
    },
    SLOW,
  );
});

/** The file whose head is at the top of the window. */
const HEAD_AT_TOP = `[...document.querySelectorAll("[data-diff] h3")].find((head) => Math.abs(head.getBoundingClientRect().top) < 5)?.innerText.trim()`;

const NARROW = 140;
const RESTING = 3;

/** Two frames after it was scrolled to its end: from the lowest piece of content, boxes around it left out, to the page's end. */
const BLANK_AT_END = `(async () => {
  scrollTo(0, document.documentElement.scrollHeight);
  await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  const ends = [...document.querySelectorAll("main *:not(:has(*))")].map((each) => each.getBoundingClientRect().bottom + scrollY);
  return Math.round(document.documentElement.scrollHeight - Math.max(...ends));
})()`;

/** Both in the same moment: what loads above moves everything below it. */
async function topsOf(page: Page, one: string, other: string): Promise<[number, number]> {
  const texts = JSON.stringify([one, other]);
  const tops = (await page.evaluate(`${texts}.map((text) => {
    const holds = [...document.querySelectorAll("#changes *")].filter((each) => each.textContent.includes(text));
    return holds.at(-1)?.getBoundingClientRect().top ?? null;
  })`)) as (number | null)[];
  const [first, second] = tops;
  if (first == null || second == null) throw new Error(`not drawn: ${texts} ${JSON.stringify(tops)}`);
  return [first, second];
}
