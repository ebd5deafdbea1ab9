// Results of checks that can be used again. `save` and `forget` are to be called inside a transaction. The table is bounded by age and by
// number.

import type { DatabaseSync } from "node:sqlite";
import type { CachedCheck } from "../../core/flow/check-result.ts";

const KEPT_MS = 30 * 86_400_000;
const KEPT_AT_MOST = 10_000;

export type SavedChecks = {
  find(key: string, now: string): CachedCheck | undefined;
  save(check: CachedCheck): void;
};

export function prepareChecks(db: DatabaseSync): SavedChecks {
  // Prepared at the first use: a reader may open a file of version 4, which has no such table.
  let prepared: ReturnType<typeof prepareStatements> | undefined;
  const statements = () => (prepared ??= prepareStatements(db));
  return {
    find(key, now) {
      const row = statements().find.get(key, oldestKept(now)) as { body: string } | undefined;
      return row === undefined ? undefined : (JSON.parse(row.body) as CachedCheck);
    },
    save(check) {
      const { upsert, forget, trim } = statements();
      forget.run(oldestKept(check.by.at));
      upsert.run(check.key, check.by.runId, check.by.at, JSON.stringify(check));
      trim.run(KEPT_AT_MOST);
    },
  };
}

function oldestKept(now: string): string {
  return new Date(Date.parse(now) - KEPT_MS).toISOString();
}

function prepareStatements(db: DatabaseSync) {
  return {
    find: db.prepare("SELECT body FROM checks WHERE key = ? AND saved_at >= ?"),
    upsert: db.prepare(`
      INSERT INTO checks (key, run_id, saved_at, body) VALUES (?, ?, ?, ?)
      ON CONFLICT (key) DO UPDATE SET run_id = excluded.run_id, saved_at = excluded.saved_at, body = excluded.body`),
    forget: db.prepare("DELETE FROM checks WHERE saved_at < ?"),
    trim: db.prepare(
      "DELETE FROM checks WHERE key IN (SELECT key FROM checks ORDER BY saved_at DESC, key LIMIT -1 OFFSET ?)",
    ),
  };
}
