// Opens an existing store read-only: creates nothing and takes no lock.

import { existsSync } from "node:fs";
import { storeFile } from "../../settings/site.ts";
import type { Store } from "../store.ts";
import { openSqliteStore } from "./open.ts";

/** Undefined where there is no store yet. */
export function openForReading(home: string): Store | undefined {
  return existsSync(storeFile(home)) ? openSqliteStore({ file: storeFile(home), readOnly: true }) : undefined;
}
