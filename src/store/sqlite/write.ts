// Everything that writes, as functions to be called inside a transaction. A conflict or a duplicate leaves nothing behind, so that
// the other changes of the same transaction go through. This is the hot path of the program: few statements, many rows in each.

import type { ResolvedFlow } from "../../core/flow/agent.ts";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { BudgetUse } from "../../core/budget/budget.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Change, CommitResult, Deletion } from "../store.ts";
import { CHAIN_START, eventHash } from "./chain.ts";
import { prepareDelete } from "./delete.ts";
import { prepareProjections } from "./project.ts";
import { type RowChange, rowChanges } from "./projections.ts";
import { prepareRoom } from "./room.ts";
import { eventColumns, runColumns } from "./rows.ts";

export type Writes = ReturnType<typeof prepareWrites>;

type Head = { readonly number: number; readonly version: number; readonly head: string };

const EVENT_VALUES = 5;
const ROWS_AT_MOST = 32;
const HEADS_AT_MOST = 10_000;

export function prepareWrites(db: DatabaseSync) {
  const project = prepareProjections(db);
  const room = prepareRoom(db);
  const savepoint = db.prepare("SAVEPOINT reserving");
  const rollback = db.prepare("ROLLBACK TO reserving");
  const release = db.prepare("RELEASE reserving");
  const findSignal = db.prepare("SELECT 1 FROM signals WHERE run_number = ? AND signal_id = ?");
  const insertSignals = byRows(
    db,
    (rows) => `INSERT INTO signals (run_number, signal_id) VALUES ${repeat(rows, () => "(?1, ?)")}`,
  );
  const deleteSignal = db.prepare("DELETE FROM signals WHERE run_number = ? AND signal_id = ?");
  const findRun = db.prepare("SELECT number, version, head FROM runs WHERE id = ?");
  const insertRun = db.prepare(`
    INSERT INTO runs (id, flow, flow_hash, subject_id, subject_title, created_at, status, word, stage, version, head,
      updated_at, updated_seq, state)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const updateRun = db.prepare(`
    UPDATE runs SET status = ?, word = ?, stage = ?, version = ?, head = ?, updated_at = ?, updated_seq = ?, state = ?
    WHERE number = ? AND version = ?`);
  const updateTitle = db.prepare("UPDATE runs SET subject_title = ? WHERE number = ?");
  const findLastSeq = db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'events'");
  const insertEvents = byRows(
    db,
    (rows) => `
    INSERT INTO events (run_number, run_id, seq, version, type, at, actor, body, hash)
    VALUES ${repeat(rows, (row) => `(?1, ?2, ?3 + ${row}, ?4 + ${row}, ?, ?, ?, ?, ?)`)}`,
  );
  const insertWork = db.prepare("INSERT INTO work (run_id, command) VALUES (?, ?)");
  const deleteWork = db.prepare("DELETE FROM work WHERE id = ?");
  const insertFlow = db.prepare("INSERT INTO flows (hash, body) VALUES (?, ?) ON CONFLICT DO NOTHING");
  const findFacts = db.prepare("SELECT facts FROM attempts WHERE run_number = ? AND stage = ? AND attempt = ?");
  const updateFacts = db.prepare("UPDATE attempts SET facts = ? WHERE run_number = ? AND stage = ? AND attempt = ?");

  /** The heads of runs that were written here lately. A version never changes, so the head of a version does not either. */
  const heads = new Map<string, Head>();
  let lastSeq: number | undefined;

  function commit(change: Change): CommitResult {
    const { runId, expectedVersion, signalIds, events, run, enqueue } = change;
    const known = heads.get(runId);
    const before = known?.version === expectedVersion ? known : storedHead(runId);
    if ((before?.version ?? 0) !== expectedVersion) {
      return { type: before !== undefined && isRepeated(before.number, signalIds) ? "duplicate" : "conflict" };
    }
    const reservations = change.reserve ?? [];
    if (reservations.length > 0) savepoint.run();
    // A run that exists takes its signals first: one that was there already is noticed by the same statement.
    if (before !== undefined && !takeSignals(before.number, signalIds)) {
      if (reservations.length > 0) release.run();
      return { type: "duplicate" };
    }

    lastSeq ??= storedLastSeq();
    const firstSeq = lastSeq + 1;
    const seq = lastSeq + events.length;
    const version = expectedVersion + events.length;
    let head = before?.head ?? CHAIN_START;
    const values: string[] = [];
    for (const [index, event] of events.entries()) {
      const columns = eventColumns(event);
      head = eventHash(head, runId, expectedVersion + 1 + index, columns);
      values.push(columns.type, columns.at, columns.actor, columns.body, head);
    }

    // The run's row comes before the events: they refer to it.
    const updatedAt = events.at(-1)?.at ?? run.createdAt;
    const { flow, flow_hash, subject_id, subject_title, created_at, status, word, stage } = runColumns(run);
    const state = JSON.stringify(run);
    let number: number;
    if (before === undefined) {
      // biome-ignore format: the order of the columns in the statement above.
      const inserted = insertRun.run(
        runId, flow, flow_hash, subject_id, subject_title, created_at, status, word, stage, version, head, updatedAt, seq, state,
      );
      number = Number(inserted.lastInsertRowid);
      if (signalIds.length > 0) insertSignals(signalIds.length).run(number, ...signalIds);
    } else {
      number = before.number;
      const updated = updateRun.run(status, word, stage, version, head, updatedAt, seq, state, number, expectedVersion);
      if (updated.changes === 0) {
        // Another process was faster than what we remembered.
        for (const signalId of signalIds) deleteSignal.run(number, signalId);
        if (reservations.length > 0) release.run();
        heads.delete(runId);
        return { type: "conflict" };
      }
    }
    if (before !== undefined && events.some(({ type }) => type === "ticket.edited"))
      updateTitle.run(subject_title, number);
    for (let first = 0; first < events.length; first += ROWS_AT_MOST) {
      const rows = Math.min(events.length - first, ROWS_AT_MOST);
      const own = values.slice(first * EVENT_VALUES, (first + rows) * EVENT_VALUES);
      insertEvents(rows).run(number, runId, firstSeq + first, expectedVersion + 1 + first, ...own);
    }
    const changes = rowChanges(events, firstSeq);
    let near: readonly BudgetUse[] = [];
    if (reservations.length === 0) project({ id: runId, number }, changes);
    else {
      // What the same change settles makes room before it is asked for more.
      const isReserving = ({ type }: RowChange) => type === "reserve";
      project(
        { id: runId, number },
        changes.filter((each) => !isReserving(each)),
      );
      const found = room(reservations);
      if (found.type === "over_budget") {
        undo();
        return found;
      }
      near = found.near;
      project({ id: runId, number }, changes.filter(isReserving));
      release.run();
    }
    for (const command of enqueue) insertWork.run(runId, JSON.stringify(command));
    lastSeq = seq;
    if (heads.size >= HEADS_AT_MOST) heads.clear();
    heads.set(runId, { number, version, head });
    return near.length === 0 ? { type: "ok", seq, version } : { type: "ok", seq, version, near };
  }

  function undo(): void {
    rollback.run();
    release.run();
  }

  function storedHead(runId: string): Head | undefined {
    return findRun.get(runId) as Head | undefined;
  }

  function isRepeated(number: number, signalIds: readonly string[]): boolean {
    return signalIds.some((signalId) => findSignal.get(number, signalId) !== undefined);
  }

  /** False, and nothing taken, when one of them was there already. A failed statement leaves nothing of itself behind. */
  function takeSignals(number: number, signalIds: readonly string[]): boolean {
    if (signalIds.length === 0) return true;
    try {
      insertSignals(signalIds.length).run(number, ...signalIds);
      return true;
    } catch (error) {
      if (isRepeated(number, signalIds)) return false;
      throw error;
    }
  }

  function storedLastSeq(): number {
    return (findLastSeq.get() as { seq: number } | undefined)?.seq ?? 0;
  }

  function noteAttempt(runId: string, stage: string, attempt: number, facts: JsonObject): void {
    const number = (heads.get(runId) ?? storedHead(runId))?.number ?? 0;
    const stored = findFacts.get(number, stage, attempt) as { facts: string } | undefined;
    if (stored === undefined) throw new Error(`run ${runId} has no attempt ${attempt} of stage ${stage}`);
    const merged = { ...(JSON.parse(stored.facts) as JsonObject), ...facts };
    updateFacts.run(JSON.stringify(merged), number, stage, attempt);
  }

  const deleteRuns = prepareDelete(db);

  function deleteSubject(subjectId: string): Deletion {
    const deletion = deleteRuns(subjectId);
    if (deletion.type === "deleted") for (const runId of deletion.runIds) heads.delete(runId);
    return deletion;
  }

  return {
    /** At the start of each transaction: another process may have written since the last one. */
    begun: (): void => {
      lastSeq = undefined;
    },
    /** What was remembered of a transaction that did not happen is not true. */
    rolledBack: (): void => {
      lastSeq = undefined;
      heads.clear();
    },
    commit,
    noteAttempt,
    deleteSubject,
    settleWork: (id: number): void => void deleteWork.run(id),
    saveFlow: (resolved: ResolvedFlow): void => void insertFlow.run(resolved.hash, JSON.stringify(resolved)),
  };
}

/** A change that breaks the port's own rules is a bug of the caller and must not reach the database. */
export function requireWellFormed(change: Change): void {
  const { runId, run, events, signalIds } = change;
  if (events.length === 0) throw new Error(`a change of run ${runId} has no events`);
  if (run.id !== runId) throw new Error(`a change of run ${runId} carries run ${run.id}`);
  if (runId !== runId.toWellFormed()) throw new Error("a run's id must be well-formed text");
  if (new Set(signalIds).size !== signalIds.length) throw new Error(`a change of run ${runId} repeats a signal id`);
}

/** A statement that writes so many rows at once, prepared when it is first needed. */
function byRows(db: DatabaseSync, sql: (rows: number) => string): (rows: number) => StatementSync {
  const prepared: StatementSync[] = [];
  return (rows) => {
    const statement = prepared[rows] ?? db.prepare(sql(rows));
    prepared[rows] = statement;
    return statement;
  };
}

function repeat(rows: number, row: (index: number) => string): string {
  return Array.from({ length: rows }, (_, index) => row(index)).join(", ");
}
