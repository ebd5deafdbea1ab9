// Removes secrets from the files that an agent left in its channel, before the channel becomes a part of the record, where later stages,
// people and the API read them. Written beside the folder, where the agent cannot write, and renamed over the original.

import { constants } from "node:fs";
import { open, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lookConfined } from "../file/confined.ts";
import { type AttemptFiles, closeChannel } from "./attempt-files.ts";

/** A larger file is replaced by a sentence: nobody reads it, and nobody may find a key in it. */
const MOST_BYTES = 8 * 1024 * 1024;

/** Ends the channel. Results that cannot be cleaned are not kept: the report that the next stage reads exists already. */
export async function keepResults(files: AttemptFiles, redact: (text: string) => string): Promise<void> {
  const { home, result } = files;
  // Neither read nor removed through a link.
  if (lookConfined(home, result).ok)
    await cleanResults(files, redact).catch(() => rm(result, { recursive: true, force: true }));
  await closeChannel(files);
}

async function cleanResults({ dir, result }: AttemptFiles, redact: (text: string) => string): Promise<void> {
  const entries = await readdir(result, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(result, entry.name);
    const text = await readPlain(path);
    if (text === undefined) continue;
    const clean = text === null ? TOO_LARGE : redact(text);
    if (clean !== text) await replace(path, join(dir, "cleaned.new"), clean);
  }
}

/** Null if it is too large. */
async function readPlain(path: string): Promise<string | null | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => undefined,
  );
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    return size > MOST_BYTES ? null : await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

const TOO_LARGE = `[passrail: this file had more than ${MOST_BYTES} bytes and was not kept]\n`;

async function replace(path: string, partial: string, text: string): Promise<void> {
  await rm(partial, { force: true });
  await writeFile(partial, text, { flag: "wx", mode: 0o600 });
  await rename(partial, path);
}
