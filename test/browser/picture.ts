// A picture of a whole page for people to look at, in test-results/screenshots. The window is made as tall as the page: rows that exist only in
// sight are drawn then, and what sticks to an edge is at the edge.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";

const PICTURES = fileURLToPath(new URL("../../test-results/screenshots", import.meta.url));
const TALLEST = 4000;

export async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(PICTURES, { recursive: true });
  const before = page.viewportSize() ?? { width: 1280, height: 800 };
  const tall = (await page.evaluate("document.documentElement.scrollHeight")) as number;
  await page.setViewportSize({ ...before, height: Math.min(TALLEST, Math.max(before.height, tall)) });
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  await page.screenshot({ path: join(PICTURES, `${name}.png`) });
  await page.setViewportSize(before);
}
