// Deletes a subject with all its runs: the one place that removes events. To be called inside a transaction. Of the
// runs only the numbers of their events stay, as gaps, and their cost per day: deleting does not give a day's budget
// back.

import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Deletion } from "../store.ts";
import { COMMIT_PLACES, LAST_HANDOFF } from "./schema-parts.ts";

/** In an order that no reference minds. */
const TABLES = ["spending", "parts", "events"] as const;
const DOOMED = "run_number IN (SELECT run_number FROM deleting)";
const DOOMED_COMMITS = `seq IN (SELECT seq FROM ${COMMIT_PLACES} WHERE ${DOOMED})`;

export function prepareDelete(db: DatabaseSync): (subjectId: string) => Deletion {
  const runsOf = db.prepare("SELECT number, id, status FROM runs WHERE subject_id = ? ORDER BY number");
  const isInUse = db.prepare("SELECT 1 FROM work WHERE run_id = ? AND command ->> '$.type' = 'release-workspace'");
  const mark = db.prepare("INSERT INTO deleting (run_number) VALUES (?)");
  const ticketsOf = db.prepare(`SELECT DISTINCT ticket FROM spending WHERE ${DOOMED}`);
  const noteGaps = db.prepare(`
    WITH ranges (first, last) AS (
      SELECT seq, seq FROM events WHERE ${DOOMED} UNION ALL
      SELECT seq - json_array_length(body) + 1, seq FROM commits WHERE ${DOOMED_COMMITS}
    ), begun AS (
      SELECT first, last, first IS NOT lag(last) OVER (ORDER BY first) + 1 AS begins FROM ranges
    ), islands AS (
      SELECT first, last, sum(begins) OVER (ORDER BY first) AS island FROM begun
    )
    INSERT INTO gaps (first_seq, last_seq) SELECT min(first), max(last) FROM islands GROUP BY island`);
  const forget = db.prepare(`
    INSERT INTO forgotten (day, usd, tokens)
    SELECT day, sum(booked_usd), sum(booked_tokens) FROM spending WHERE ${DOOMED} GROUP BY day
    ON CONFLICT (day) DO UPDATE SET usd = usd + excluded.usd, tokens = tokens + excluded.tokens`);
  const keepLastHandoff = db.prepare(`
    INSERT INTO handoff_ids (id) SELECT id FROM (SELECT ${LAST_HANDOFF} AS id) WHERE id > 0 ON CONFLICT DO NOTHING`);
  const loseHandoffs = db.prepare(`UPDATE handoff_ids SET run_number = NULL WHERE ${DOOMED}`);
  const removeCommits = db.prepare(`DELETE FROM commits WHERE ${DOOMED_COMMITS}`);
  const removals = TABLES.map((table) => db.prepare(`DELETE FROM ${table} WHERE ${DOOMED}`));
  const removeWork = db.prepare("DELETE FROM work WHERE run_id = ?");
  // Prepared at the first use: a reader may open a file of an earlier version, which has no such table.
  let removeChecks: StatementSync | undefined;
  const removeSum = db.prepare("DELETE FROM spent WHERE scope = ? AND key = ?");
  const sumTicket = db.prepare(`
    INSERT INTO spent (scope, key, usd, tokens)
    SELECT 'ticket', ticket, sum(booked_usd), sum(booked_tokens) FROM spending WHERE ticket = ? GROUP BY ticket`);
  const removeRuns = db.prepare("DELETE FROM runs WHERE number IN (SELECT run_number FROM deleting)");
  const unmark = db.prepare("DELETE FROM deleting");

  return (subjectId) => {
    const runs = runsOf.all(subjectId.toWellFormed()) as unknown as readonly RunKey[];
    const runIds = runs.map(({ id }) => id);
    const working = runs.filter(({ status }) => status !== "completed" && status !== "canceled");
    if (working.length > 0) return { type: "not_ended", runIds: working.map(({ id }) => id) };
    const used = runIds.filter((id) => isInUse.get(id) !== undefined);
    if (used.length > 0) return { type: "in_use", runIds: used };
    for (const { number } of runs) mark.run(number);
    const tickets = ticketsOf.all().map(({ ticket }) => String(ticket));
    noteGaps.run();
    forget.run();
    keepLastHandoff.run();
    loseHandoffs.run();
    removeCommits.run();
    for (const removal of removals) removal.run();
    for (const id of runIds) {
      removeWork.run(id);
      removeChecks ??= db.prepare("DELETE FROM checks WHERE run_id = ?");
      removeChecks.run(id);
      removeSum.run("run", id);
    }
    for (const ticket of tickets) {
      removeSum.run("ticket", ticket);
      sumTicket.run(ticket);
    }
    removeRuns.run();
    unmark.run();
    return { type: "deleted", runIds };
  };
}

type RunKey = { readonly number: number; readonly id: string; readonly status: string };
