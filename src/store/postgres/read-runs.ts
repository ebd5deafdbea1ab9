// Finds, lists and counts runs and subjects.

import type { Run } from "../../core/run/run.ts";
import { RUN_SUMMARY, toRunSummary, toStoredRun, toSubjectRecord } from "../rows.ts";
import type { RunFilter, RunSummary, StoredRun, SubjectFilter, SubjectRecord } from "../store.ts";
import type { createHeads } from "./heads.ts";
import { createConditions, type DatabaseQueries } from "./queries.ts";
import { plainText } from "./text.ts";

const FOUND_AT_MOST = 10;

export function readRuns({ all, first }: DatabaseQueries, heads: ReturnType<typeof createHeads>) {
  async function loadRun(runId: string): Promise<StoredRun | undefined> {
    const row = await first(
      (found: { state: string; version: number; head: string }) => found,
      "SELECT state, version, head FROM passrail.runs WHERE id = $1",
      plainText(runId),
    );
    if (row === undefined) return undefined;
    heads.know(runId, row.version, row.head);
    return toStoredRun(row);
  }

  /** 12 means 12, 120 to 129, 1200 to 1299 …: a few ranges of the key instead of a look at every row. */
  async function findRuns(prefix: string): Promise<readonly RunSummary[]> {
    const found = new Map<string, RunSummary>();
    if (/^[1-9][0-9]{0,9}$/.test(prefix)) {
      const ranges = Array.from({ length: 10 }, (_, zeros) => Number(prefix) * 10 ** zeros);
      const sql = `
        SELECT ${RUN_SUMMARY} FROM unnest($1::bigint[], $2::bigint[]) AS range (low, high)
        JOIN passrail.runs ON number >= low AND number < high ORDER BY number LIMIT ${FOUND_AT_MOST}`;
      const highs = ranges.map((low, zeros) => low + 10 ** zeros);
      for (const run of await all(toRunSummary, sql, ranges, highs)) found.set(run.id, run);
    }
    const byId = `SELECT ${RUN_SUMMARY} FROM passrail.runs WHERE id >= $1 AND id < $2 ORDER BY id LIMIT ${FOUND_AT_MOST}`;
    const clean = plainText(prefix);
    for (const run of await all(toRunSummary, byId, clean, `${clean}\u{10ffff}`)) found.set(run.id, run);
    return [...found.values()].slice(0, FOUND_AT_MOST);
  }

  /** A word that a caller asks for may be a canonical status too. */
  async function listRuns(asked: RunFilter): Promise<readonly RunSummary[]> {
    const filter = createConditions();
    const { status, flow, subject, word, text, before } = asked;
    if (status !== undefined) filter.require("status = ?", status);
    if (flow !== undefined) filter.require("flow = ?", plainText(flow));
    if (subject !== undefined) filter.require("subject_id = ?", plainText(subject));
    if (word !== undefined) filter.require("(word = ? OR status = ?)", plainText(word));
    if (text !== undefined) {
      const like = `%${plainText(asciiLower(text)).replaceAll(/[\\%_]/g, (sign) => `\\${sign}`)}%`;
      filter.require(`(${asciiLowered("subject_title")} LIKE ? OR ${asciiLowered("subject_id")} LIKE ?)`, like);
    }
    if (before !== undefined) filter.require("number < ?", before);
    const limit = filter.next(asked.limit);
    const sql = `SELECT ${RUN_SUMMARY} FROM passrail.runs WHERE ${filter.where} ORDER BY number DESC LIMIT ${limit}`;
    return all(toRunSummary, sql, ...filter.values);
  }

  function runsOf(subjectId: string): Promise<readonly RunSummary[]> {
    const sql = `SELECT ${RUN_SUMMARY} FROM passrail.runs WHERE subject_id = $1 ORDER BY number DESC`;
    return all(toRunSummary, sql, plainText(subjectId));
  }

  async function countRuns(): Promise<Readonly<Record<Run["status"], number>>> {
    const counts = { running: 0, waiting: 0, stopped: 0, completed: 0, canceled: 0 };
    const toCount = (row: { status: Run["status"]; count: number }) => row;
    const rows = await all(toCount, "SELECT status, count(*) AS count FROM passrail.runs GROUP BY status");
    for (const { status, count } of rows) counts[status] = count;
    return counts;
  }

  function activeRuns(): Promise<readonly string[]> {
    const sql = "SELECT id FROM passrail.runs WHERE status = 'running' ORDER BY updated_seq";
    return all((row: { id: string }) => row.id, sql);
  }

  return { loadRun, findRuns, listRuns, runsOf, countRuns, activeRuns, ...readSubjects({ all }) };
}

function readSubjects({ all }: Pick<DatabaseQueries, "all">) {
  async function listSubjects({ id, flow, open, before, limit }: SubjectFilter): Promise<readonly SubjectRecord[]> {
    const filter = createConditions();
    filter.require(
      "NOT EXISTS (SELECT 1 FROM passrail.runs n WHERE n.subject_id = r.subject_id AND n.number > r.number)",
    );
    if (id !== undefined) filter.require("r.subject_id = ?", plainText(id));
    if (flow !== undefined) filter.require("r.flow = ?", plainText(flow));
    if (open !== undefined) filter.require(`r.status ${open ? "NOT " : ""}IN ('completed', 'canceled')`);
    if (before !== undefined) filter.require("r.number < ?", before);
    const spent =
      "FROM passrail.runs o JOIN passrail.spending s ON s.run_number = o.number WHERE o.subject_id = r.subject_id";
    const last = filter.next(limit);
    const sql = `
      SELECT ${RUN_SUMMARY},
        (SELECT count(*) FROM passrail.runs o WHERE o.subject_id = r.subject_id) AS runs,
        (SELECT coalesce(sum(s.usd), 0) ${spent}) AS usd,
        (SELECT count(*) ${spent} AND s.usd IS NULL) AS unknown_usd
      FROM passrail.runs r WHERE ${filter.where} ORDER BY r.number DESC LIMIT ${last}`;
    return all(toSubjectRecord, sql, ...filter.values);
  }

  return { listSubjects };
}

const UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

function asciiLower(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Whatever the locale: only ASCII has upper and lower case here, as in SQLite. */
function asciiLowered(column: string): string {
  return `translate(${column}, '${UPPER}', '${UPPER.toLowerCase()}')`;
}
