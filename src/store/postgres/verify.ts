// Looks for damage, as verify.ts does for SQLite, on one snapshot of the database: every event in order of sequence, every run against the
// fold of its events, and its rows against rebuilt ones.

import { type EventRow, type RunTableRow, toEvent } from "../rows.ts";
import { type NumberedEvent, PROJECTIONS, prepareRebuild } from "../sqlite/rebuild.ts";
import type { Damage } from "../store.ts";
import {
  type ChainHead,
  checkCommit,
  checkRun,
  comparable,
  createJoining,
  DAMAGES_AT_MOST,
  missing,
} from "../verify-chain.ts";
import type { Pool, Query } from "./pool.ts";
import { sumsOfRows } from "./schema-sums.ts";

const PAGE = 500;
const RUNS_PER_PAGE = 50;

export async function verifyDatabase(pool: Pool): Promise<readonly Damage[]> {
  return pool.transact(async (query) => {
    const damages: Damage[] = [];
    for await (const damage of findDamages(query)) {
      damages.push(damage);
      if (damages.length === DAMAGES_AT_MOST) break;
    }
    return damages;
  }, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
}

export async function* findDamages(query: Query): AsyncGenerator<Damage> {
  const heads = new Map<string, ChainHead>();
  try {
    yield* checkEvents(query, heads);
    yield* checkRuns(query, heads);
    yield* checkOrphans(query, heads);
    yield* checkSums(query);
    yield* checkCosts(query);
  } catch (error) {
    // A row that cannot even be read is damage, too.
    yield { seq: null, runId: null, what: `the database cannot be read any further: ${String(error)}` };
  }
}

async function* checkEvents(query: Query, heads: Map<string, ChainHead>): AsyncGenerator<Damage> {
  const gaps = new Map<number, number>();
  for (const { first_seq, last_seq } of await query("SELECT * FROM passrail.gaps"))
    gaps.set(Number(first_seq), Number(last_seq));
  const joining = createJoining();
  let last = Number.MIN_SAFE_INTEGER;
  let expected = 1;
  /** Past the events that were deleted on purpose. */
  const skipGaps = (): void => {
    for (let end = gaps.get(expected); end !== undefined; end = gaps.get(expected)) expected = end + 1;
  };
  for (;;) {
    const rows = (await query(
      "SELECT * FROM passrail.events WHERE seq > $1 ORDER BY seq LIMIT $2",
      last,
      PAGE,
    )) as readonly EventRow[];
    for (const row of rows) {
      if (row.seq > expected) skipGaps();
      if (row.seq > expected) yield missing(expected, row.seq - 1);
      for (const commit of joining.add(row)) yield* checkCommit(commit, heads);
      last = row.seq;
      expected = row.seq + 1;
    }
    if (rows.length < PAGE) break;
  }
  for (const commit of joining.rest()) yield* checkCommit(commit, heads);
  const [given] = await query("SELECT last_seq FROM passrail.identity");
  skipGaps();
  if (Number(given?.["last_seq"]) >= expected) yield missing(expected, Number(given?.["last_seq"]));
}

async function* checkRuns(query: Query, heads: ReadonlyMap<string, ChainHead>): AsyncGenerator<Damage> {
  const rebuild = prepareRebuild();
  let last = Number.MIN_SAFE_INTEGER;
  for (;;) {
    const sql = "SELECT * FROM passrail.runs WHERE number > $1 ORDER BY number LIMIT $2";
    const runs = (await query(sql, last, RUNS_PER_PAGE)) as readonly RunTableRow[];
    for (const run of runs) {
      last = run.number;
      const rows = (await query(
        "SELECT * FROM passrail.events WHERE run_number = $1 ORDER BY version",
        run.number,
      )) as readonly EventRow[];
      const events = rows.map((row) => ({ seq: row.seq, event: toEvent(row) }));
      const what = checkRun(run, heads.get(run.id), () => events) ?? (await compare(query, run, events, rebuild));
      if (what !== undefined) yield { seq: null, runId: run.id, what };
    }
    if (runs.length < RUNS_PER_PAGE) return;
  }
}

async function compare(
  query: Query,
  run: RunTableRow,
  events: Iterable<NumberedEvent>,
  rebuild: ReturnType<typeof prepareRebuild>,
): Promise<string | undefined> {
  try {
    const rebuilt = rebuild(run, events);
    for (const [table, sql] of Object.entries(PROJECTIONS)) {
      const stored = await query(sql.replace(/\?/u, "$1").replace(/FROM (\w+)/u, "FROM passrail.$1"), run.number);
      if (comparable(stored) !== comparable(rebuilt[table]))
        return `the run's rows in ${table} are not what its events say`;
    }
    return undefined;
  } catch (error) {
    return `the run's rows cannot be rebuilt: ${String(error)}`;
  }
}

/** References keep all other tables from it, as long as they are there. */
async function* checkOrphans(query: Query, heads: ReadonlyMap<string, ChainHead>): AsyncGenerator<Damage> {
  const known = new Set((await query("SELECT id FROM passrail.runs")).map(({ id }) => String(id)));
  for (const [runId, head] of heads)
    if (!known.has(runId)) yield { seq: head.seq, runId, what: "events of a run that is not there" };
  for (const table of ["attempts", "handoffs", "inbox", "spending", "work"])
    for (const { run_id } of await query(`SELECT DISTINCT run_id FROM passrail.${table}`))
      if (!known.has(String(run_id)))
        yield { seq: null, runId: String(run_id), what: `rows in ${table} of a run that is not there` };
}

/** The sums that budgets are checked against are those of the rows. */
async function* checkSums(query: Query): AsyncGenerator<Damage> {
  const sql = `
    WITH summed (scope, key, usd, tokens) AS (
      SELECT 'run', run_id, sum(booked_usd), sum(booked_tokens) FROM passrail.spending GROUP BY 2 UNION ALL
      SELECT 'ticket', ticket, sum(booked_usd), sum(booked_tokens) FROM passrail.spending GROUP BY 2 UNION ALL
      SELECT 'day', day, sum(usd), sum(tokens) FROM (
        SELECT day, booked_usd AS usd, booked_tokens AS tokens FROM passrail.spending
        UNION ALL SELECT day, usd, tokens FROM passrail.forgotten
      ) AS days GROUP BY 2
    ), differing AS (
      (SELECT * FROM summed EXCEPT SELECT scope, key, usd, tokens FROM passrail.spent) UNION
      (SELECT scope, key, usd, tokens FROM passrail.spent EXCEPT SELECT * FROM summed)
    )
    SELECT DISTINCT scope, key FROM differing ORDER BY scope, key`;
  for (const { scope, key } of await query(sql)) {
    const what = `the sum for ${String(scope)} ${String(key)} is not that of its rows in spending`;
    yield { seq: null, runId: scope === "run" ? String(key) : null, what };
  }
}

/** The sums that people are shown as the cost are those of the rows, too. */
async function* checkCosts(query: Query): AsyncGenerator<Damage> {
  const [stored] = await query("SELECT 1 FROM pg_tables WHERE schemaname = 'passrail' AND tablename = 'spending_sums'");
  if (stored === undefined) return;
  const rows = `SELECT * FROM (${sumsOfRows()}) AS summed`;
  const sums = "SELECT * FROM passrail.spending_sums";
  const sql = `SELECT DISTINCT day FROM ((${rows} EXCEPT ${sums}) UNION ALL (${sums} EXCEPT ${rows})) AS differing ORDER BY day`;
  for (const { day } of await query(sql))
    yield { seq: null, runId: null, what: `the cost of ${String(day)} is not that of its rows in spending` };
}
