// New ticket files: all tickets of a request or none, even after a crash. They are written to a draft folder and moved as a whole.

import { randomUUID } from "node:crypto";
import { link, lstat, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Result } from "../../core/result.ts";
import { type NewTicket, ticketFileText } from "../../core/ticket/new-ticket.ts";
import { ticketNumber } from "../../core/ticket/ticket.ts";
import { claimNumbers, numberOfFile } from "./numbers.ts";
import { readTicketFile } from "./read-file.ts";
import { syncFolder } from "./replace-file.ts";

export type CreateHow = {
  /** Repeating a request with the same key returns the first result; a run's id, or a new one for a person. */
  readonly key: string;
  readonly status: string;
  /** FR-2: into that folder, one ticket at a time. Without it Passrail makes a new folder. */
  readonly request?: string;
};

export type CreatePlace = {
  /** Absolute. */
  readonly root: string;
  /** Relative to the project. */
  readonly folder: string;
  readonly requestPrefix: string;
  readonly ticketPrefix: string;
};

/** The key of a folder's writer, so that nothing is written twice. */
const OWNER = ".run";
const DRAFT = ".draft-";
const DRAFT_AGE_MS = 3_600_000;

export async function createTickets(
  place: CreatePlace,
  tickets: readonly NewTicket[],
  how: CreateHow,
): Promise<Result<readonly string[]>> {
  const { root, folder, ticketPrefix } = place;
  if (tickets.length === 0 || (how.request !== undefined && tickets.length > 1))
    throw new Error("one ticket goes into a folder that is there, one or more into a new one");
  await mkdir(root, { recursive: true });
  await removeOldDrafts(root);
  const written = how.request === undefined ? await alreadyWritten(place, how.key) : [];
  if (written.length > 0) return ok(written);
  const { first, release } = await claimNumbers(root, ticketPrefix, tickets.length);
  const draft = join(root, `${DRAFT}${randomUUID()}`);
  try {
    const ids = tickets.map((_, index) => `${ticketPrefix}-${first + index}`);
    await mkdir(draft);
    for (const [index, ticket] of tickets.entries()) {
      const text = ticketFileText(ticket, ids, index, how.status);
      await writeFile(join(draft, `${ids[index]}.md`), text, { flag: "wx", flush: true });
    }
    await writeFile(join(draft, OWNER), `${how.key}\n`, { flush: true });
    syncFolder(draft);
    const request =
      how.request === undefined ? await publish(place, draft) : await addTo(place, how.request, draft, ids[0] ?? "");
    if (request === undefined) return err(noRequest(how.request ?? "", folder));
    syncFolder(root);
    return ok(ids.map((id) => `${folder}/${request}/${id}.md`));
  } finally {
    await rm(draft, { recursive: true, force: true });
    await release();
  }
}

/** Removes drafts that a crash left; younger ones may be in use by another process. */
async function removeOldDrafts(root: string): Promise<void> {
  for (const name of (await readdir(root)).filter((each) => each.startsWith(DRAFT))) {
    const stat = await lstat(join(root, name)).catch(() => undefined);
    if (stat !== undefined && Date.now() - stat.mtimeMs > DRAFT_AGE_MS)
      await rm(join(root, name), { recursive: true, force: true });
  }
}

/** The tickets of this key from before a crash, if they were written. */
async function alreadyWritten(
  { root, folder, requestPrefix, ticketPrefix }: CreatePlace,
  key: string,
): Promise<string[]> {
  for (const name of await readdir(root)) {
    if (ticketNumber(name, requestPrefix) === undefined) continue;
    const owner = readTicketFile(join(root, name, OWNER));
    if (!owner.ok || owner.value.text.trim() !== key) continue;
    return (await readdir(join(root, name)))
      .flatMap((file) => ({ file, number: numberOfFile(file, ticketPrefix) ?? 0 }))
      .filter(({ number }) => number > 0)
      .sort((one, other) => one.number - other.number)
      .map(({ file }) => `${folder}/${name}/${file}`);
  }
  return [];
}

/** Moves the draft to the next free folder. A folder that another process took meanwhile is not empty, so it cannot be replaced. */
async function publish({ root, requestPrefix }: CreatePlace, draft: string): Promise<string> {
  const taken = (await readdir(root)).map((name) => ticketNumber(name, requestPrefix) ?? 0);
  for (let number = taken.reduce((most, each) => Math.max(most, each), 0) + 1; ; number++) {
    const name = `${requestPrefix}-${number}`;
    // Renaming onto an empty folder would succeed, and take it from its owner.
    if (await exists(join(root, name))) continue;
    try {
      await rename(draft, join(root, name));
      return name;
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (code !== "ENOTEMPTY" && code !== "EEXIST" && code !== "ENOTDIR") throw cause;
    }
  }
}

async function addTo(
  { root, requestPrefix }: CreatePlace,
  request: string,
  draft: string,
  id: string,
): Promise<string | undefined> {
  const isRequest = ticketNumber(request, requestPrefix) !== undefined;
  const stat = isRequest ? await lstat(join(root, request)).catch(() => undefined) : undefined;
  if (stat?.isDirectory() !== true) return undefined;
  // A link never replaces an existing file.
  await link(join(draft, `${id}.md`), join(root, request, `${id}.md`));
  syncFolder(join(root, request));
  return request;
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}

function noRequest(request: string, folder: string) {
  return {
    code: "request_not_found",
    message: `there is no folder ${folder}/${request}`,
    hint: "leave --request out to make a new one",
  };
}
