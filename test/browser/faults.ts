// What is wrong with a page in anybody's eyes: what axe finds, and what is wider than the screen.

import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

export async function faultsOf(page: Page, what: "all" | "colours" = "all"): Promise<string[]> {
  const axe = new AxeBuilder({ page }).setLegacyMode();
  const { violations } = await (what === "all" ? axe.withTags(RULES) : axe.withRules(["color-contrast"])).analyze();
  const found = violations.map(
    ({ id, nodes }) =>
      `${id} ${nodes
        .map(({ html }) => html.slice(0, 200))
        .slice(0, 3)
        .join(" | ")}`,
  );
  const [wide, screen] = (await page.evaluate("[document.documentElement.scrollWidth, innerWidth]")) as [
    number,
    number,
  ];
  if (wide > screen) found.push(`too wide: ${wide} of ${screen}`);
  return found;
}
