// Looks for damage: every event in order of sequence (nothing edited, nothing missing), then every run against the fold of its
// events and its rows against rebuilt ones. Works on a snapshot of its own and lets the process breathe between pages.

import type { DatabaseSync } from "node:sqlite";
import { setImmediate as breathe } from "node:timers/promises";
import type { EventRow, RunTableRow } from "../rows.ts";
import type { Damage } from "../store.ts";
import { type ChainHead, checkEvent, checkRun, comparable, DAMAGES_AT_MOST, missing } from "../verify-chain.ts";
import { openReader } from "./connection.ts";
import { SUMS_SINCE } from "./migrations.ts";
import { sumsOfRows } from "./schema-sums.ts";
import { type ProjectedTable, PROJECTED_SINCE, PROJECTIONS, prepareRebuild } from "./rebuild.ts";

const PAGE = 500;

export async function verifyFile(path: string): Promise<readonly Damage[]> {
  const db = openReader(path);
  try {
    db.exec("BEGIN");
    const damages: Damage[] = [];
    for await (const damage of findDamages(db)) {
      damages.push(damage);
      if (damages.length === DAMAGES_AT_MOST) break;
    }
    return damages;
  } finally {
    db.close();
  }
}

async function* findDamages(db: DatabaseSync): AsyncGenerator<Damage> {
  const heads = new Map<string, ChainHead>();
  try {
    yield* checkEvents(db, heads);
    yield* checkRuns(db, heads);
    yield* checkOrphans(db, heads);
    yield* checkSignals(db);
    yield* checkSums(db);
    yield* checkCosts(db);
  } catch (error) {
    // A row that cannot even be read is damage, too.
    yield { seq: null, runId: null, what: `the database cannot be read any further: ${String(error)}` };
  }
}

async function* checkEvents(db: DatabaseSync, heads: Map<string, ChainHead>): AsyncGenerator<Damage> {
  const page = db.prepare("SELECT * FROM events WHERE seq > ? ORDER BY seq LIMIT ?");
  const gapAt = db.prepare("SELECT last_seq FROM gaps WHERE first_seq = ?");
  let last = Number.MIN_SAFE_INTEGER;
  let expected = 1;
  /** Past the events that were deleted on purpose. */
  const skipGaps = (): void => {
    for (let gap = gapAt.get(expected); gap !== undefined; gap = gapAt.get(expected))
      expected = Number(gap["last_seq"]) + 1;
  };
  for (;;) {
    const rows = page.all(last, PAGE) as unknown as readonly EventRow[];
    for (const row of rows) {
      if (row.seq > expected) skipGaps();
      if (row.seq > expected) yield missing(expected, row.seq - 1);
      yield* checkEvent(row, heads);
      last = row.seq;
      expected = row.seq + 1;
    }
    if (rows.length < PAGE) break;
    await breathe();
  }
  const given = db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'events'").get()?.["seq"];
  skipGaps();
  if (typeof given === "number" && given >= expected) yield missing(expected, given);
}

async function* checkRuns(db: DatabaseSync, heads: Map<string, ChainHead>): AsyncGenerator<Damage> {
  const compare = prepareComparison(db);
  const page = db.prepare("SELECT * FROM runs WHERE number > ? ORDER BY number LIMIT ?");
  const eventsOf = db.prepare("SELECT * FROM events WHERE run_number = ? ORDER BY version");
  let last = Number.MIN_SAFE_INTEGER;
  for (;;) {
    // State can be long: a small page keeps the memory flat.
    const rows = page.all(last, PAGE / 10) as unknown as readonly RunTableRow[];
    for (const row of rows) {
      const events = () => eventsOf.iterate(row.number) as unknown as Iterable<EventRow>;
      const what = checkRun(row, heads.get(row.id), events) ?? compare(row, events());
      if (what !== undefined) yield { seq: null, runId: row.id, what };
      last = row.number;
    }
    if (rows.length < PAGE / 10) return;
    await breathe();
  }
}

/** Compares a run's rows with those that its events make. */
function prepareComparison(db: DatabaseSync): (run: RunTableRow, events: Iterable<EventRow>) => string | undefined {
  const rebuild = prepareRebuild();
  const schema = Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
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

async function* checkOrphans(db: DatabaseSync, heads: ReadonlyMap<string, ChainHead>): AsyncGenerator<Damage> {
  const isRun = db.prepare("SELECT 1 FROM runs WHERE id = ?");
  for (const [runId, head] of heads) {
    if (isRun.get(runId) === undefined) yield { seq: head.seq, runId, what: "events of a run that is not there" };
  }
  for (const table of ["attempts", "handoffs", "inbox", "spending", "work"]) {
    const sql = `SELECT DISTINCT run_id FROM ${table} WHERE run_id NOT IN (SELECT id FROM runs)`;
    for (const row of db.prepare(sql).all()) {
      yield { seq: null, runId: String(row["run_id"]), what: `rows in ${table} of a run that is not there` };
    }
  }
}

async function* checkSignals(db: DatabaseSync): AsyncGenerator<Damage> {
  const sql = "SELECT DISTINCT run_number FROM signals WHERE run_number NOT IN (SELECT number FROM runs)";
  for (const row of db.prepare(sql).all()) {
    yield {
      seq: null,
      runId: null,
      what: `rows in signals of run number ${String(row["run_number"])}, which is not there`,
    };
  }
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
  if (Number(db.prepare("PRAGMA user_version").get()?.["user_version"]) < SUMS_SINCE) return;
  const rows = `SELECT * FROM (${sumsOfRows()})`;
  const sql = `
    SELECT DISTINCT day FROM (
      SELECT * FROM (${rows} EXCEPT SELECT * FROM spending_sums) UNION ALL SELECT * FROM (SELECT * FROM spending_sums EXCEPT ${rows})
    ) ORDER BY day`;
  for (const { day } of db.prepare(sql).all())
    yield { seq: null, runId: null, what: `the cost of ${String(day)} is not that of its rows in spending` };
}
