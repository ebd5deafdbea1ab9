// Looks for damage: every event in order of sequence (nothing edited, nothing missing), then every run against the fold of its
// events and its rows against rebuilt ones. Works on a snapshot of its own and lets the process breathe.

import type { DatabaseSync } from "node:sqlite";
import { type EventRow, type RunTableRow, toEvent } from "../rows.ts";
import type { Damage } from "../store.ts";
import { type ChainHead, checkCommit, checkRun, comparable, DAMAGES_AT_MOST, missing } from "../verify-chain.ts";
import { inBreaths } from "./breaths.ts";
import { openReader } from "./connection.ts";
import { prepareIdentity } from "./fence.ts";
import { COMMITS, type CommitTableRow, prepareHistory, rowsIn } from "./history.ts";
import { lookAtMark, type OwnerMark } from "./mark.ts";
import { COMMITS_SINCE, PARTS_SINCE, SUMS_SINCE } from "./migrations.ts";
import type { Unpacked } from "./pack.ts";
import { sumsOfRows } from "./schema-sums.ts";
import { type NumberedEvent, type ProjectedTable, PROJECTED_SINCE, PROJECTIONS, prepareRebuild } from "./rebuild.ts";

const PAGE = 100;

export async function verifyFile(path: string): Promise<readonly Damage[]> {
  // Before the snapshot: the store's owner may write meanwhile.
  const mark = lookAtMark(path);
  const db = openReader(path);
  try {
    db.exec("BEGIN");
    const damages: Damage[] = [];
    for await (const damage of findDamages(db, mark)) {
      damages.push(damage);
      if (damages.length === DAMAGES_AT_MOST) break;
    }
    return damages;
  } finally {
    db.close();
  }
}

async function* findDamages(db: DatabaseSync, mark: OwnerMark | undefined): AsyncGenerator<Damage> {
  const heads = new Map<string, ChainHead>();
  const ids = new Map<number, string>();
  try {
    yield* checkEvents(db, heads, ids);
    yield* checkEnd(db, mark);
    yield* checkRuns(db, heads);
    yield* checkOrphans(db, heads, ids);
    yield* checkSums(db);
    yield* checkCosts(db);
  } catch (error) {
    // A row that cannot even be read is damage, too.
    yield { seq: null, runId: null, what: `the database cannot be read any further: ${String(error)}` };
  }
}

async function* checkEvents(
  db: DatabaseSync,
  heads: Map<string, ChainHead>,
  ids: Map<number, string>,
): AsyncGenerator<Damage> {
  const gapAt = db.prepare("SELECT last_seq FROM gaps WHERE first_seq = ?");
  let expected = 1;
  /** Past the events that were deleted on purpose. */
  const skipGaps = (): void => {
    for (let gap = gapAt.get(expected); gap !== undefined; gap = gapAt.get(expected))
      expected = Number(gap["last_seq"]) + 1;
  };
  for await (const { first, last, rows, damage } of commitsOf(db, ids)) {
    if (damage !== undefined) yield { seq: last, runId: null, what: damage };
    else if (first > expected) {
      skipGaps();
      if (first > expected) yield missing(expected, first - 1);
    }
    yield* checkCommit(rows, heads);
    expected = last + 1;
  }
  skipGaps();
  const given = lastGiven(db);
  if (given >= expected) yield missing(expected, given);
}

/**
 * A deletion of the last runs with all their rows leaves no gap. The mark beside the file has the last number of its owner; it is written after
 * the transaction, so it is never ahead of what was stored.
 */
function* checkEnd(db: DatabaseSync, mark: OwnerMark | undefined): Generator<Damage> {
  if (mark === undefined || schemaOf(db) < COMMITS_SINCE) return;
  const { incarnation, epoch, seq } = prepareIdentity(db)();
  if (mark.incarnation !== incarnation || mark.epoch !== epoch || mark.seq <= seq) return;
  const gone = missing(seq + 1, mark.seq);
  const what = `${gone.what}: the mark beside the file says that they were stored, so they were deleted, or an older copy has replaced it`;
  yield { ...gone, what };
}

/** `damage`: the row cannot be opened, so its number of events is unknown. */
type FoundCommit = {
  readonly first: number;
  readonly last: number;
  readonly rows: readonly EventRow[];
  readonly damage?: string;
};

/** In order of sequence: those that have a row of their own, then those that share one. */
async function* commitsOf(db: DatabaseSync, ids: Map<number, string>): AsyncGenerator<FoundCommit> {
  const old = "SELECT * FROM events WHERE seq > ? ORDER BY seq LIMIT ?";
  for await (const row of paged<EventRow>(db, old)) yield { first: row.seq, last: row.seq, rows: [row] };
  if (schemaOf(db) < COMMITS_SINCE) return;
  const { opening } = prepareHistory(db);
  const idOf = prepareRunIds(ids);
  for await (const row of paged<CommitTableRow>(db, `${COMMITS} WHERE c.seq > ? ORDER BY c.seq LIMIT ?`)) {
    try {
      const rows = rowsIn(row, opening);
      const run_id = row.run_id ?? idOf(row.run_number, rows[0]);
      yield { first: rows[0]?.seq ?? row.seq, last: row.seq, rows: rows.map((each) => ({ ...each, run_id })) };
    } catch (error) {
      const damage = `the events of this commit are not as they were written: ${String(error)}`;
      yield { first: row.seq, last: row.seq, rows: [], damage };
    }
  }
}

/** A commit does not repeat the run's id. If the row of a run is gone, its first event has it. */
function prepareRunIds(known: Map<number, string>): (number: number, first: EventRow | undefined) => string {
  return (number, first) => {
    const { id } = JSON.parse(first?.body ?? "{}") as Unpacked["body"];
    if (first?.type === "run.created" && typeof id === "string") known.set(number, id);
    return known.get(number) ?? `run number ${number}`;
  };
}

async function* paged<T extends { readonly seq: number }>(db: DatabaseSync, sql: string): AsyncGenerator<T> {
  const page = db.prepare(sql);
  const breath = inBreaths();
  let last = Number.MIN_SAFE_INTEGER;
  for (;;) {
    const rows = page.all(last, PAGE) as unknown as readonly T[];
    for (const row of rows) {
      yield row;
      last = row.seq;
      await breath();
    }
    if (rows.length < PAGE) return;
  }
}

/** The last number that was given, as what refers to events says: the runs, and in older files SQLite's own count. */
function lastGiven(db: DatabaseSync): number {
  const told = db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'events'").get()?.["seq"];
  const updated = db.prepare("SELECT max(updated_seq) AS seq FROM runs").get()?.["seq"];
  return Math.max(Number(told ?? 0), Number(updated ?? 0));
}

function schemaOf(db: DatabaseSync): number {
  return Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
}

async function* checkRuns(db: DatabaseSync, heads: Map<string, ChainHead>): AsyncGenerator<Damage> {
  const compare = prepareComparison(db);
  const page = db.prepare("SELECT * FROM runs WHERE number > ? ORDER BY number LIMIT ?");
  const eventsOf = prepareEventsOf(db);
  const breath = inBreaths();
  let last = Number.MIN_SAFE_INTEGER;
  for (;;) {
    // State can be long: a small page keeps the memory flat.
    const rows = page.all(last, PAGE / 4) as unknown as readonly RunTableRow[];
    for (const row of rows) {
      const events = () => eventsOf(row.number);
      const what = checkRun(row, heads.get(row.id), events) ?? compare(row, events());
      if (what !== undefined) yield { seq: null, runId: row.id, what };
      last = row.number;
      await breath();
    }
    if (rows.length < PAGE / 4) return;
  }
}

function prepareEventsOf(db: DatabaseSync): (number: number) => Generator<NumberedEvent> {
  const { folded, hasCommits, places } = prepareHistory(db);
  const old = db.prepare("SELECT * FROM events WHERE run_number = ? ORDER BY version");
  const sql = `SELECT c.* FROM ${places()} p JOIN commits c ON c.seq = p.seq WHERE p.run_number = ? ORDER BY p.version`;
  const commits = hasCommits() ? db.prepare(sql) : undefined;
  return function* (number) {
    for (const row of old.iterate(number) as unknown as Iterable<EventRow>) yield { seq: row.seq, event: toEvent(row) };
    for (const row of (commits?.iterate(number) ?? []) as unknown as Iterable<CommitTableRow>)
      for (const { seq, open } of folded(row)) yield { seq, event: open() };
  };
}

/** Compares a run's rows with those that its events make. */
function prepareComparison(
  db: DatabaseSync,
): (run: RunTableRow, events: Iterable<NumberedEvent>) => string | undefined {
  const rebuild = prepareRebuild();
  const schema = schemaOf(db);
  const tables = Object.entries(PROJECTIONS)
    .map(([table, sql]) => ({ table: table as ProjectedTable, sql }))
    .filter(({ table }) => schema >= (PROJECTED_SINCE[table] ?? 0))
    .map(({ table, sql }) => ({ table, stored: db.prepare(sql) }));
  return (run, events) => {
    try {
      const rebuilt = rebuild(run, events);
      const differs = tables.find(
        ({ table, stored }) => comparable(stored.all(run.number)) !== comparable(rebuilt[table]),
      );
      return differs && `the run's rows in ${differs.table} are not what its events say`;
    } catch (error) {
      return `the run's rows cannot be rebuilt: ${String(error)}`;
    }
  };
}

async function* checkOrphans(
  db: DatabaseSync,
  heads: ReadonlyMap<string, ChainHead>,
  ids: ReadonlyMap<number, string>,
): AsyncGenerator<Damage> {
  const isRun = db.prepare("SELECT 1 FROM runs WHERE id = ?");
  for (const [runId, head] of heads) {
    if (isRun.get(runId) === undefined) yield { seq: head.seq, runId, what: "events of a run that is not there" };
  }
  const tables =
    schemaOf(db) < PARTS_SINCE ? ["attempts", "handoffs", "inbox", "spending", "work"] : ["spending", "work"];
  for (const table of tables) {
    const sql = `SELECT DISTINCT run_id FROM ${table} WHERE run_id NOT IN (SELECT id FROM runs)`;
    for (const row of db.prepare(sql).all()) {
      yield { seq: null, runId: String(row["run_id"]), what: `rows in ${table} of a run that is not there` };
    }
  }
  for (const { table, number } of lostParts(db)) {
    const runId = ids.get(number) ?? null;
    yield { seq: null, runId, what: `rows in ${table} of run number ${number}, which is not there` };
  }
}

const PART_TABLES: Readonly<Record<string, string>> = {
  a: "attempts",
  c: "places",
  h: "handoffs",
  i: "inbox",
  s: "signals",
};

/** Rows that know their run by its number. */
function lostParts(db: DatabaseSync): readonly { readonly table: string; readonly number: number }[] {
  const sql =
    schemaOf(db) < PARTS_SINCE
      ? "SELECT DISTINCT run_number, 's' AS kind FROM signals WHERE run_number NOT IN (SELECT number FROM runs)"
      : "SELECT DISTINCT run_number, kind FROM parts WHERE run_number NOT IN (SELECT number FROM runs)";
  return db
    .prepare(sql)
    .all()
    .map(({ run_number, kind }) => ({
      table: PART_TABLES[String(kind)] ?? "parts",
      number: Number(run_number),
    }));
}

/** The sums that budgets are checked against are those of the rows. */
async function* checkSums(db: DatabaseSync): AsyncGenerator<Damage> {
  const sql = `
    WITH summed (scope, key, usd, tokens) AS (
      SELECT 'run', run_id, sum(booked_usd), sum(booked_tokens) FROM spending GROUP BY 2 UNION ALL
      SELECT 'ticket', ticket, sum(booked_usd), sum(booked_tokens) FROM spending GROUP BY 2 UNION ALL
      SELECT 'day', day, sum(usd), sum(tokens) FROM (
        SELECT day, booked_usd AS usd, booked_tokens AS tokens FROM spending UNION ALL SELECT day, usd, tokens FROM forgotten
      ) GROUP BY 2
    ), differing AS (
      SELECT * FROM (SELECT * FROM summed EXCEPT SELECT scope, key, usd, tokens FROM spent) UNION
      SELECT * FROM (SELECT scope, key, usd, tokens FROM spent EXCEPT SELECT * FROM summed)
    )
    SELECT DISTINCT scope, key FROM differing ORDER BY scope, key`;
  for (const { scope, key } of db.prepare(sql).all()) {
    const what = `the sum for ${String(scope)} ${String(key)} is not that of its rows in spending`;
    yield { seq: null, runId: scope === "run" ? String(key) : null, what };
  }
}

/** The sums that people are shown as the cost are those of the rows, too. */
async function* checkCosts(db: DatabaseSync): AsyncGenerator<Damage> {
  if (schemaOf(db) < SUMS_SINCE) return;
  const rows = `SELECT * FROM (${sumsOfRows()})`;
  const sql = `
    SELECT DISTINCT day FROM (
      SELECT * FROM (${rows} EXCEPT SELECT * FROM spending_sums) UNION ALL SELECT * FROM (SELECT * FROM spending_sums EXCEPT ${rows})
    ) ORDER BY day`;
  for (const { day } of db.prepare(sql).all())
    yield { seq: null, runId: null, what: `the cost of ${String(day)} is not that of its rows in spending` };
}
