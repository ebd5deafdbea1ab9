// Reads the folder of tickets, and again only what has changed: files whose times, size and number are as before are not opened. Broken
// files are named and the others go on. Others get their turn in between.

import { type Dirent, lstatSync, readdirSync, type Stats } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import type { TicketProblem, TicketScan } from "../../core/ticket/ticket.ts";
import { ticketNumber } from "../../core/ticket/ticket.ts";
import { checkTogether, type FoundFile } from "./check-together.ts";
import { numberOfFile } from "./numbers.ts";
import { FOLDER_INVALID } from "./own-folder.ts";
import { readTicketFile } from "./read-file.ts";
import { readTicket } from "./read-ticket.ts";
import type { TicketSettings } from "../../settings/tickets.ts";

export type Scanner = {
  /** The same object as before where nothing has changed. */
  scan(): Promise<Found>;
};

export type Found = { readonly scan: TicketScan; readonly files: readonly FoundFile[] };

export type ScanPlace = {
  /** Absolute. */
  readonly root: string;
  readonly settings: TicketSettings;
  readonly allowsRepo: (repo: string) => boolean;
  /** False: a link leads elsewhere. */
  readonly isOwn: () => boolean;
};

/** So long others may have to wait for their turn. */
const TURN_MS = 8;
/** A change so soon after reading may carry the same time as what was read. */
const DOUBT_MS = 100;

/** How a file or folder looked when it was read; null where it may have changed since without looking different. */
type Looks = Pick<Stats, "mtimeMs" | "ctimeMs" | "size" | "ino" | "mode">;
type Known = { readonly looks: Looks | null; readonly file: FoundFile };
type Listing = { readonly looks: Looks | null; readonly names: readonly string[] };

export function createScanner({ root, settings, allowsRepo, isOwn }: ScanPlace): Scanner {
  const { folder, requestPrefix, ticketPrefix } = settings;
  let known = new Map<string, Known>();
  let listings = new Map<string, Listing>();
  let last: Found | undefined;
  let lastFound = "";
  let running: Promise<unknown> = Promise.resolve();

  /** One after the other: everybody sees what was there after they asked. */
  return {
    scan() {
      const next = running.then(look, look);
      running = next;
      return next;
    },
  };

  async function look(): Promise<Found> {
    const nowKnown = new Map<string, Known>();
    const nowListings = new Map<string, Listing>();
    const problems: TicketProblem[] = [];
    let isSame = true;
    let since = performance.now();
    for (const request of requests(problems)) {
      for (const name of listing(request, nowListings, problems)) {
        if (performance.now() - since > TURN_MS) {
          await turn();
          since = performance.now();
        }
        const path = `${folder}/${request}/${name}`;
        const before = known.get(path);
        const now = lookAt(path, request, name, before);
        if (now === undefined) continue;
        nowKnown.set(path, now);
        isSame &&= now.file === before?.file;
      }
    }
    isSame &&= nowKnown.size === known.size;
    known = nowKnown;
    listings = nowListings;
    const found = JSON.stringify(problems);
    if (last !== undefined && isSame && found === lastFound) return last;
    lastFound = found;
    const files = [...nowKnown.values()].map(({ file }) => file);
    last = { scan: checkTogether(files, problems), files };
    return last;
  }

  /** `request_queue` and everything else that is not called like a request is not looked at. */
  function requests(problems: TicketProblem[]): readonly string[] {
    if (!isOwn()) {
      problems.push(refused(FOLDER_INVALID.code, FOLDER_INVALID.message, folder));
      return [];
    }
    const numbers = entries(root, folder, problems)
      .map(({ name }) => ({ name, number: ticketNumber(name, requestPrefix) }))
      .filter((each): each is { name: string; number: number } => each.number !== undefined);
    return numbers.sort((one, other) => one.number - other.number).map(({ name }) => name);
  }

  function listing(request: string, next: Map<string, Listing>, problems: TicketProblem[]): readonly string[] {
    const shown = `${folder}/${request}`;
    const stat = lstatSync(join(root, request), { throwIfNoEntry: false });
    if (stat === undefined) return [];
    if (stat.isSymbolicLink()) {
      problems.push(refused("ticket_is_link", "this is a link; tickets are not read through links", shown));
      return [];
    }
    if (!stat.isDirectory()) return [];
    const before = listings.get(request);
    const names =
      before !== undefined && isSameLook(before.looks, stat)
        ? before.names
        : entries(join(root, request), shown, problems)
            .map(({ name }) => name)
            .filter((name) => name.startsWith(`${ticketPrefix}-`) && name.endsWith(".md"))
            .sort((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1));
    next.set(request, { looks: isSettled(stat) ? stat : null, names });
    return names;
  }

  function rank(name: string): number {
    return numberOfFile(name, ticketPrefix) ?? Number.MAX_SAFE_INTEGER;
  }

  function lookAt(path: string, request: string, name: string, before: Known | undefined): Known | undefined {
    const file = `${root}/${request}/${name}`;
    const stat = lstatSync(file, { throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    if (before !== undefined && isSameLook(before.looks, stat)) return before;
    const found = readOne(file, path, request, name);
    // Read again only to be sure: the same words are the same ticket.
    const isSame = before !== undefined && sameFile(before.file, found);
    return { looks: isSettled(stat) ? stat : null, file: isSame ? before.file : found };
  }

  function readOne(file: string, path: string, request: string, name: string): FoundFile {
    const number = numberOfFile(name, ticketPrefix);
    const id = number === undefined ? null : `${ticketPrefix}-${number}`;
    const about = { path, request, name, id };
    const read = readTicketFile(file);
    if (!read.ok) {
      const { code, message } = read.error;
      const problem = refused(code, message, path, id);
      return { ...about, ticket: null, problems: [problem], lacksId: false, dependencyPlaces: [] };
    }
    const { text, hash } = read.value;
    const from = { text, hash, path, request, prefix: ticketPrefix, unknownStatus: settings.unknownStatus, allowsRepo };
    // A file that is not numbered yet is read as if it were, to know whether it is worth a number.
    const ticket = readTicket({ ...from, id: id ?? `${ticketPrefix}-999999999` });
    if (id !== null) return { ...about, ...ticket };
    const problem = refused(
      "ticket_name",
      `a ticket's file is called ${ticketPrefix}-1.md, ${ticketPrefix}-2.md …`,
      path,
    );
    return { ...about, ...ticket, ticket: null, problems: [problem] };
  }
}

function sameFile(one: FoundFile, other: FoundFile): boolean {
  if (one.ticket !== null || other.ticket !== null) return one.ticket?.hash === other.ticket?.hash;
  return JSON.stringify(one.problems) === JSON.stringify(other.problems) && one.lacksId === other.lacksId;
}

function refused(code: string, message: string, path: string, ticket: string | null = null): TicketProblem {
  return { code, message, severity: "refused", path, ...(ticket === null ? {} : { ticket }) };
}

function entries(folder: string, shown: string, problems: TicketProblem[]): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== "ENOENT") problems.push(refused("ticket_unreadable", `the folder cannot be read (${code})`, shown));
    return [];
  }
}

function isSameLook(one: Looks | null, other: Looks): boolean {
  return (
    one !== null &&
    one.mtimeMs === other.mtimeMs &&
    one.ctimeMs === other.ctimeMs &&
    one.size === other.size &&
    one.ino === other.ino &&
    one.mode === other.mode
  );
}

/** Old enough for a further change to have another time. */
function isSettled({ mtimeMs, ctimeMs }: Looks): boolean {
  return Date.now() - Math.max(mtimeMs, ctimeMs) > DOUBT_MS;
}
