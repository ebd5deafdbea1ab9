// The ids of the signals that a run has taken: a repeated one changes nothing.

import type { DatabaseSync } from "node:sqlite";
import { byRows, repeat } from "./many-rows.ts";

export function prepareSignals(db: DatabaseSync) {
  const find = db.prepare("SELECT 1 FROM signals WHERE run_number = ? AND signal_id = ?");
  const remove = db.prepare("DELETE FROM signals WHERE run_number = ? AND signal_id = ?");
  const insert = byRows(
    db,
    (rows) => `INSERT INTO signals (run_number, signal_id) VALUES ${repeat(rows, () => "(?1, ?)")}`,
  );

  function isRepeated(number: number, signalIds: readonly string[]): boolean {
    return signalIds.some((signalId) => find.get(number, signalId) !== undefined);
  }

  return {
    isRepeated,
    /** Takes all, or none and answers false when one of them was there already: a failed statement leaves nothing of itself behind. */
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
