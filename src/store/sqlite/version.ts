// Which SQLite may write our files. Node brings its own; older ones carry a bug that can damage a database in WAL mode.

import { StoreError } from "../store.ts";

const OLDEST = [3, 51, 3] as const;

/** Throws `sqlite_too_old` for a version below 3.51.3, or one that cannot be read. */
export function requireSqlite(version: string): void {
  const parts = version.split(".").map(Number);
  for (const [index, oldest] of OLDEST.entries()) {
    const part = parts[index] ?? Number.NaN;
    if (part > oldest) return;
    if (part < oldest || Number.isNaN(part)) throw tooOld(version);
  }
}

function tooOld(version: string): StoreError {
  return new StoreError(
    "sqlite_too_old",
    `This Node brings SQLite ${version}. Below ${OLDEST.join(".")} the WAL reset bug can damage the database.`,
    "Use a newer Node: 24.18.1 or later on the 24 line, 22.23.3 or later on the 22 line, or 26.",
  );
}
