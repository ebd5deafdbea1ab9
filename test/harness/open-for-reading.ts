// Opens the SQLite store of a state folder read-only: creates nothing and takes no lock.

import { existsSync } from "node:fs";
import { storeFile } from "../../src/settings/site.ts";
import type { Store } from "../../src/store/store.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";

/** Undefined where there is no store yet. */
export function openForReading(home: string): Store | undefined {
  return existsSync(storeFile(home)) ? openSqliteStore({ file: storeFile(home), readOnly: true }) : undefined;
}
