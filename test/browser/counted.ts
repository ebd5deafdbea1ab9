// Counts what a person does on a page: presses of the mouse and of keys, each one, as the browser gets them; letters of a text apart from keys
// that do something. What a test does to the page in other ways does not count.

import type { Locator, Page } from "playwright-core";
import { until } from "../harness/until.ts";

export type Counted = {
  readonly clicks: number;
  /** But for letters. */
  readonly keys: number;
  /** In a field. */
  readonly letters: number;
};

/** Once per page, before it is used; it lasts as long as the page is not loaded again. */
export async function countActs(page: Page): Promise<void> {
  await page.evaluate(() => {
    const own = globalThis as unknown as { counted: { clicks: number; keys: number; letters: number } } & Listening;
    type Told = { isTrusted: boolean; key?: string; ctrlKey?: boolean; target: { matches?(what: string): boolean } };
    type Listening = { addEventListener(name: string, hear: (event: Told) => void, capture: true): void };
    own.counted = { clicks: 0, keys: 0, letters: 0 };
    own.addEventListener("pointerdown", ({ isTrusted }) => void (isTrusted && (own.counted.clicks += 1)), true);
    own.addEventListener(
      "keydown",
      ({ isTrusted, key = "", ctrlKey = false, target }) => {
        if (!isTrusted || ["Control", "Shift"].includes(key)) return;
        const isLetter = key.length === 1 && !ctrlKey && target.matches?.("input, textarea") === true;
        own.counted[isLetter ? "letters" : "keys"] += 1;
      },
      true,
    );
  });
}

/** What was done since the last call. */
export async function counted(page: Page): Promise<Counted> {
  return (await page.evaluate(
    "(() => { const before = counted; counted = { clicks: 0, keys: 0, letters: 0 }; return before; })()",
  )) as Counted;
}

/** Goes there with Tab, as a person without a mouse does; back with Shift+Tab where that is nearer. */
export async function tabTo(page: Page, target: Locator, key: "Tab" | "Shift+Tab" = "Tab", most = 60): Promise<void> {
  await target.waitFor();
  for (let pressed = 0; pressed <= most; pressed += 1) {
    if (await target.evaluate(hasFocus)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${most} times ${key} do not lead there: ${target.toString()}`);
}

/** The palette, a command in a few words, and Enter on the first that it finds. */
export async function command(page: Page, words: string, found: string | RegExp): Promise<void> {
  await page.keyboard.press("Control+k");
  const box = page.getByRole("dialog", { name: "Commands" });
  await box.getByRole("combobox").waitFor();
  await page.keyboard.type(words);
  const first = box.getByRole("option", { selected: true });
  const isFound = async () => ((await first.first().innerText()).match(found) === null ? undefined : true);
  await until(`the palette finds ${found} for ${words}`, async () => isFound().catch(() => undefined), 20_000);
  await page.keyboard.press("Enter");
}

/** In the page, whose types tests do not have. */
function hasFocus(element: unknown): boolean {
  return element === (globalThis as unknown as { document: { activeElement: unknown } }).document.activeElement;
}
