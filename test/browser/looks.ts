// A page, or what lies over it, in every look: light, dark, and on a phone, with one load. Each look has its picture, and nothing that axe finds.

import type { CDPSession, Page } from "playwright-core";
import { drawn, faultsOf, OVERLAYS } from "./faults.ts";
import { picture } from "./picture.ts";

const DESK = { width: 1280, height: 800 };
const HAND = { width: 390, height: 844 };
const sessions = new WeakMap<Page, CDPSession>();

/** `open`: brings what is looked at into sight where another size of the window has closed it. */
export async function faultsInEveryLook(page: Page, name: string, open?: () => Promise<void>): Promise<string[]> {
  const found: string[] = [];
  // The page below an overlay is looked at once with it.
  const root = open === undefined ? "" : OVERLAYS;
  const look = async (as: string, what: "all" | "colours"): Promise<void> => {
    await open?.();
    await drawn(page);
    found.push(...(await faultsOf(page, what, as === "light" ? "" : root)).map((fault) => `${name} ${as}: ${fault}`));
    await picture(page, `${name}-${as}`);
  };
  await look("light", "all");
  await page.emulateMedia({ colorScheme: "dark" });
  // The same elements in other colours.
  await look("dark", "colours");
  await page.emulateMedia({ colorScheme: "light" });
  await becomePhone(page);
  await look("phone", "all");
  await becomeDesk(page);
  return found;
}

/** The same page in a hand: narrow, with a finger instead of a mouse. The window's size is set in one place, or a navigation brings the other back. */
async function becomePhone(page: Page): Promise<void> {
  await page.setViewportSize(HAND);
  await (await sessionOf(page)).send("Emulation.setTouchEmulationEnabled", { enabled: true });
}

async function becomeDesk(page: Page): Promise<void> {
  await (await sessionOf(page)).send("Emulation.setTouchEmulationEnabled", { enabled: false });
  await page.setViewportSize(DESK);
  await drawn(page);
}

async function sessionOf(page: Page): Promise<CDPSession> {
  const session = sessions.get(page) ?? (await page.context().newCDPSession(page));
  sessions.set(page, session);
  return session;
}
