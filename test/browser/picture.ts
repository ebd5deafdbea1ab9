// Screenshots of whole pages for people to look at: with PASSRAIL_SCREENSHOTS=1 the tests write them to test-results/screenshots. The window
// becomes as tall as the page, so that lists draw all their rows.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";

const PICTURES = fileURLToPath(new URL("../../test-results/screenshots", import.meta.url));
const TALLEST = 4000;
/** The frame is as tall as the window at least, so the content is asked. */
const CONTENT = `(() => {
  const main = document.querySelector("main");
  const end = Math.max(...[...(main?.children ?? [])].map((each) => each.getBoundingClientRect().bottom), 0);
  return Math.ceil(end + document.documentElement.scrollHeight - (main?.getBoundingClientRect().bottom ?? 0)) + 24;
})()`;

export async function picture(page: Page, name: string): Promise<void> {
  if ((process.env["PASSRAIL_SCREENSHOTS"] ?? "") === "") return;
  mkdirSync(PICTURES, { recursive: true });
  const before = page.viewportSize() ?? { width: 1280, height: 800 };
  // A list knows how tall its rows are when it has drawn them.
  for (let round = 0; round < 2; round += 1) {
    const tall = (await page.evaluate(CONTENT)) as number;
    await page.setViewportSize({ ...before, height: Math.min(TALLEST, Math.max(before.height, tall)) });
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  }
  await page.screenshot({ path: join(PICTURES, `${name}.png`) });
  await page.setViewportSize(before);
}
