// The ids of the signals that a run has taken: a repeated one changes nothing.

import type { DatabaseSync } from "node:sqlite";
import { byRows, repeat } from "./many-rows.ts";

export function prepareSignals(db: DatabaseSync) {
  const find = db.prepare("SELECT 1 FROM parts WHERE run_number = ? AND kind = 's' AND name = ?");
  const remove = db.prepare("DELETE FROM parts WHERE run_number = ? AND kind = 's' AND name = ?");
  const insert = byRows(
    db,
    (rows) => `INSERT INTO parts (run_number, kind, name, number) VALUES ${repeat(rows, () => "(?1, 's', ?, 0)")}`,
  );

  function isRepeated(number: number, signalIds: readonly string[]): boolean {
    return signalIds.some((signalId) => find.get(number, signalId) !== undefined);
  }

  return {
    isRepeated,
    /** Takes all, or none and answers false when one of them was there already: a failed statement changes nothing. */
    take(number: number, signalIds: readonly string[]): boolean {
      if (signalIds.length === 0) return true;
      try {
        insert(signalIds.length).run(number, ...signalIds);
        return true;
      } catch (error) {
        if (isRepeated(number, signalIds)) return false;
        throw error;
      }
    },
    giveBack(number: number, signalIds: readonly string[]): void {
      for (const signalId of signalIds) remove.run(number, signalId);
    },
  };
}
