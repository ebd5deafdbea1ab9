// Finds, lists and counts runs.

import type { SQLInputValue } from "node:sqlite";
import type { Run } from "../../core/run/run.ts";
import type { RunFilter, RunSummary, StoredRun } from "../store.ts";
import type { Queries } from "./queries.ts";
import { RUN_SUMMARY, toRunSummary, toStoredRun } from "../rows.ts";
import { OPEN_RUNS_SINCE } from "./migrations.ts";

const FOUND_AT_MOST = 10;

/** In these words the indexes of version 12 are defined, and only a query that says the same may use them. */
const OPEN = "status NOT IN ('completed', 'canceled')";
const ENDED = "status IN ('completed', 'canceled')";

export function readRuns({ all, first, numberOf, schema }: Queries) {
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

  /** Open runs and ended runs are in different indexes; the newest of both count. */
  function runsWhere(filter: RunConditions): readonly RunSummary[] {
    const parts = schema() < OPEN_RUNS_SINCE ? [partBefore12(filter)] : partsOf(filter);
    const found = parts.flatMap((part) => {
      const { sql, values } = selectRuns(filter, part);
      return all(toRunSummary, sql, ...values, filter.limit);
    });
    return parts.length === 1 ? found : found.toSorted((a, b) => b.number - a.number).slice(0, filter.limit);
  }

  function runsOf(subjectId: string): readonly RunSummary[] {
    const sql = `SELECT ${RUN_SUMMARY} FROM runs WHERE subject_id = ? ORDER BY number DESC`;
    return all(toRunSummary, sql, subjectId.toWellFormed());
  }

  function countRuns(): Readonly<Record<Run["status"], number>> {
    const counts = { running: 0, waiting: 0, stopped: 0, completed: 0, canceled: 0 };
    const toCount = (row: { status: Run["status"]; count: number }) => row;
    const count = (from: string) => `SELECT status, count(*) AS count FROM ${from} GROUP BY status`;
    const sql =
      schema() < OPEN_RUNS_SINCE
        ? count("runs")
        : `${count(`runs INDEXED BY runs_open WHERE ${OPEN}`)} UNION ALL
           ${count(`runs INDEXED BY runs_ended_by_status WHERE ${ENDED}`)}`;
    for (const { status, count: counted } of all(toCount, sql)) counts[status] = counted;
    return counts;
  }

  function activeRuns(): readonly string[] {
    const open = schema() < OPEN_RUNS_SINCE ? "WHERE" : `INDEXED BY runs_open WHERE ${OPEN} AND`;
    const sql = `SELECT id FROM runs ${open} status = 'running' ORDER BY updated_seq`;
    return all((row: { id: string }) => row.id, sql);
  }

  return { loadRun, findRuns, listRuns, runsOf, countRuns, activeRuns };
}

type RunConditions = Omit<RunFilter, "status"> & { readonly status?: string };

/** An index to look in, where one is better than the others, and the condition that it needs. */
type Part = { readonly index: string; readonly condition: string; readonly titles: boolean };

function partsOf({ status, word, subject }: RunConditions): readonly Part[] {
  if (subject !== undefined || (status === undefined && word === undefined))
    return [{ index: "", condition: "true", titles: true }];
  const open: Part = { index: "runs_open", condition: OPEN, titles: true };
  const byWord: Part = { index: "runs_ended_by_word", condition: ENDED, titles: true };
  if (status === undefined) return [open, byWord];
  const isEnded = status === "completed" || status === "canceled";
  if (!isEnded) return [open];
  return [word === undefined ? { ...byWord, index: "runs_ended_by_status" } : byWord];
}

/** For a reader of a file that was not upgraded. Left to itself SQLite may take the index of the flow, which most runs have in common. */
function partBefore12({ status, word, subject }: RunConditions): Part {
  const index = word !== undefined ? "runs_by_word" : status !== undefined ? "runs_by_status" : "";
  return { index: subject === undefined ? index : "", condition: "true", titles: false };
}

function selectRuns(
  filter: RunConditions,
  { index, condition: first, titles }: Part,
): { readonly sql: string; readonly values: readonly SQLInputValue[] } {
  const conditions = [first];
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
    const found = "(subject_title LIKE ? ESCAPE '\\' OR subject_id LIKE ? ESCAPE '\\')";
    // The index holds the titles alone; the table also holds the whole state of each run.
    require(titles ? `number IN (SELECT number FROM runs INDEXED BY runs_by_title WHERE ${found})` : found, like, like);
  }
  if (filter.before !== undefined) require("number < ?", filter.before);
  const by = index === "" ? "" : `INDEXED BY ${index}`;
  const sql = `SELECT ${RUN_SUMMARY} FROM runs ${by} WHERE ${conditions.join(" AND ")} ORDER BY number DESC LIMIT ?`;
  return { sql, values };
}
