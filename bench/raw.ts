// The yardstick: the exact statements of one run of the workload, recorded once and repeated with fresh ids in a plain loop, one
// transaction per handoff. Same tables, indexes, triggers, settings and row sizes; no engine, no JSON, no hashing.

import { DatabaseSync, StatementSync } from "node:sqlite";
import { openSqliteStore } from "../src/store/sqlite/open.ts";
import { HANDOFFS_PER_RUN, newRunId, openWorkload } from "./workload.ts";

type Value = string | number | bigint | null;
type Method = "run" | "get" | "all";
type Executed = { readonly sql: string; readonly method: Method; readonly values: readonly Value[] };

/** The transactions of one run: its creation, then its handoffs. */
export type Recording = {
  readonly transactions: readonly (readonly Executed[])[];
  readonly runId: string;
  /** How many of the store's numbers one run takes. */
  readonly taken: Numbers;
};

/** Counters of the store, by table. */
type Numbers = { readonly runs: number; readonly events: number; readonly work: number };

/** During a recording the store counts from here, so that its numbers are easy to recognise. */
const MARKS: Numbers = { runs: 3_000_000_000, events: 2_000_000_000, work: 1_000_000_000 };

export type RawLoop = {
  /** Makes the values beforehand, so that only statements are in the loop; the result does the runs. */
  prepare(runs: number): () => void;
  close(): void;
};

/** Runs the workload once with every statement noted on its way. */
export async function record(home: string): Promise<Recording> {
  const file = `${home}/passrail.db`;
  const workload = await openWorkload(home);
  await workload.complete(1);
  await workload.engine.idle();
  countFromMarks(file);
  const executed: Executed[] = [];
  const restore = listen((entry) => executed.push(entry));
  try {
    await workload.complete(1);
    await workload.engine.idle();
  } finally {
    restore();
  }
  const taken = takenSinceMarks(file);
  await workload.close();
  const transactions = transactionsOf(executed);
  const inserted = executed.find(({ sql }) => sql.includes("INSERT INTO runs"));
  if (transactions.length !== HANDOFFS_PER_RUN + 1) {
    throw new Error(`expected ${HANDOFFS_PER_RUN + 1} transactions in a run, found ${transactions.length}`);
  }
  return { transactions, runId: String(inserted?.values[0]), taken };
}

/** An empty database with the store's own schema and settings, and the recorded statements prepared on it. */
export function openRawLoop(file: string, recording: Recording): RawLoop {
  openSqliteStore({ file }).close();
  const db = new DatabaseSync(file, { enableForeignKeyConstraints: true, defensive: true });
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864;
    PRAGMA cache_size = -16000; PRAGMA trusted_schema = OFF; PRAGMA mmap_size = 0;`);
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const prepared = new Map<string, StatementSync>();
  for (const { sql } of recording.transactions.flat()) {
    if (!prepared.has(sql)) prepared.set(sql, db.prepare(sql));
  }
  let used: Numbers = { runs: 0, events: 0, work: 0 };

  function freshRun(): { statement: StatementSync; method: Method; values: readonly Value[] }[][] {
    const runId = newRunId();
    const before = used;
    const { taken } = recording;
    used = { runs: used.runs + taken.runs, events: used.events + taken.events, work: used.work + taken.work };
    const fresh = (value: Value): Value => {
      if (typeof value === "string") return value.replaceAll(recording.runId, runId);
      if (typeof value !== "number" || value < MARKS.work) return value;
      const table = value > MARKS.runs ? "runs" : value > MARKS.events ? "events" : "work";
      return value - MARKS[table] + before[table];
    };
    return recording.transactions.map((transaction) =>
      transaction.map(({ sql, method, values }) => ({
        statement: prepared.get(sql) ?? db.prepare(sql),
        method,
        values: values.map(fresh),
      })),
    );
  }

  return {
    prepare(runs) {
      const all = Array.from({ length: runs }, freshRun);
      return () => {
        for (const run of all) {
          for (const transaction of run) {
            begin.run();
            for (const { statement, method, values } of transaction) statement[method](...values);
            commit.run();
          }
        }
      };
    },
    close: () => db.close(),
  };
}

/**
 * The statements between BEGIN and COMMIT, one list per change of the run. Statements outside a transaction (reads, deletion of finished
 * work) join the next one. That makes the yardstick faster, not slower.
 */
function transactionsOf(executed: readonly Executed[]): Executed[][] {
  const transactions: Executed[][] = [];
  let current: Executed[] = [];
  for (const entry of executed) {
    if (entry.sql === "BEGIN IMMEDIATE") continue;
    if (entry.sql !== "COMMIT") current.push(entry);
    else if (current.some(({ sql }) => sql.includes("INSERT INTO commits"))) {
      transactions.push(current);
      current = [];
    }
  }
  transactions.at(-1)?.push(...current);
  return transactions;
}

/** Notes every statement that any connection of this process executes, until the result is called. */
function listen(note: (entry: Executed) => void): () => void {
  const methods = ["run", "get", "all"] as const;
  const originals = methods.map((name) => Object.getOwnPropertyDescriptor(StatementSync.prototype, name) ?? {});
  for (const [index, name] of methods.entries()) {
    const original = originals[index]?.value as (...values: Value[]) => unknown;
    const noted = function (this: StatementSync, ...values: Value[]): unknown {
      note({ sql: this.sourceSQL, method: name, values });
      return original.apply(this, values);
    };
    Object.defineProperty(StatementSync.prototype, name, { ...originals[index], value: noted });
  }
  return () => {
    for (const [index, name] of methods.entries()) {
      Object.defineProperty(StatementSync.prototype, name, originals[index] ?? {});
    }
  };
}

/** Numbers of events go on after the last gap, those of other rows after the last that SQLite gave. */
function countFromMarks(file: string): void {
  const db = new DatabaseSync(file);
  const set = db.prepare("UPDATE sqlite_sequence SET seq = ? WHERE name = ?");
  for (const table of ["runs", "work"] as const) set.run(MARKS[table], table);
  db.prepare("INSERT INTO gaps (first_seq, last_seq) VALUES (?, ?)").run(MARKS.events, MARKS.events);
  db.close();
}

function takenSinceMarks(file: string): Numbers {
  const db = new DatabaseSync(file, { readOnly: true });
  const last = db.prepare("SELECT seq FROM sqlite_sequence WHERE name = ?");
  const taken = (table: "runs" | "work") => Number(last.get(table)?.["seq"]) - MARKS[table];
  const events = Number(db.prepare("SELECT max(seq) AS seq FROM commits").get()?.["seq"]) - MARKS.events;
  const numbers = { runs: taken("runs"), events, work: taken("work") };
  db.close();
  return numbers;
}
