// Reads handoffs: those of a run, and those that agents outside ask for.

import type { SQLInputValue } from "node:sqlite";
import type { HandoffQuery, HandoffRecord, HandoffRow } from "../store.ts";
import type { Queries } from "./queries.ts";
import { toCarrying, toHandoff } from "../rows.ts";
import { PARTS_SINCE } from "./migrations.ts";

const HANDOFFS_AT_MOST = 10_000;

export function readHandoffs({ all, first, numberOf, schema }: Queries) {
  /** The run of the first commit after which the store had given this id. 0 where there is none. */
  function runOf(id: number): number {
    const known = numberOf("SELECT run_number AS value FROM handoff_ids WHERE id = ?", id);
    if (known !== 0) return known;
    type Found = { readonly seq: number; readonly run_number: number; readonly last_handoff: number };
    const from = "SELECT seq, run_number, last_handoff FROM commits WHERE seq >= ? ORDER BY seq LIMIT 1";
    let [low, high] = [1, numberOf("SELECT max(seq) AS value FROM commits")];
    let run = 0;
    while (low <= high) {
      const middle = Math.floor((low + high) / 2);
      const found = first((row: Found) => row, from, middle);
      if (found === undefined || found.last_handoff >= id) {
        run = found?.run_number ?? run;
        high = middle - 1;
      } else low = found.seq + 1;
    }
    return run;
  }

  function handoffs(runId: string): readonly HandoffRecord[] {
    const sql = `
      SELECT h.*, r.subject_id FROM handoffs h JOIN runs r ON r.number = h.run_number
      WHERE r.id = ? ORDER BY h.number`;
    return all(toHandoff, sql, runId);
  }

  function handoffRows(query: HandoffQuery): readonly HandoffRow[] {
    const [condition, ...values] = schema() < PARTS_SINCE ? conditionBefore14(query) : handoffCondition(query, runOf);
    const sql = `SELECT * FROM handoff_rows WHERE ${condition} ORDER BY id LIMIT ${HANDOFFS_AT_MOST}`;
    return all(toCarrying, sql, ...values);
  }

  return { handoffs, handoffRows };
}

const OF_SUBJECT = "run_number IN (SELECT number FROM runs WHERE subject_id = ?)";

function handoffCondition(query: HandoffQuery, runOf: (id: number) => number): readonly [string, ...SQLInputValue[]] {
  if ("subjectId" in query) return [OF_SUBJECT, query.subjectId.toWellFormed()];
  if ("id" in query) return ["run_number = ? AND id = ?", runOf(query.id), query.id];
  // The small index holds the pending ones; their runs hold few others.
  const pending = (more: string) => `
    run_number IN (SELECT run_number FROM parts INDEXED BY handoffs_pending
      WHERE kind = 'h' AND state = 'pending' AND to_agent IS NOT NULL)
    AND state = 'pending' AND to_agent IS NOT NULL${more}`;
  return "pending" in query ? [pending("")] : [pending(" AND created_at < ?"), query.pendingSince];
}

/** For a reader of a file that was not upgraded. */
function conditionBefore14(query: HandoffQuery): readonly [string, ...SQLInputValue[]] {
  if ("subjectId" in query) return [OF_SUBJECT, query.subjectId.toWellFormed()];
  if ("id" in query) return ["id = ?", query.id];
  // Asked for in order of id, SQLite would look at every handoff there ever was.
  const pending = (more: string) =>
    `id IN (SELECT id FROM handoffs INDEXED BY handoffs_pending
      WHERE state = 'pending' AND to_agent IS NOT NULL${more})`;
  return "pending" in query ? [pending("")] : [pending(" AND created_at < ?"), query.pendingSince];
}
