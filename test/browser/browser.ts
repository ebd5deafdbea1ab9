// A real browser for tests: the Chromium of this machine, driven by playwright-core. Where tests are a gate (CI) it must be there; by
// hand they are left out without it, and say so.

import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";

/** The shell is the same browser without its windows: a page costs it two thirds of the work. */
const NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
/** It talks to nobody but the pages of the test. */
const QUIET = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** For `describe.skipIf`. */
export function isBrowserMissing(): boolean {
  if (findChromium() !== undefined) return false;
  const isRequired = (process.env["CI"] ?? "") !== "";
  if (isRequired) return false;
  console.log("left out: tests with a real browser, since there is no chromium here (PASSRAIL_CHROMIUM=/path/to/it)");
  return true;
}

/** Longer than from the end of one file to the start of the next. */
const UNUSED_MS = 15_000;

let shared: Browser | undefined;
let ending: NodeJS.Timeout | undefined;

/** The browser of this process, for all files of tests in it. Who uses it closes its contexts and gives it back. */
export async function sharedBrowser(): Promise<Browser> {
  clearTimeout(ending);
  // One that broke in a test must not fail the next.
  if (shared?.isConnected() !== true) shared = await openBrowser();
  return shared;
}

/** The files that come later need no browser: its processes would be looked at by every attempt of their runs. */
export function giveBack(browser: Browser): void {
  clearTimeout(ending);
  ending = setTimeout(() => {
    if (browser === shared) shared = undefined;
    void browser.close();
  }, UNUSED_MS).unref();
}

/** `names`: host names that lead to this machine, for this browser alone. */
export async function openBrowser(names: readonly string[] = []): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined)
    throw new Error("there is no chromium: install it, or say where it is with PASSRAIL_CHROMIUM");
  const rules = names.map((name) => `MAP ${name} 127.0.0.1`).join(", ");
  return chromium.launch({
    executablePath,
    headless: true,
    args: [...QUIET, ...(rules === "" ? [] : [`--host-resolver-rules=${rules}`])],
  });
}

function findChromium(): string | undefined {
  const named = process.env["PASSRAIL_CHROMIUM"];
  if (named !== undefined && named !== "") return named;
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
