// Which store this is and who owns it (as fence.ts does for SQLite). A process that performs takes a new epoch; from then on the database
// refuses what an earlier owner writes.

import { StoreError } from "../store.ts";
import type { Pool } from "./pool.ts";

export type DatabaseIdentity = { readonly incarnation: string; readonly epoch: number; readonly seq: number };

const COLUMNS = "incarnation, epoch, last_seq AS seq";

export async function readIdentity({ read, shown }: Pool): Promise<DatabaseIdentity> {
  return identityIn(await read(`SELECT ${COLUMNS} FROM passrail.identity`), shown);
}

/** Repeating it is fine: the epoch grows once more. */
export async function takeOver({ read, shown }: Pool): Promise<DatabaseIdentity> {
  return identityIn(await read(`UPDATE passrail.identity SET epoch = epoch + 1 RETURNING ${COLUMNS}`), shown);
}

function identityIn([row]: readonly object[], shown: string): DatabaseIdentity {
  if (row !== undefined) return row as DatabaseIdentity;
  throw new StoreError(
    "store_damaged",
    `${shown} has no identity: a row of passrail.identity is missing.`,
    "Restore a backup.",
  );
}
