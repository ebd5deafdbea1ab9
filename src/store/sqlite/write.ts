// Everything that writes, as functions to be called inside a transaction. Each decides first and writes then, so that a conflict
// or a duplicate leaves nothing behind and the other changes of the same transaction go through.

import type { DatabaseSync } from "node:sqlite";
import type { JsonObject } from "../../core/json.ts";
import type { Change, CommitResult } from "../store.ts";
import { CHAIN_START, eventHash } from "./chain.ts";
import { prepareProjections } from "./project.ts";
import { rowChanges } from "./projections.ts";
import { eventColumns, runColumns } from "./rows.ts";

export type Writes = ReturnType<typeof prepareWrites>;

export function prepareWrites(db: DatabaseSync) {
  const project = prepareProjections(db);
  const findSignal = db.prepare("SELECT 1 FROM signals WHERE run_id = ? AND signal_id = ?");
  const insertSignal = db.prepare("INSERT INTO signals (run_id, signal_id) VALUES (?, ?)");
  const findRun = db.prepare("SELECT version, head FROM runs WHERE id = ?");
  const insertRun = db.prepare(`
    INSERT INTO runs (id, flow, flow_hash, subject_id, subject_title, created_at, status, word, stage, version, head,
      updated_at, updated_seq, state)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const updateRun = db.prepare(`
    UPDATE runs SET status = ?, word = ?, stage = ?, version = ?, head = ?, updated_at = ?, updated_seq = ?, state = ?
    WHERE id = ?`);
  const findLastSeq = db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'events'");
  const insertEvent = db.prepare(`
    INSERT INTO events (seq, run_id, version, type, at, actor, body, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  const insertWork = db.prepare("INSERT INTO work (run_id, command) VALUES (?, ?)");
  const deleteWork = db.prepare("DELETE FROM work WHERE id = ?");
  const insertFlow = db.prepare("INSERT INTO flows (hash, body) VALUES (?, ?) ON CONFLICT DO NOTHING");
  const findFacts = db.prepare("SELECT facts FROM attempts WHERE run_id = ? AND stage = ? AND attempt = ?");
  const updateFacts = db.prepare("UPDATE attempts SET facts = ? WHERE run_id = ? AND stage = ? AND attempt = ?");

  function commit(change: Change): CommitResult {
    const { runId, expectedVersion, signalIds, events, run, enqueue } = change;
    for (const signalId of signalIds) {
      if (findSignal.get(runId, signalId) !== undefined) return { type: "duplicate" };
    }
    const stored = findRun.get(runId) as { version: number; head: string } | undefined;
    if ((stored?.version ?? 0) !== expectedVersion) return { type: "conflict" };

    const firstSeq = lastSeq() + 1;
    let head = stored?.head ?? CHAIN_START;
    const rows = events.map((event, index) => {
      const columns = eventColumns(event);
      const version = expectedVersion + 1 + index;
      head = eventHash(head, runId, version, columns);
      return { columns, version, hash: head };
    });
    const version = expectedVersion + rows.length;
    const seq = firstSeq + rows.length - 1;
    const updatedAt = rows.at(-1)?.columns.at ?? run.createdAt;

    // The run's row comes first: all others refer to it.
    const columns = runColumns(run);
    const { status, word, stage } = columns;
    const state = JSON.stringify(run);
    if (stored === undefined) {
      const { flow, flow_hash, subject_id, subject_title, created_at } = columns;
      // biome-ignore format: the order of the columns in the statement above.
      insertRun.run(
        runId, flow, flow_hash, subject_id, subject_title, created_at, status, word, stage, version, head, updatedAt, seq, state,
      );
    } else {
      updateRun.run(status, word, stage, version, head, updatedAt, seq, state, runId);
    }
    for (const row of rows) {
      const { type, at, actor, body } = row.columns;
      insertEvent.run(seq - version + row.version, runId, row.version, type, at, actor, body, row.hash);
    }
    for (const signalId of signalIds) insertSignal.run(runId, signalId);
    project(runId, rowChanges(events, firstSeq));
    for (const command of enqueue) insertWork.run(runId, JSON.stringify(command));
    return { type: "ok", seq, version };
  }

  function noteAttempt(runId: string, stage: string, attempt: number, facts: JsonObject): void {
    const stored = findFacts.get(runId, stage, attempt) as { facts: string } | undefined;
    if (stored === undefined) throw new Error(`run ${runId} has no attempt ${attempt} of stage ${stage}`);
    const merged = { ...(JSON.parse(stored.facts) as JsonObject), ...facts };
    updateFacts.run(JSON.stringify(merged), runId, stage, attempt);
  }

  function lastSeq(): number {
    return (findLastSeq.get() as { seq: number } | undefined)?.seq ?? 0;
  }

  return {
    commit,
    noteAttempt,
    settleWork: (id: number): void => void deleteWork.run(id),
    saveFlow: (hash: string, flow: JsonObject): void => void insertFlow.run(hash, JSON.stringify(flow)),
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
