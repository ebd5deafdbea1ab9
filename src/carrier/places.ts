// Where carriers meet their engine: the folder `carriers` of the state folder has a socket and a note per carrier.

import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { readConfined, writeConfined } from "../file/confined.ts";
import type { CarrierIdentity } from "../attempt/carriers.ts";
import { keptFile } from "./kept-file.ts";

/** In the environment of a carrier's process: its id. */
export const CARRIER_VARIABLE = "PASSRAIL_CARRIER";

/** Systems limit the path of a socket to 104 bytes or more, with the zero at its end. */
const SOCKET_PATH_BYTES = 103;

const ID = /^[0-9a-f]{24}$/u;
const NOTE_BYTES = 4096;
const noteSchema = z.object({ id: z.string().regex(ID), pid: z.int().min(2), startTime: z.string() });

export function isCarrierId(text: string): boolean {
  return ID.test(text);
}

/** Only the user can enter it, so only the user's processes can speak to a carrier. */
export function carriersFolder(home: string): string {
  const folder = join(home, "carriers");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** A carrier works in the folder of its socket, so the limit of a path does not concern it. */
export function socketName(id: string): string {
  return `${id}.sock`;
}

export type SocketPaths = { readonly of: (id: string) => string; readonly close: () => void };

/** Paths that are short enough to connect to: through a link in the temporary folder where the state folder's own is too long. */
export function openSocketPaths(home: string): SocketPaths {
  const folder = carriersFolder(home);
  const length = (base: string): number => Buffer.byteLength(join(base, socketName("0".repeat(24))));
  if (length(folder) <= SOCKET_PATH_BYTES) return { of: (id) => join(folder, socketName(id)), close: () => {} };
  // Made when it is first needed: most engines never speak to a carrier.
  let short: string | undefined;
  const link = (): string => {
    const base = length(join(tmpdir(), "pr-XXXXXX", "c")) <= SOCKET_PATH_BYTES ? tmpdir() : "/tmp";
    short = mkdtempSync(join(base, "pr-"));
    symlinkSync(folder, join(short, "c"));
    return short;
  };
  return {
    of: (id) => join(short ?? link(), "c", socketName(id)),
    close: () => {
      if (short !== undefined) rmSync(short, { recursive: true, force: true });
      short = undefined;
    },
  };
}

/** Names the process of a carrier, for an engine whose store knows nothing of it. */
export function writeCarrierNote(home: string, identity: CarrierIdentity): void {
  const written = writeConfined(home, noteFile(home, identity.id), JSON.stringify(identity));
  if (!written.ok) throw new Error(written.error.message);
}

export function readCarrierNotes(home: string): readonly CarrierIdentity[] {
  const ids = readdirSync(carriersFolder(home)).flatMap((name) => {
    const id = name.replace(/\.json$/u, "");
    return name.endsWith(".json") && isCarrierId(id) ? [id] : [];
  });
  return ids.flatMap((id) => {
    const read = readConfined(home, noteFile(home, id), NOTE_BYTES);
    const note = read.ok && read.value !== undefined ? parsed(read.value) : undefined;
    return note?.id === id ? [note] : [];
  });
}

/** The carrier is gone: neither its note nor its socket is of use to anyone. */
export function forgetCarrier(home: string, id: string): void {
  const folder = join(home, "carriers");
  const own = [socketName(id), `${id}.report.json`].map((name) => join(folder, name));
  const files = [noteFile(home, id), keptFile(home, id), ...own];
  for (const file of files) rmSync(file, { force: true });
}

function noteFile(home: string, id: string): string {
  return join(home, "carriers", `${id}.json`);
}

function parsed(text: string): CarrierIdentity | undefined {
  try {
    return noteSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
