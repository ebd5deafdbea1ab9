// Looks for damage: every event in order of sequence (nothing edited, nothing missing), then every run against the fold of its
// events and its rows against rebuilt ones. Works on a snapshot of its own and lets the process breathe between pages.

import { DatabaseSync, type StatementSync } from "node:sqlite";
import { setImmediate as breathe } from "node:timers/promises";
import { evolve } from "../../core/run/evolve.ts";
import type { Run } from "../../core/run/run.ts";
import type { Damage } from "../store.ts";
import { CHAIN_START, eventHash } from "./chain.ts";
import { openReader } from "./connection.ts";
import { MIGRATIONS } from "./migrations.ts";
import { prepareProjections } from "./project.ts";
import { rowChanges } from "./projections.ts";
import { type EventRow, type RunTableRow, runColumns, toEvent } from "./rows.ts";

const AT_MOST = 100;
const PAGE = 500;

/** What the events of a run say so far. */
type Head = {
  readonly version: number;
  /** Differs from `version` when rows were lost or renumbered. */
  readonly counted: number;
  readonly hash: string;
  /** Differs from `hash` when the last row was edited. */
  readonly computed: string;
  readonly seq: number;
  readonly at: string;
};

export async function verifyFile(path: string): Promise<readonly Damage[]> {
  const db = openReader(path);
  try {
    db.exec("BEGIN");
    const damages: Damage[] = [];
    for await (const damage of findDamages(db)) {
      damages.push(damage);
      if (damages.length === AT_MOST) break;
    }
    return damages;
  } finally {
    db.close();
  }
}

async function* findDamages(db: DatabaseSync): AsyncGenerator<Damage> {
  const heads = new Map<string, Head>();
  try {
    yield* checkEvents(db, heads);
    yield* checkRuns(db, heads);
    yield* checkOrphans(db, heads);
    yield* checkSignals(db);
    yield* checkSums(db);
  } catch (error) {
    // A row that cannot even be read is damage, too.
    yield { seq: null, runId: null, what: `the database cannot be read any further: ${String(error)}` };
  }
}

async function* checkEvents(db: DatabaseSync, heads: Map<string, Head>): AsyncGenerator<Damage> {
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

function* checkEvent(row: EventRow, heads: Map<string, Head>): Generator<Damage> {
  const head = heads.get(row.run_id) ?? { version: 0, counted: 0, hash: CHAIN_START, computed: CHAIN_START };
  const computed = eventHash(head.hash, row.run_id, row.version, row);
  heads.set(row.run_id, {
    version: row.version,
    counted: head.counted + 1,
    hash: row.hash,
    computed,
    seq: row.seq,
    at: row.at,
  });
  // After an edited row the next one may fit either what stands there or what should: only the edited row is to be named.
  const isInOrder = row.version === head.version + 1 || row.version === head.counted + 1;
  const isAsWritten = computed === row.hash || eventHash(head.computed, row.run_id, row.version, row) === row.hash;
  const where = { seq: row.seq, runId: row.run_id };
  if (row.seq < 1) yield { ...where, what: "an event has a sequence number that is never given" };
  else if (!isInOrder) yield { ...where, what: `version ${row.version} follows version ${head.version} of the run` };
  else if (!isAsWritten) yield { ...where, what: "the event is not as it was written: its hash does not fit" };
}

async function* checkRuns(db: DatabaseSync, heads: Map<string, Head>): AsyncGenerator<Damage> {
  const rebuild = prepareRebuild(db);
  const page = db.prepare("SELECT * FROM runs WHERE number > ? ORDER BY number LIMIT ?");
  const eventsOf = db.prepare("SELECT * FROM events WHERE run_number = ? ORDER BY version");
  let last = Number.MIN_SAFE_INTEGER;
  for (;;) {
    // State can be long: a small page keeps the memory flat.
    const rows = page.all(last, PAGE / 10) as unknown as readonly RunTableRow[];
    for (const row of rows) {
      const what = checkRun(row, heads.get(row.id), eventsOf) ?? rebuild(row, eventsOf);
      if (what !== undefined) yield { seq: null, runId: row.id, what };
      last = row.number;
    }
    if (rows.length < PAGE / 10) return;
    await breathe();
  }
}

function checkRun(row: RunTableRow, head: Head | undefined, eventsOf: StatementSync): string | undefined {
  if (head === undefined) return "the run has no events";
  if (row.version !== head.version) return `the run has version ${row.version}, its events end with ${head.version}`;
  if (row.head !== head.hash) return "the run's head is not the hash of its last event";
  if (row.updated_seq !== head.seq || row.updated_at !== head.at) return "the run's last change is not its last event";
  let run: Run | undefined;
  try {
    for (const event of eventsOf.iterate(row.number)) run = evolve(run, toEvent(event as unknown as EventRow));
  } catch (error) {
    return `the run's events cannot be folded: ${String(error)}`;
  }
  if (run === undefined || JSON.stringify(run) !== row.state) return "the run's state is not the fold of its events";
  const wrong = Object.entries(runColumns(run)).find(([column, value]) => row[column as keyof RunTableRow] !== value);
  return wrong && `the run's column ${wrong[0]} does not fit its state`;
}

/** The columns that follow from events; ids and noted facts do not. */
const PROJECTIONS = {
  attempts: `SELECT run_id, stage, attempt, track, status, handoff, ready_seq, ready_at, started_at, ended_at, outcome_seq
    FROM attempts WHERE run_number = ? ORDER BY stage, attempt`,
  handoffs: `SELECT run_id, number, track, from_stage, from_agent, from_attempt, to_stage, to_agent, loop, state,
    rejection_reason, created_at, processed_at FROM handoffs WHERE run_number = ? ORDER BY number`,
  "what handoffs add": "SELECT number, added FROM handoffs WHERE run_number = ? ORDER BY number",
  inbox: "SELECT run_id, number, kind, stage, opened_at, item FROM inbox WHERE run_number = ? ORDER BY number",
  spending: `SELECT run_id, stage, attempt, agent, runner, model, told_model, ticket, day, started_at, reserved_usd, reserved_tokens,
    usd, input_tokens, output_tokens, cached_tokens, settled_seq FROM spending WHERE run_number = ? ORDER BY stage, attempt`,
} as const;

/** The schema whose upgrade projects a table again: in an older file its rows follow older rules, which are gone. */
const PROJECTED_SINCE: Readonly<Partial<Record<keyof typeof PROJECTIONS, number>>> = {
  handoffs: 6,
  "what handoffs add": 9,
};

/** Projects a run's events into an empty database and compares the rows. */
function prepareRebuild(db: DatabaseSync): (run: RunTableRow, eventsOf: StatementSync) => string | undefined {
  const empty = new DatabaseSync(":memory:", { enableForeignKeyConstraints: false });
  for (const sql of MIGRATIONS) empty.exec(sql);
  const project = prepareProjections(empty);
  const schema = Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
  const pairs = Object.entries(PROJECTIONS)
    .filter(([table]) => schema >= (PROJECTED_SINCE[table as keyof typeof PROJECTIONS] ?? 0))
    .map(([table, sql]) => ({ table, stored: db.prepare(sql), rebuilt: empty.prepare(sql) }));
  return (run, eventsOf) => {
    empty.exec("BEGIN");
    try {
      for (const each of eventsOf.iterate(run.number)) {
        const row = each as unknown as EventRow;
        project(run, rowChanges([toEvent(row)], row.seq));
      }
      const differs = pairs.find(({ stored, rebuilt }) => {
        return JSON.stringify(stored.all(run.number)) !== JSON.stringify(rebuilt.all(run.number));
      });
      return differs && `the run's rows in ${differs.table} are not what its events say`;
    } catch (error) {
      return `the run's rows cannot be rebuilt: ${String(error)}`;
    } finally {
      empty.exec("ROLLBACK");
    }
  };
}

async function* checkOrphans(db: DatabaseSync, heads: ReadonlyMap<string, Head>): AsyncGenerator<Damage> {
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

function missing(from: number, to: number): Damage {
  const what = from === to ? `event ${from} is missing` : `events ${from} to ${to} are missing`;
  return { seq: from, runId: null, what };
}
