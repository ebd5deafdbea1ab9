// Reads the history: events, the attempts that they tell of, and the signals that were taken.

import type { AttemptRecord, StoredEvent } from "../store.ts";
import { type Queries, RUN_NUMBER } from "./queries.ts";
import { toAttempt, toStoredEvent } from "../rows.ts";

export function readEvents({ all, first, numberOf }: Queries) {
  function events(query: {
    readonly after: number;
    readonly runId?: string;
    readonly limit: number;
  }): readonly StoredEvent[] {
    const { after, runId, limit } = query;
    if (runId === undefined) {
      return all(toStoredEvent, "SELECT * FROM events WHERE seq > ? ORDER BY seq LIMIT ?", after, limit);
    }
    // Within a run the versions grow with the sequence, and there is an index for them. It is entered at the last event of the page before.
    const sql = `
      SELECT * FROM events WHERE run_number = (SELECT number FROM runs WHERE id = ?1) AND seq > ?2
        AND version > coalesce((SELECT version FROM events WHERE seq = ?2 AND run_id = ?1), 0)
      ORDER BY version LIMIT ?3`;
    return all(toStoredEvent, sql, runId, after, limit);
  }

  function attempts(runId: string): readonly AttemptRecord[] {
    const sql = `
      SELECT a.run_id, a.stage, a.attempt, a.track, a.status, a.ready_at, a.started_at, a.ended_at, a.facts,
        e.body -> '$.outcome' AS outcome
      FROM attempts a LEFT JOIN events e ON e.seq = a.outcome_seq
      WHERE a.run_number = ${RUN_NUMBER} ORDER BY a.ready_seq`;
    return all(toAttempt, sql, runId);
  }

  function hasSignal(runId: string, signalId: string): boolean {
    const sql = `SELECT 1 FROM signals WHERE run_number = ${RUN_NUMBER} AND signal_id = ?`;
    return first((row: object) => row, sql, runId, signalId) !== undefined;
  }

  return {
    events,
    attempts,
    hasSignal,
    // Not the highest that is there: the store gives no number of a deleted event again.
    lastSeq: () => numberOf("SELECT seq AS value FROM sqlite_sequence WHERE name = 'events'"),
  };
}
