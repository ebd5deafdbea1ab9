// The shift of a state folder, in a file of its own: a daemon that starts again finds it.

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { err, ok, type Result } from "../core/result.ts";
import type { Shift } from "../core/budget/shift.ts";
import { replacePrivate } from "../file/private-file.ts";

const time = z.iso.datetime();
const shiftSchema = z.object({
  id: z.string().min(1).max(100),
  startedAt: time,
  until: time.nullable(),
  usd: z.number().positive().nullable(),
  ended: z.object({ at: time, because: z.string().max(500) }).nullable(),
  isReported: z.boolean(),
});

/** Null without one. A file that cannot be read is a problem: without it, work would continue after the end that a person set. */
export function readShift(home: string): Result<Shift | null> {
  let text: string;
  try {
    text = readFileSync(fileOf(home), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return ok(null);
    return unreadable(home);
  }
  try {
    const read = shiftSchema.safeParse(JSON.parse(text));
    return read.success ? ok(read.data) : unreadable(home);
  } catch {
    return unreadable(home);
  }
}

export function writeShift(home: string, shift: Shift | null): void {
  if (shift === null) rmSync(fileOf(home), { force: true });
  else replacePrivate(fileOf(home), `${JSON.stringify(shift)}\n`);
}

function unreadable(home: string): Result<never> {
  return err({
    code: "shift_unreadable",
    message: `${fileOf(home)} cannot be read, so the end of the work is unknown.`,
    hint: "passrail up --until none   works without an end",
  });
}

function fileOf(home: string): string {
  return join(home, "shift.json");
}
