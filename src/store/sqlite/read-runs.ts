// Finds, lists and counts runs.

import type { SQLInputValue } from "node:sqlite";
import type { Run } from "../../core/run/run.ts";
import type { RunFilter, RunSummary, StoredRun } from "../store.ts";
import type { Queries } from "./queries.ts";
import { RUN_SUMMARY, toRunSummary, toStoredRun } from "../rows.ts";

const FOUND_AT_MOST = 10;

export function readRuns({ all, first, numberOf }: Queries) {
  function loadRun(runId: string): StoredRun | undefined {
    return first(toStoredRun, "SELECT state, version FROM runs WHERE id = ?", runId);
  }

  function findRuns(prefix: string): readonly RunSummary[] {
    const found = new Map<string, RunSummary>();
    for (const run of [...runsByNumber(prefix), ...runsById(prefix)]) found.set(run.id, run);
    return [...found.values()].slice(0, FOUND_AT_MOST);
  }

  function runsById(prefix: string): readonly RunSummary[] {
    const sql = `SELECT ${RUN_SUMMARY} FROM runs WHERE id >= ? AND id < ? ORDER BY id LIMIT ${FOUND_AT_MOST}`;
    return all(toRunSummary, sql, prefix, `${prefix}\u{10ffff}`);
  }

  /** 12 means 12, 120 to 129, 1200 to 1299 …: a few ranges of the key instead of a look at every row. */
  function runsByNumber(prefix: string): readonly RunSummary[] {
    if (!/^[1-9][0-9]{0,9}$/.test(prefix)) return [];
    const sql = `SELECT ${RUN_SUMMARY} FROM runs WHERE number >= ? AND number < ? ORDER BY number LIMIT ${FOUND_AT_MOST}`;
    const highest = numberOf("SELECT max(number) AS value FROM runs");
    const found: RunSummary[] = [];
    for (let low = Number(prefix), width = 1; low <= highest && found.length < FOUND_AT_MOST; low *= 10, width *= 10) {
      found.push(...all(toRunSummary, sql, low, low + width));
    }
    return found;
  }

  /** A word that a caller asks for may be a canonical status too: both are looked up, each in its own index, and the newest of both count. */
  function listRuns({ word, ...filter }: RunFilter): readonly RunSummary[] {
    if (word === undefined) return runsWhere(filter);
    const isStatus = filter.status === undefined || filter.status === word;
    const byStatus = isStatus ? runsWhere({ ...filter, status: word }) : [];
    const byWord = runsWhere({ ...filter, word });
    if (byWord.length === 0) return byStatus;
    const found = new Map([...byStatus, ...byWord].map((run) => [run.number, run]));
    return [...found.values()].toSorted((a, b) => b.number - a.number).slice(0, filter.limit);
  }

  function runsWhere(filter: RunConditions): readonly RunSummary[] {
    const { sql, values } = selectRuns(filter);
    return all(toRunSummary, sql, ...values, filter.limit);
  }

  function runsOf(subjectId: string): readonly RunSummary[] {
    const sql = `SELECT ${RUN_SUMMARY} FROM runs WHERE subject_id = ? ORDER BY number DESC`;
    return all(toRunSummary, sql, subjectId.toWellFormed());
  }

  function countRuns(): Readonly<Record<Run["status"], number>> {
    const counts = { running: 0, waiting: 0, stopped: 0, completed: 0, canceled: 0 };
    const toCount = (row: { status: Run["status"]; count: number }) => row;
    for (const { status, count } of all(toCount, "SELECT status, count(*) AS count FROM runs GROUP BY status")) {
      counts[status] = count;
    }
    return counts;
  }

  function activeRuns(): readonly string[] {
    const sql = "SELECT id FROM runs WHERE status = 'running' ORDER BY updated_seq";
    return all((row: { id: string }) => row.id, sql);
  }

  return { loadRun, findRuns, listRuns, runsOf, countRuns, activeRuns };
}

type RunConditions = Omit<RunFilter, "status"> & { readonly status?: string };

function selectRuns(filter: RunConditions): { readonly sql: string; readonly values: readonly SQLInputValue[] } {
  const conditions = ["true"];
  const values: SQLInputValue[] = [];
  const require = (condition: string, ...given: SQLInputValue[]) => {
    conditions.push(condition);
    values.push(...given);
  };
  if (filter.status !== undefined) require("status = ?", filter.status);
  if (filter.flow !== undefined) require("flow = ?", filter.flow);
  if (filter.subject !== undefined) require("subject_id = ?", filter.subject);
  if (filter.word !== undefined) require("word = ?", filter.word);
  if (filter.text !== undefined) {
    const like = `%${filter.text.replaceAll(/[\\%_]/g, (sign) => `\\${sign}`)}%`;
    require("(subject_title LIKE ? ESCAPE '\\' OR subject_id LIKE ? ESCAPE '\\')", like, like);
  }
  if (filter.before !== undefined) require("number < ?", filter.before);
  // Left to itself SQLite may take the index of the flow, which most runs have in common.
  const index = filter.word !== undefined ? "runs_by_word" : filter.status !== undefined ? "runs_by_status" : "";
  const by = index === "" || filter.subject !== undefined ? "" : `INDEXED BY ${index}`;
  const sql = `SELECT ${RUN_SUMMARY} FROM runs ${by} WHERE ${conditions.join(" AND ")} ORDER BY number DESC LIMIT ?`;
  return { sql, values };
}
