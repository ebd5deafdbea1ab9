// Reads the history: events, the attempts that they tell of, and the signals that were taken.

import type { JsonObject } from "../../core/json.ts";
import { type AttemptTableRow, toAttempt } from "../rows.ts";
import type { AttemptRecord, StoredEvent } from "../store.ts";
import type { StoredHistory } from "./history.ts";
import { type Queries, RUN_NUMBER } from "./queries.ts";

export function readEvents({ all, first }: Queries, { eventsAfter, eventsOf, bodyAt, lastSeq }: StoredHistory) {
  function events(query: {
    readonly after: number;
    readonly runId?: string;
    readonly limit: number;
  }): readonly StoredEvent[] {
    const { after, runId, limit } = query;
    return runId === undefined ? eventsAfter(after, limit) : eventsOf(runId, after, limit);
  }

  function attempts(runId: string): readonly AttemptRecord[] {
    const sql = `
      SELECT run_id, stage, attempt, track, status, ready_at, started_at, ended_at, facts, outcome_seq
      FROM attempts WHERE run_number = ${RUN_NUMBER} ORDER BY ready_seq`;
    return all(
      ({ outcome_seq, ...row }: AttemptTableRow & { readonly outcome_seq: number | null }) => ({
        ...toAttempt({ ...row, outcome: null }),
        outcome: outcome_seq === null ? null : ((bodyAt(outcome_seq)?.["outcome"] as JsonObject | undefined) ?? null),
      }),
      sql,
      runId,
    );
  }

  function hasSignal(runId: string, signalId: string): boolean {
    const sql = `SELECT 1 FROM signals WHERE run_number = ${RUN_NUMBER} AND signal_id = ?`;
    return first((row: object) => row, sql, runId, signalId) !== undefined;
  }

  // Not the highest that is there: the store gives no number of a deleted event again.
  return { events, attempts, hasSignal, lastSeq };
}
