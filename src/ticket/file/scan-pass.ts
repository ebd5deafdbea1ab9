// One pass over the folder of tickets: lists the folders, reads the files that changed since the pass before, and reports broken ones. A
// long pass yields to other work.

import { type Dirent, lstatSync, readdirSync, type Stats } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { type TicketProblem, ticketNumber } from "../../core/ticket/ticket.ts";
import type { TicketSettings } from "../../settings/tickets.ts";
import type { FoundFile } from "./check-together.ts";
import { numberOfFile } from "./numbers.ts";
import { FOLDER_INVALID } from "./own-folder.ts";
import { readTicketFile } from "./read-file.ts";
import { readTicket } from "./read-ticket.ts";

export type ScanPlace = {
  /** Absolute. */
  readonly root: string;
  readonly settings: TicketSettings;
  readonly allowsRepo: (repo: string) => boolean;
  /** False: a link leads elsewhere. */
  readonly isOwn: () => boolean;
};

/** The files of one pass, by their path, and the folders of requests, by their name. */
export type ScanPass = {
  readonly known: ReadonlyMap<string, Known>;
  readonly listings: ReadonlyMap<string, Listing>;
  readonly problems: readonly TicketProblem[];
};

export const NO_PASS: ScanPass = { known: new Map(), listings: new Map(), problems: [] };

/** How long a pass works before it yields to other work. */
const TURN_MS = 8;
/** A change this soon after reading may have the same time as the text that was read. */
const DOUBT_MS = 100;

/** The stats of a file or folder when it was read; null if it may have changed since with equal stats. */
type Looks = Pick<Stats, "mtimeMs" | "ctimeMs" | "size" | "ino" | "mode">;
type Known = { readonly looks: Looks | null; readonly file: FoundFile };
type Listing = { readonly looks: Looks | null; readonly names: readonly string[] };
type Listed = { readonly listing?: Listing; readonly problems: readonly TicketProblem[] };
type FileName = { readonly request: string; readonly name: string; readonly path: string };

export async function takePass(place: ScanPlace, before: ScanPass): Promise<ScanPass> {
  const known = new Map<string, Known>();
  const listings = new Map<string, Listing>();
  const problems: TicketProblem[] = [];
  let since = performance.now();
  for (const request of requestsIn(place, problems)) {
    const listed = listing(place, request, before.listings.get(request));
    problems.push(...listed.problems);
    if (listed.listing === undefined) continue;
    listings.set(request, listed.listing);
    for (const name of listed.listing.names) {
      if (performance.now() - since > TURN_MS) {
        await turn();
        since = performance.now();
      }
      const path = `${place.settings.folder}/${request}/${name}`;
      const now = lookAt(place, { request, name, path }, before.known.get(path));
      if (now !== undefined) known.set(path, now);
    }
  }
  return { known, listings, problems };
}

/** Whether two passes found the same files and the same problems. */
export function isSamePass(one: ScanPass, other: ScanPass): boolean {
  if (one.known.size !== other.known.size) return false;
  for (const [path, { file }] of one.known) if (other.known.get(path)?.file !== file) return false;
  return JSON.stringify(one.problems) === JSON.stringify(other.problems);
}

/** Folders named like a request; `request_queue` and all others are ignored. */
function requestsIn(place: ScanPlace, problems: TicketProblem[]): readonly string[] {
  const { folder, requestPrefix } = place.settings;
  if (!place.isOwn()) {
    problems.push(refused(FOLDER_INVALID.code, FOLDER_INVALID.message, folder));
    return [];
  }
  const numbers = entries(place.root, folder, problems)
    .map(({ name }) => ({ name, number: ticketNumber(name, requestPrefix) }))
    .filter((each): each is { name: string; number: number } => each.number !== undefined);
  return numbers.sort((one, other) => one.number - other.number).map(({ name }) => name);
}

function listing(place: ScanPlace, request: string, before: Listing | undefined): Listed {
  const { folder, ticketPrefix } = place.settings;
  const path = `${folder}/${request}`;
  const stat = lstatSync(join(place.root, request), { throwIfNoEntry: false });
  if (stat?.isSymbolicLink() === true)
    return { problems: [refused("ticket_is_link", "this is a link; tickets are not read through links", path)] };
  if (stat === undefined || !stat.isDirectory()) return { problems: [] };
  const problems: TicketProblem[] = [];
  const names =
    before !== undefined && isSameLook(before.looks, stat)
      ? before.names
      : entries(join(place.root, request), path, problems)
          .map(({ name }) => name)
          .filter((name) => name.startsWith(`${ticketPrefix}-`) && name.endsWith(".md"))
          .sort((one, other) => rank(one, ticketPrefix) - rank(other, ticketPrefix) || (one < other ? -1 : 1));
  return { listing: { looks: isSettled(stat) ? stat : null, names }, problems };
}

function rank(name: string, ticketPrefix: string): number {
  return numberOfFile(name, ticketPrefix) ?? Number.MAX_SAFE_INTEGER;
}

/** Undefined if the file is gone. */
function lookAt(place: ScanPlace, { request, name, path }: FileName, before: Known | undefined): Known | undefined {
  const file = `${place.root}/${request}/${name}`;
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  if (before !== undefined && isSameLook(before.looks, stat)) return before;
  const found = readOne(place, file, { request, name, path });
  // Read again only to be sure: the same text is the same ticket.
  const isSame = before !== undefined && sameFile(before.file, found);
  return { looks: isSettled(stat) ? stat : null, file: isSame ? before.file : found };
}

function readOne({ settings, allowsRepo }: ScanPlace, file: string, { request, name, path }: FileName): FoundFile {
  const { ticketPrefix, unknownStatus } = settings;
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
  const from = { text, hash, path, request, prefix: ticketPrefix, unknownStatus, allowsRepo };
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

/** Old enough for a further change to have a different time. */
function isSettled({ mtimeMs, ctimeMs }: Looks): boolean {
  return Date.now() - Math.max(mtimeMs, ctimeMs) > DOUBT_MS;
}
