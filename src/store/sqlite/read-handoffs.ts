// Reads handoffs: those of a run, and those that agents outside ask for.

import type { SQLInputValue } from "node:sqlite";
import type { HandoffQuery, HandoffRecord, HandoffRow } from "../store.ts";
import type { Queries } from "./queries.ts";
import { toCarrying, toHandoff } from "../rows.ts";

const HANDOFFS_AT_MOST = 10_000;

export function readHandoffs({ all }: Queries) {
  function handoffs(runId: string): readonly HandoffRecord[] {
    const sql = `
      SELECT h.*, r.subject_id FROM handoffs h JOIN runs r ON r.number = h.run_number
      WHERE r.id = ? ORDER BY h.number`;
    return all(toHandoff, sql, runId);
  }

  function handoffRows(query: HandoffQuery): readonly HandoffRow[] {
    const [condition, ...values] = handoffCondition(query);
    const sql = `SELECT * FROM handoff_rows WHERE ${condition} ORDER BY id LIMIT ${HANDOFFS_AT_MOST}`;
    return all(toCarrying, sql, ...values);
  }

  return { handoffs, handoffRows };
}

function handoffCondition(query: HandoffQuery): readonly [string, ...SQLInputValue[]] {
  if ("subjectId" in query) {
    return ["run_number IN (SELECT number FROM runs WHERE subject_id = ?)", query.subjectId.toWellFormed()];
  }
  if ("id" in query) return ["id = ?", query.id];
  // The small index holds the pending ones. Asked for in order of id, SQLite would look at every handoff there ever was.
  const pending = (more: string) =>
    `id IN (SELECT id FROM handoffs INDEXED BY handoffs_pending
      WHERE state = 'pending' AND to_agent IS NOT NULL${more})`;
  return "pending" in query ? [pending("")] : [pending(" AND created_at < ?"), query.pendingSince];
}
