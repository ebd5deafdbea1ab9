// Faults of a page for its users: what axe finds, and content that is wider than the screen. The page runs axe and returns only the violations:
// collecting and transferring everything that passed takes several times as long.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const SHOWN_NODES = 3;
const TALLEST = 6000;
const axe = readFileSync(
  createRequire(import.meta.resolve("@axe-core/playwright")).resolve("axe-core/axe.min.js"),
  "utf8",
);

type Violation = { readonly id: string; readonly html: readonly string[] };

/** `colours`: only the contrast, for a page that was checked already and now has other colours. */
export async function faultsOf(page: Page, what: "all" | "colours" = "all"): Promise<string[]> {
  if ((await page.evaluate("typeof axe")) === "undefined") await page.evaluate(axe);
  // A bar that stays in sight covers what scrolls below it; a target is as large as it is when nothing lies over it.
  const before = page.viewportSize() ?? { width: 1280, height: 800 };
  if (what === "all") {
    const tall = (await page.evaluate("document.documentElement.scrollHeight")) as number;
    await page.setViewportSize({ ...before, height: Math.min(TALLEST, Math.max(before.height, tall)) });
  }
  const runOnly = what === "all" ? { type: "tag", values: RULES } : { type: "rule", values: ["color-contrast"] };
  const [violations, wide, screen] = (await page.evaluate(
    `axe.run(document, ${JSON.stringify({ runOnly, resultTypes: ["violations"] })}).then(({ violations }) => [
      violations.map(({ id, nodes }) => ({ id, html: nodes.slice(0, ${SHOWN_NODES}).map(({ html }) => html.slice(0, 200)) })),
      document.documentElement.scrollWidth,
      innerWidth,
    ])`,
  )) as [readonly Violation[], number, number];
  if (what === "all") await page.setViewportSize(before);
  const found = violations.map(({ id, html }) => `${id} ${html.join(" | ")}`);
  return wide > screen ? [...found, `too wide: ${wide} of ${screen}`] : found;
}
