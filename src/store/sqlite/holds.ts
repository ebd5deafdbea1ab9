// The stored holds. `set` and `lift` are to be called inside a transaction.

import type { DatabaseSync } from "node:sqlite";
import type { Hold, HoldKey } from "../../core/run/hold.ts";
import { type HoldRow, HOLD_COLUMNS, toHold, toHoldRow } from "../rows.ts";

export type SavedHolds = {
  list(): readonly Hold[];
  set(hold: Hold): void;
  lift(key: HoldKey): boolean;
};

export function prepareHolds(db: DatabaseSync): SavedHolds {
  // Prepared at the first use: a reader may open an older file, which has no such table.
  let prepared: ReturnType<typeof prepareStatements> | undefined;
  const statements = () => (prepared ??= prepareStatements(db));
  return {
    list: () => (hasHolds(db) ? (statements().list.all() as HoldRow[]).map(toHold) : []),
    set(hold) {
      const row = toHoldRow(hold);
      statements().set.run(...HOLD_COLUMNS.map((column) => row[column]));
    },
    lift: ({ runner, account }) => Number(statements().lift.run(runner, account).changes) > 0,
  };
}

function hasHolds(db: DatabaseSync): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'holds'").get() !== undefined;
}

function prepareStatements(db: DatabaseSync) {
  const columns = HOLD_COLUMNS.join(", ");
  return {
    list: db.prepare(`SELECT ${columns} FROM holds ORDER BY runner, account`),
    set: db.prepare(`INSERT OR REPLACE INTO holds (${columns}) VALUES (${HOLD_COLUMNS.map(() => "?").join(", ")})`),
    lift: db.prepare("DELETE FROM holds WHERE runner = ? AND account = ?"),
  };
}
