// How far a status mirror is, in a file of the state folder: the next process continues there, and `status`, the API and the dashboard read it.

import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { readConfined } from "../file/confined.ts";

const FILE = "status-mirror.json";
const MAX_BYTES = 64 * 1024;
/** Rows that the database refused: the latest are kept. */
export const KEPT_REFUSALS = 20;

const noteSchema = z.object({
  /** The store's content that `seq` counts in, and where its rows went. */
  incarnation: z.string().max(200),
  to: z.string().max(2000),
  /** The number of the last event whose rows are written; null until the first copy is complete. */
  seq: z.int().min(0).nullable(),
  writtenAt: z.string().max(40).nullable(),
  behind: z.object({ since: z.string().max(40), reason: z.string().max(500) }).nullable(),
  refused: z
    .array(z.object({ id: z.string().max(500), reason: z.string().max(500), at: z.string().max(40) }))
    .max(KEPT_REFUSALS),
});

export type StatusNote = z.infer<typeof noteSchema>;

/** Not synced: after a power cut the rows since an older note are written once more. */
export function writeMirrorNote(home: string, note: StatusNote): void {
  const partial = join(home, `${FILE}.${process.pid}.new`);
  writeFileSync(partial, JSON.stringify(note), { mode: 0o600 });
  renameSync(partial, join(home, FILE));
}

/** Null before the first write, and for a file that is not one of ours. */
export function readMirrorNote(home: string): StatusNote | null {
  const read = readConfined(home, join(home, FILE), MAX_BYTES);
  if (!read.ok || read.value === undefined) return null;
  try {
    const note = noteSchema.safeParse(JSON.parse(read.value));
    return note.success ? note.data : null;
  } catch {
    return null;
  }
}
