// Faults of a page for its users: what axe finds in the window that a person has, and content that is wider than the screen. The page runs axe
// and returns only the violations: collecting and transferring everything that passed takes several times as long.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const SHOWN_NODES = 3;
const axe = readFileSync(
  createRequire(import.meta.resolve("@axe-core/playwright")).resolve("axe-core/axe.min.js"),
  "utf8",
);

/** What lies over a page. */
export const OVERLAYS = "[role=dialog], [role=alertdialog], [role=menu]";

/**
 * `colours`: only the contrast, for a page that was checked already and now has other colours. `root`: only there, where the rest was checked
 * already.
 */
export async function faultsOf(page: Page, what: "all" | "colours" = "all", root = ""): Promise<string[]> {
  if ((await page.evaluate("typeof axe")) === "undefined") await page.evaluate(axe);
  const runOnly = what === "all" ? { type: "tag", values: RULES } : { type: "rule", values: ["color-contrast"] };
  const options = JSON.stringify({ runOnly, resultTypes: ["violations"] });
  const found = (await page.evaluate(`(${LOOK})(${options}, ${SHOWN_NODES}, ${JSON.stringify(root)})`)) as string[];
  return [...found, ...(await tooWide(page))];
}

/** Narrow phones, phones, a window beside another, tablets, small and large desks. */
const WIDTHS = [320, 375, 640, 768, 1024, 1440];

/** Where the page is wider than its window, and because of what. The window is as before afterwards. */
export async function overflowsOf(page: Page, widths: readonly number[] = WIDTHS): Promise<string[]> {
  const before = page.viewportSize() ?? { width: 1280, height: 800 };
  const found: string[] = [];
  for (const width of widths) {
    await page.setViewportSize({ width, height: before.height });
    await drawn(page);
    found.push(...(await staysTooWide(page)));
  }
  await page.setViewportSize(before);
  await drawn(page);
  return found;
}

/** A list measures its rows after it has drawn them, and draws them once more; on a busy machine a page needs some turns. */
async function staysTooWide(page: Page): Promise<string[]> {
  let found = await tooWide(page);
  for (let turn = 0; turn < DRAWN_AGAIN && found.length > 0; turn += 1) {
    await drawn(page);
    found = await tooWide(page);
  }
  return found;
}

const DRAWN_AGAIN = 20;

/** When the page has drawn itself as it is now. */
export async function drawn(page: Page): Promise<void> {
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
}

/** A phone makes its window as wide as the content, so the width that it has is not asked of the page. */
async function tooWide(page: Page): Promise<string[]> {
  const { width } = page.viewportSize() ?? { width: 1280 };
  const [wide, culprits] = (await page.evaluate(`(${WIDEST})(${width})`)) as [number, readonly string[]];
  return wide > width ? [`too wide: ${wide} of ${width} ${culprits.join(" | ")}`] : [];
}

/**
 * In the page. A bar that stays in sight covers what is below it at the moment; a person scrolls it into sight. So a target that is too small
 * counts only if it is too small where scrolling brings it.
 */
const LOOK = `async (options, shown, root) => {
  const { violations } = await axe.run((root !== "" && document.querySelector(root)) || document, options);
  const [left, top] = [scrollX, scrollY];
  const found = [];
  for (const { id, nodes } of violations) {
    const real = [];
    for (const node of nodes) if (id !== "target-size" || (await isSmallInSight(node))) real.push(node);
    if (real.length > 0) found.push(id + " " + real.slice(0, shown).map(({ html }) => html.slice(0, 200)).join(" | "));
  }
  scrollTo(left, top);
  return found;

  async function isSmallInSight({ target }) {
    scrollTo(left, top);
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const element = document.querySelector(target[0]);
    if (element === null) return true;
    element.scrollIntoView({ block: "center", inline: "center" });
    const again = await axe.run(element, { runOnly: { type: "rule", values: ["target-size"] }, resultTypes: ["violations"] });
    return again.violations.length > 0;
  }
}`;

/** In the page: how wide it is, and the innermost elements that reach beyond the window, but for those in something that scrolls or cuts. */
const WIDEST = `(width) => {
  const wide = document.documentElement.scrollWidth;
  if (wide <= width) return [wide, []];
  const isBeyond = (each) => each.getBoundingClientRect().right + scrollX > width + 0.4;
  const isCut = (each) => {
    // What is placed by its nearest positioned ancestor is not cut by those between.
    let isFree = getComputedStyle(each).position === "absolute";
    for (let over = each.parentElement; over !== null && over !== document.body; over = over.parentElement) {
      const { position, overflowX } = getComputedStyle(over);
      if (position !== "static") isFree = position === "absolute";
      else if (isFree) continue;
      if (overflowX !== "visible" && !isBeyond(over)) return true;
    }
    return false;
  };
  // A bar that is fixed is as wide as the content, and so never the cause.
  const isFixed = (each) => getComputedStyle(each).position === "fixed";
  const beyond = [...document.body.querySelectorAll("*")].filter((each) => isBeyond(each) && !isFixed(each) && !isCut(each));
  const innermost = beyond.filter((each) => !beyond.some((other) => other !== each && each.contains(other)));
  return [wide, innermost.slice(0, 3).map((each) => each.outerHTML.slice(0, 200))];
}`;
