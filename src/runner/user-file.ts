// A file of the user's own set-up of an agent's program, as far as it is there: their own text, but of limited size.

import { readFileSync, statSync } from "node:fs";

const MAX_BYTES = 1024 * 1024;

/** Null without one, or with one that is no ordinary text. */
export function readUserFile(path: string): string | null {
  try {
    const stat = statSync(path);
    return stat.isFile() && stat.size <= MAX_BYTES ? readFileSync(path, "utf8") : null;
  } catch {
    return null;
  }
}
