// Replaces a ticket file as a whole, only if it has not changed in between. Only one writer can create the fixed name of the new text
// beside it, so processes take turns; a name that a crash left behind expires.

import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { err, ok, type Result } from "../../core/result.ts";
import { readTicketFile, type TicketFile } from "./read-file.ts";

const STALE_MS = 10_000;
const TURN_MS = 5;
const MAX_TURNS = 4000;

/** Calls `change` again whenever the file differs from the one it was given. */
export async function replaceFile(
  file: string,
  change: (now: TicketFile) => Result<string>,
): Promise<Result<{ readonly before: TicketFile; readonly after: TicketFile }>> {
  for (let turn = 0; turn < MAX_TURNS; turn++) {
    const before = readTicketFile(file);
    if (!before.ok) return before;
    const text = change(before.value);
    if (!text.ok) return text;
    if (text.value === before.value.text) return ok({ before: before.value, after: before.value });
    try {
      if (replaceIfSame(file, before.value, text.value)) {
        const after = readTicketFile(file);
        return after.ok ? ok({ before: before.value, after: after.value }) : after;
      }
    } catch (cause) {
      const code = (cause as NodeJS.ErrnoException).code ?? String(cause);
      return err({ code: "ticket_unwritable", message: `the file cannot be written (${code})` });
    }
    await wait(TURN_MS);
  }
  return err({ code: "ticket_busy", message: "another process keeps writing the file" });
}

/** False: the file has changed, or another writer holds it. */
function replaceIfSame(file: string, expected: TicketFile, text: string): boolean {
  const beside = join(dirname(file), `.${basename(file)}.new`);
  const descriptor = create(beside);
  if (descriptor === undefined) return false;
  try {
    fchmodSync(descriptor, expected.mode);
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
    // From here to the rename this process does not yield, and other processes have a few microseconds.
    const now = readTicketFile(file);
    const isOurs = fstatSync(descriptor, { bigint: true }).ino === lstatSync(beside, { bigint: true }).ino;
    const isSame = now.ok && now.value.hash === expected.hash && now.value.ino === expected.ino;
    if (isOurs && isSame) renameSync(beside, file);
    else if (isOurs) rmSync(beside, { force: true });
    if (isOurs && isSame) syncFolder(dirname(file));
    return isOurs && isSame;
  } catch (cause) {
    rmSync(beside, { force: true });
    throw cause;
  } finally {
    closeSync(descriptor);
  }
}

function create(beside: string): number | undefined {
  try {
    return openSync(beside, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_NOFOLLOW, 0o600);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
    const age = ageMs(beside);
    if (age !== undefined && age > STALE_MS) rmSync(beside, { force: true });
    return undefined;
  }
}

function ageMs(file: string): number | undefined {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  return stat === undefined ? undefined : Math.abs(Date.now() - stat.mtimeMs);
}

export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
