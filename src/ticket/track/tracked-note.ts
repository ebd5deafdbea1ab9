// Which tickets follow an issue, one small file each. Only tickets that a person imported here are in it: a `source` that a stranger wrote
// into a ticket file moves no issue.

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { TRACKED_PHASES } from "../../core/ticket/tracked.ts";
import { readConfined } from "../../file/confined.ts";
import { replacePrivate } from "../../file/private-file.ts";

const noteSchema = z.object({
  source: z.string().max(400),
  project: z.string().max(4000),
  last: z.object({ phase: z.enum(TRACKED_PHASES), state: z.string().max(200) }).nullable(),
  /** The phase that the tracker refused, and why; it is tried again when the phase changes. */
  refused: z.object({ phase: z.enum(TRACKED_PHASES), reason: z.string().max(500) }).nullable(),
});

export type TrackedNote = z.infer<typeof noteSchema>;

const MAX_BYTES = 16 * 1024;

export function writeTracked(home: string, note: TrackedNote): void {
  mkdirSync(folderOf(home), { recursive: true, mode: 0o700 });
  replacePrivate(fileOf(home, note), JSON.stringify(note));
}

/** Leaves a note that is there as it is. */
export function follow(home: string, project: string, source: string): void {
  const note = { source, project, last: null, refused: null };
  if (read(home, fileOf(home, note)) === undefined) writeTracked(home, note);
}

export function readTracked(home: string, project: string): readonly TrackedNote[] {
  let names: readonly string[];
  try {
    names = readdirSync(folderOf(home));
  } catch {
    return [];
  }
  const notes = names.filter((name) => name.endsWith(".json")).map((name) => read(home, join(folderOf(home), name)));
  return notes.filter((note) => note?.project === project).flatMap((note) => (note === undefined ? [] : [note]));
}

function read(home: string, path: string): TrackedNote | undefined {
  const text = readConfined(home, path, MAX_BYTES);
  if (!text.ok || text.value === undefined) return undefined;
  try {
    const note = noteSchema.safeParse(JSON.parse(text.value));
    return note.success ? note.data : undefined;
  } catch {
    return undefined;
  }
}

function folderOf(home: string): string {
  return join(home, "tracked");
}

function fileOf(home: string, { project, source }: Pick<TrackedNote, "project" | "source">): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([project, source]))
    .digest("hex");
  return join(folderOf(home), `${hash.slice(0, 32)}.json`);
}
