// The note in the folder of a run whose attempts' files were removed.

import { join } from "node:path";
import { z } from "zod";
import type { RemovedNote } from "../../core/retention/retention.ts";
import { readConfined } from "../../file/confined.ts";

export const NOTE = "removed.json";
const NOTE_BYTES = 4096;

const noteSchema = z.object({ at: z.string().max(40), because: z.enum(["age", "count", "size"]), bytes: z.number() });

/** Undefined while the files are there, and for anything that is no note of ours. */
export function readNote(home: string, runId: string): RemovedNote | undefined {
  const read = readConfined(home, join(home, "runs", runId, NOTE), NOTE_BYTES);
  if (!read.ok || read.value === undefined) return undefined;
  try {
    const note = noteSchema.safeParse(JSON.parse(read.value));
    return note.success ? note.data : undefined;
  } catch {
    return undefined;
  }
}
