// Commits one change of a run, inside a transaction. A conflict or a duplicate leaves nothing behind, so that the other changes of the
// same transaction go through.

import type { DatabaseSync } from "node:sqlite";
import type { Reservation } from "../../core/budget/budget.ts";
import type { Change, CommitResult } from "../store.ts";
import { CHAIN_START, commitHash } from "../chain.ts";
import type { Heads, RunHead } from "./heads.ts";
import { prepareProjections } from "./project.ts";
import { type RowChange, rowChanges } from "../projections.ts";
import { prepareRoom, type Room } from "./room.ts";
import { eventColumns, runColumns } from "../rows.ts";
import type { CommitRow, prepareShapes } from "./shapes.ts";
import { prepareSignals } from "./signals.ts";

const EVENTS_PER_ROW = 100;
const NOTHING_RESERVED: ReturnType<Room> = { type: "room", near: [] };

type Shapes = ReturnType<typeof prepareShapes>;

export function prepareCommit(db: DatabaseSync, heads: Heads, shapes: Shapes): (change: Change) => CommitResult {
  const signals = prepareSignals(db);
  const reserving = prepareSavepoint(db);
  const saveRun = prepareRunRow(db);
  const insertCommit = db.prepare(
    "INSERT INTO commits (seq, run_number, version, at, actor, body, hash, last_handoff) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const insertPlace = db.prepare(
    "INSERT INTO parts (run_number, kind, name, number, ready_seq) VALUES (?, 'c', '', ?, ?)",
  );
  const saveProjections = prepareReserving(db);
  const insertWork = db.prepare("INSERT INTO work (run_id, command) VALUES (?, ?)");

  return (change) => {
    const { runId, expectedVersion, signalIds, events } = change;
    const before = heads.of(runId, expectedVersion);
    if ((before?.version ?? 0) !== expectedVersion) {
      return { type: before !== undefined && signals.isRepeated(before.number, signalIds) ? "duplicate" : "conflict" };
    }
    // Before the part that can be undone separately: a shape noted here stays.
    const rows = rowsOf(change, before?.head, shapes);
    const head = rows.at(-1)?.hash ?? CHAIN_START;
    const reservations = change.reserve ?? [];
    const isReserving = reservations.length > 0;
    if (isReserving) reserving.begin();
    // A run that exists takes its signals first: the same statement notices one that was there already.
    if (before !== undefined && !signals.take(before.number, signalIds)) {
      if (isReserving) reserving.keep();
      return { type: "duplicate" };
    }

    const firstSeq = heads.lastSeq() + 1;
    const seq = firstSeq + events.length - 1;
    const { changes, lastHandoff } = withHandoffIds(rowChanges(events, firstSeq), heads.lastHandoff());
    const version = expectedVersion + events.length;
    // The run's row comes before the events: they refer to it.
    const number = saveRun(change, before, head, seq);
    if (number === undefined) {
      // Another process was faster than what we remembered.
      if (before !== undefined) signals.giveBack(before.number, signalIds);
      if (isReserving) reserving.keep();
      heads.forget(runId);
      return { type: "conflict" };
    }
    if (before === undefined) signals.take(number, signalIds);
    for (const { at, actor, body, hash, rest } of rows) {
      insertCommit.run(seq - rest, number, version - rest, at, actor, body, hash, lastHandoff);
      insertPlace.run(number, version - rest, seq - rest);
    }
    const room = saveProjections({ id: runId, number }, changes, reservations);
    if (room.type === "over_budget") {
      reserving.undo();
      return room;
    }
    if (isReserving) reserving.keep();
    for (const command of change.enqueue) insertWork.run(runId, JSON.stringify(command));
    heads.moved(runId, { number, version, head, status: change.run.status }, { seq, lastHandoff });
    return room.near.length === 0 ? { type: "ok", seq, version } : { type: "ok", seq, version, near: room.near };
  };
}

/** Handoffs are numbered over the whole store. */
function withHandoffIds(
  changes: readonly RowChange[],
  last: number,
): { readonly changes: readonly RowChange[]; readonly lastHandoff: number } {
  let lastHandoff = last;
  const numbered = changes.map((change): RowChange => {
    if (change.type !== "open-handoff") return change;
    lastHandoff += 1;
    return { ...change, id: lastHandoff };
  });
  return { changes: numbered, lastHandoff };
}

type NewRow = CommitRow & {
  readonly hash: string;
  /** How many events of the commit are in later rows. */
  readonly rest: number;
};

/** One row; more only for a run that comes with its whole history, because who wants one event opens its row. */
function rowsOf(
  { runId, expectedVersion, events }: Change,
  previous: string = CHAIN_START,
  shapes: Shapes,
): readonly NewRow[] {
  const rows: NewRow[] = [];
  let head = previous;
  for (let first = 0; first < events.length; first += EVENTS_PER_ROW) {
    const own = events.length <= EVENTS_PER_ROW ? events : events.slice(first, first + EVENTS_PER_ROW);
    head = commitHash(head, runId, expectedVersion + 1 + first, own.map(eventColumns));
    rows.push({ ...shapes.packAll(own), hash: head, rest: events.length - first - own.length });
  }
  return rows;
}

type SaveRun = (change: Change, before: RunHead | undefined, head: string, seq: number) => number | undefined;

/** Answers the run's number, or undefined where the file no longer holds the version that the change expects. */
function prepareRunRow(db: DatabaseSync): SaveRun {
  const insertRun = db.prepare(`
    INSERT INTO runs (id, flow, flow_hash, subject_id, subject_title, created_at, status, word, stage, version, head,
      updated_at, updated_seq, state)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const updateStatus = db.prepare("UPDATE runs SET status = ? WHERE number = ? AND version = ?");
  // Without the status, which few handoffs change: a statement that names it writes a page of the index of open runs each time.
  const updateRun = db.prepare(`
    UPDATE runs SET word = ?, stage = ?, version = ?, head = ?, updated_at = ?, updated_seq = ?, state = ?
    WHERE number = ? AND version = ?`);
  const updateTitle = db.prepare("UPDATE runs SET subject_title = ? WHERE number = ?");

  return ({ runId, expectedVersion, events, run }, before, head, seq) => {
    const version = expectedVersion + events.length;
    const updatedAt = events.at(-1)?.at ?? run.createdAt;
    const { flow, flow_hash, subject_id, subject_title, created_at, status, word, stage } = runColumns(run);
    const state = JSON.stringify(run);
    if (before === undefined) {
      // biome-ignore format: the order of the columns in the statement above.
      const inserted = insertRun.run(
        runId, flow, flow_hash, subject_id, subject_title, created_at, status, word, stage, version, head, updatedAt, seq, state,
      );
      return Number(inserted.lastInsertRowid);
    }
    const { number } = before;
    if (status !== before.status) updateStatus.run(status, number, expectedVersion);
    const updated = updateRun.run(word, stage, version, head, updatedAt, seq, state, number, expectedVersion);
    if (updated.changes === 0) return undefined;
    if (events.some(({ type }) => type === "ticket.edited")) updateTitle.run(subject_title, number);
    return number;
  };
}

type SaveProjections = (
  run: { readonly id: string; readonly number: number },
  changes: readonly RowChange[],
  reservations: readonly Reservation[],
) => ReturnType<Room>;

/** Writes the projections, and reserves only what the budgets have room for. */
function prepareReserving(db: DatabaseSync): SaveProjections {
  const project = prepareProjections(db);
  const room = prepareRoom(db);
  const isReserving = ({ type }: RowChange) => type === "reserve";

  return (run, changes, reservations) => {
    if (reservations.length === 0) {
      project(run, changes);
      return NOTHING_RESERVED;
    }
    // The change's own settlements make room before its reservations.
    project(
      run,
      changes.filter((each) => !isReserving(each)),
    );
    const found = room(reservations);
    if (found.type === "room") project(run, changes.filter(isReserving));
    return found;
  };
}

/** For changes that reserve: without room they are undone whole, and the transaction continues. */
function prepareSavepoint(db: DatabaseSync) {
  const savepoint = db.prepare("SAVEPOINT reserving");
  const rollback = db.prepare("ROLLBACK TO reserving");
  const release = db.prepare("RELEASE reserving");
  return {
    begin: (): void => void savepoint.run(),
    keep: (): void => void release.run(),
    undo(): void {
      rollback.run();
      release.run();
    },
  };
}
