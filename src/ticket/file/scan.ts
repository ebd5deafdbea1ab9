// Reads the folder of tickets, and later only the files whose times, size or number have changed. Broken files are
// reported; the others are still read.

import type { TicketScan } from "../../core/ticket/ticket.ts";
import { checkTogether, type FoundFile } from "./check-together.ts";
import { isSamePass, NO_PASS, type ScanPlace, takePass } from "./scan-pass.ts";

export type Scanner = {
  /** The same object as before if nothing has changed. */
  scan(): Promise<ScannedFolder>;
};

export type ScannedFolder = { readonly scan: TicketScan; readonly files: readonly FoundFile[] };

export function createScanner(place: ScanPlace): Scanner {
  let pass = NO_PASS;
  let last: ScannedFolder | undefined;
  let running: Promise<unknown> = Promise.resolve();
  return {
    /** One scan at a time: every caller sees the folder as it was after the call. */
    scan() {
      const next = running.then(look, look);
      running = next;
      return next;
    },
  };

  async function look(): Promise<ScannedFolder> {
    const before = pass;
    pass = await takePass(place, before);
    if (last !== undefined && isSamePass(pass, before)) return last;
    const files = [...pass.known.values()].map(({ file }) => file);
    last = { scan: checkTogether(files, pass.problems), files };
    return last;
  }
}
