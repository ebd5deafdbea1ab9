// The size of the state folder when it was last measured. A walk over all files is slow, so pages and `status` read this note.

import { join } from "node:path";
import { z } from "zod";
import { readConfined, writeConfined } from "../../file/confined.ts";
import type { DiskUse } from "./measure.ts";

const FILE = "disk-use.json";
const bytes = z.number().min(0);
const useSchema = z.object({
  measuredAt: z.string().max(40),
  files: bytes,
  workspaces: bytes,
  store: bytes,
  logs: bytes,
  other: bytes,
});

export function writeDiskUse(home: string, use: DiskUse): void {
  const written = writeConfined(home, join(home, FILE), JSON.stringify(use));
  if (!written.ok) throw new Error(written.error.message);
}

/** Null before the first measurement. */
export function readDiskUse(home: string): DiskUse | null {
  const read = readConfined(home, join(home, FILE), 4096);
  if (!read.ok || read.value === undefined) return null;
  try {
    const use = useSchema.safeParse(JSON.parse(read.value));
    return use.success ? use.data : null;
  } catch {
    return null;
  }
}
