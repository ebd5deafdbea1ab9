// Everything that only reads. Paging is by key, never by offset: page 10,000 costs what page 1 costs.

import type { ResolvedFlow } from "../../core/flow/agent.ts";
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { SpendingKey } from "../../core/budget/budget.ts";
import type { Run } from "../../core/run/run.ts";
import type { Usage } from "../../core/budget/usage.ts";
import type {
  AttemptRecord,
  HandoffQuery,
  HandoffRecord,
  HandoffRow,
  InboxRecord,
  RunFilter,
  RunSummary,
  SpendingRow,
  StoredEvent,
  StoredRun,
  SubjectFilter,
  SubjectRecord,
  WorkRecord,
} from "../store.ts";
import { prepareInsight } from "./insight.ts";
import {
  toAttempt,
  toCarrying,
  toHandoff,
  toInboxRecord,
  toRunSummary,
  toSpendingRow,
  toStoredEvent,
  toStoredRun,
  toSubjectRecord,
  toUsage,
  toWork,
} from "./rows.ts";

export type Reads = ReturnType<typeof prepareReads>;

const SUMMARY = "number, id, flow, subject_id, subject_title, status, word, stage, created_at, updated_at";
const RUN_NUMBER = "(SELECT number FROM runs WHERE id = ?)";
const FOUND_AT_MOST = 10;
const FLOWS_AT_MOST = 200;
const HANDOFFS_AT_MOST = 10_000;

const SPENT_BY: Readonly<Record<SpendingKey, string>> = {
  agent: "s.agent",
  stage: "s.stage",
  flow: "r.flow",
  day: "s.day",
  runner: "s.runner",
  model: "coalesce(s.told_model, s.model)",
  run: "s.run_id",
};

/** For sums over everything: SQLite would rather walk the index of times and look up every row. */
const SPENDING_ITSELF = "INDEXED BY sqlite_autoindex_spending_1";

export function prepareReads(db: DatabaseSync) {
  const prepared = new Map<string, StatementSync>();
  /** A flow does not change under its hash. */
  const flows = new Map<string, ResolvedFlow>();

  function statement(sql: string): StatementSync {
    const known = prepared.get(sql) ?? db.prepare(sql);
    prepared.set(sql, known);
    return known;
  }

  /** Which row a statement gives, the statement knows and not the compiler: each converter names its own. */
  function all<T>(toRecord: (row: never) => T, sql: string, ...values: SQLInputValue[]): readonly T[] {
    return statement(sql)
      .all(...values)
      .map((row) => toRecord(row as never));
  }

  function first<T>(toRecord: (row: never) => T, sql: string, ...values: SQLInputValue[]): T | undefined {
    const row = statement(sql).get(...values);
    return row === undefined ? undefined : toRecord(row as never);
  }

  function loadRun(runId: string): StoredRun | undefined {
    return first(toStoredRun, "SELECT state, version FROM runs WHERE id = ?", runId);
  }

  function loadFlow(hash: string): ResolvedFlow | undefined {
    const known = flows.get(hash);
    if (known !== undefined) return known;
    const toFlow = (row: { body: string }) => JSON.parse(row.body) as ResolvedFlow;
    const loaded = first(toFlow, "SELECT body FROM flows WHERE hash = ?", hash);
    if (loaded === undefined) return undefined;
    if (flows.size >= FLOWS_AT_MOST) flows.clear();
    flows.set(hash, loaded);
    return loaded;
  }

  function findRuns(prefix: string): readonly RunSummary[] {
    const found = new Map<string, RunSummary>();
    for (const run of [...runsByNumber(prefix), ...runsById(prefix)]) found.set(run.id, run);
    return [...found.values()].slice(0, FOUND_AT_MOST);
  }

  function runsById(prefix: string): readonly RunSummary[] {
    const sql = `SELECT ${SUMMARY} FROM runs WHERE id >= ? AND id < ? ORDER BY id LIMIT ${FOUND_AT_MOST}`;
    return all(toRunSummary, sql, prefix, `${prefix}\u{10ffff}`);
  }

  /** 12 means 12, 120 to 129, 1200 to 1299 …: a few ranges of the key instead of a look at every row. */
  function runsByNumber(prefix: string): readonly RunSummary[] {
    if (!/^[1-9][0-9]{0,9}$/.test(prefix)) return [];
    const sql = `SELECT ${SUMMARY} FROM runs WHERE number >= ? AND number < ? ORDER BY number LIMIT ${FOUND_AT_MOST}`;
    const highest = numberOf("SELECT max(number) AS value FROM runs");
    const found: RunSummary[] = [];
    for (let low = Number(prefix), width = 1; low <= highest && found.length < FOUND_AT_MOST; low *= 10, width *= 10) {
      found.push(...all(toRunSummary, sql, low, low + width));
    }
    return found;
  }

  /** A word that is asked for may be a canonical status too: both are looked up, each in its own index, and the newest of both count. */
  function listRuns({ word, ...filter }: RunFilter): readonly RunSummary[] {
    if (word === undefined) return runsWhere(filter);
    const isStatus = filter.status === undefined || filter.status === word;
    const byStatus = isStatus ? runsWhere({ ...filter, status: word }) : [];
    const byWord = runsWhere({ ...filter, word });
    if (byWord.length === 0) return byStatus;
    const found = new Map([...byStatus, ...byWord].map((run) => [run.number, run]));
    return [...found.values()].toSorted((a, b) => b.number - a.number).slice(0, filter.limit);
  }

  function runsWhere(filter: Omit<RunFilter, "status"> & { readonly status?: string }): readonly RunSummary[] {
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
    const sql = `SELECT ${SUMMARY} FROM runs ${by} WHERE ${conditions.join(" AND ")} ORDER BY number DESC LIMIT ?`;
    return all(toRunSummary, sql, ...values, filter.limit);
  }

  function listSubjects({ id, flow, open, before, limit }: SubjectFilter): readonly SubjectRecord[] {
    // The index by subject holds the runs of each in order of number: whether there is a newer one is a single look.
    const conditions = ["NOT EXISTS (SELECT 1 FROM runs n WHERE n.subject_id = r.subject_id AND n.number > r.number)"];
    const values: SQLInputValue[] = [];
    if (id !== undefined) {
      conditions.push("r.subject_id = ?");
      values.push(id);
    }
    if (flow !== undefined) {
      conditions.push("r.flow = ?");
      values.push(flow);
    }
    if (open !== undefined) conditions.push(`r.status ${open ? "NOT " : ""}IN ('completed', 'canceled')`);
    if (before !== undefined) {
      conditions.push("r.number < ?");
      values.push(before);
    }
    const spent = "FROM runs o JOIN spending s ON s.run_number = o.number WHERE o.subject_id = r.subject_id";
    const sql = `
      SELECT ${SUMMARY},
        (SELECT count(*) FROM runs o WHERE o.subject_id = r.subject_id) AS runs,
        (SELECT coalesce(sum(s.usd), 0) ${spent}) AS usd,
        (SELECT count(*) ${spent} AND s.usd IS NULL) AS unknown_usd
      FROM runs r WHERE ${conditions.join(" AND ")} ORDER BY r.number DESC LIMIT ?`;
    return all(toSubjectRecord, sql, ...values, limit);
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

  function runsOf(subjectId: string): readonly RunSummary[] {
    const sql = `SELECT ${SUMMARY} FROM runs WHERE subject_id = ? ORDER BY number DESC`;
    return all(toRunSummary, sql, subjectId.toWellFormed());
  }

  function hasSignal(runId: string, signalId: string): boolean {
    const sql = `SELECT 1 FROM signals WHERE run_number = ${RUN_NUMBER} AND signal_id = ?`;
    return statement(sql).get(runId, signalId) !== undefined;
  }

  function inbox(): readonly InboxRecord[] {
    const sql = `
      SELECT i.run_id, i.item, r.flow, r.subject_id, r.subject_title FROM inbox i JOIN runs r ON r.number = i.run_number
      ORDER BY i.opened_at, r.number, i.number`;
    return all(toInboxRecord, sql);
  }

  function pendingWork(): readonly WorkRecord[] {
    return all(toWork, "SELECT * FROM work ORDER BY id");
  }

  function spending(query: {
    readonly by: SpendingKey;
    readonly since?: string;
    readonly runId?: string;
  }): readonly SpendingRow[] {
    const conditions = ["true"];
    const values: SQLInputValue[] = [];
    if (query.since !== undefined) {
      conditions.push("s.started_at >= ?");
      values.push(query.since);
    }
    if (query.runId !== undefined) {
      conditions.push(`s.run_number = ${RUN_NUMBER}`);
      values.push(query.runId);
    }
    const sql = `
      SELECT ${SPENT_BY[query.by]} AS key, count(*) AS attempts,
        coalesce(sum(s.usd), 0) AS usd, sum(s.usd IS NULL) AS unknown_usd,
        coalesce(sum(s.booked_usd) FILTER (WHERE s.usd IS NULL), 0) AS assumed_usd,
        coalesce(sum(s.input_tokens), 0) AS input_tokens, coalesce(sum(s.output_tokens), 0) AS output_tokens,
        coalesce(sum(s.cached_tokens), 0) AS cached_tokens,
        sum(s.input_tokens IS NULL AND s.output_tokens IS NULL) AS unknown_tokens,
        coalesce(sum(s.booked_tokens) FILTER (WHERE s.input_tokens IS NULL AND s.output_tokens IS NULL), 0) AS assumed_tokens,
        coalesce(sum(CAST(round((julianday(a.ended_at) - julianday(a.started_at)) * 86400000) AS INTEGER)), 0) AS duration_ms
      FROM spending s ${query.since === undefined ? SPENDING_ITSELF : ""}
      ${query.by === "flow" ? "JOIN runs r ON r.number = s.run_number" : ""}
      LEFT JOIN attempts a ON a.run_number = s.run_number AND a.stage = s.stage AND a.attempt = s.attempt
      WHERE ${conditions.join(" AND ")}
      GROUP BY 1 ORDER BY sum(s.booked_usd) DESC, sum(s.booked_tokens) DESC, 1`;
    return all(toSpendingRow, sql, ...values);
  }

  function usageHistory(query: {
    readonly agent: string;
    readonly runner: string;
    readonly model: string | null;
    readonly limit: number;
  }): readonly Usage[] {
    const sql = `
      SELECT usd, input_tokens, output_tokens, cached_tokens FROM spending
      WHERE agent = ? AND runner = ? AND model IS ? AND settled_seq IS NOT NULL AND (booked_usd > 0 OR booked_tokens > 0)
      ORDER BY settled_seq DESC LIMIT ?`;
    return all(toUsage, sql, query.agent, query.runner, query.model, query.limit);
  }

  function numberOf(sql: string): number {
    return first((row: { value: number | null }) => row.value, sql) ?? 0;
  }

  return {
    loadRun,
    loadFlow,
    findRuns,
    listRuns,
    listSubjects,
    countRuns,
    activeRuns,
    events,
    // Not the highest that is there: numbers of events that were deleted are not given again.
    lastSeq: () => numberOf("SELECT seq AS value FROM sqlite_sequence WHERE name = 'events'"),
    attempts,
    handoffs,
    handoffRows,
    runsOf,
    hasSignal,
    inbox,
    pendingWork,
    spending,
    usageHistory,
    ...prepareInsight(db),
    /** Changes when another connection has written; our own commits leave it. */
    dataVersion: () => first((row: { data_version: number }) => row.data_version, "PRAGMA data_version") ?? 0,
  };
}

function handoffCondition(query: HandoffQuery): readonly [string, ...SQLInputValue[]] {
  if ("subjectId" in query) {
    return ["run_number IN (SELECT number FROM runs WHERE subject_id = ?)", query.subjectId.toWellFormed()];
  }
  if ("id" in query) return ["id = ?", query.id];
  // By the small index of those that are pending; asked for in order of id, SQLite would rather look at every handoff there ever was.
  const pending = (more: string) =>
    `id IN (SELECT id FROM handoffs INDEXED BY handoffs_pending
      WHERE state = 'pending' AND to_agent IS NOT NULL${more})`;
  return "pending" in query ? [pending("")] : [pending(" AND created_at < ?"), query.pendingSince];
}
