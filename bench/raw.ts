// The yardstick: the very statements that one run of the workload executes, recorded once and then repeated with fresh ids in a
// plain loop, one transaction per handoff. Same tables, indexes, triggers, settings and row sizes; no engine, no JSON, no hashing.

import { DatabaseSync, StatementSync } from "node:sqlite";
import { openSqliteStore } from "../src/store/sqlite/open.ts";
import { HANDOFFS_PER_RUN, newRunId, openWorkload } from "./workload.ts";

type Value = string | number | bigint | null;
type Executed = { readonly sql: string; readonly values: readonly Value[] };

/** The transactions of one run: its creation, then its handoffs. */
export type Recording = {
  readonly transactions: readonly (readonly Executed[])[];
  readonly runId: string;
  /** Numbers above these were given out by the store while it was recorded. */
  readonly lastSeq: number;
  readonly lastWork: number;
  /** How many of them one run takes. */
  readonly events: number;
  readonly works: number;
};

export type RawLoop = {
  /** Makes the values beforehand, so that only statements are in the loop; the result does the runs. */
  prepare(runs: number): () => void;
  close(): void;
};

/** Runs the workload once with every statement noted on its way. Enough runs come first that the store's numbers stand out. */
export async function record(home: string): Promise<Recording> {
  const workload = await openWorkload(home);
  await workload.complete(50);
  await workload.engine.idle();
  const before = numbersOf(`${home}/passrail.db`);
  const executed: Executed[] = [];
  const restore = listen((sql, values) => executed.push({ sql, values }));
  try {
    await workload.complete(1);
    await workload.engine.idle();
  } finally {
    restore();
  }
  await workload.close();
  const after = numbersOf(`${home}/passrail.db`);
  const transactions = transactionsOf(executed);
  const inserted = executed.find(({ sql }) => sql.includes("INSERT INTO runs"));
  const runId = String(inserted?.values[0]);
  if (transactions.length !== HANDOFFS_PER_RUN + 1) {
    throw new Error(`expected ${HANDOFFS_PER_RUN + 1} transactions in a run, found ${transactions.length}`);
  }
  const events = after.lastSeq - before.lastSeq;
  const works = after.lastWork - before.lastWork;
  return { transactions, runId, ...before, events, works };
}

/** An empty database with the store's own schema and settings, and the recorded statements prepared on it. */
export function openRawLoop(file: string, recording: Recording): RawLoop {
  openSqliteStore({ file }).close();
  const db = new DatabaseSync(file, { enableForeignKeyConstraints: true, defensive: true });
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864;
    PRAGMA cache_size = -16000; PRAGMA trusted_schema = OFF; PRAGMA mmap_size = 0;`);
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const prepared = new Map<string, StatementSync>();
  for (const { sql } of recording.transactions.flat()) {
    if (!prepared.has(sql)) prepared.set(sql, db.prepare(sql));
  }
  let seq = 0;
  let work = 0;

  function freshRun(): { statement: StatementSync; isQuery: boolean; values: readonly Value[] }[][] {
    const runId = newRunId();
    const shiftSeq = seq - recording.lastSeq;
    const shiftWork = work - recording.lastWork;
    seq += recording.events;
    work += recording.works;
    const fresh = (sql: string, value: Value): Value => {
      if (typeof value === "string") return value.replaceAll(recording.runId, runId);
      if (typeof value !== "number") return value;
      if (sql.startsWith("DELETE FROM work")) return value + shiftWork;
      return value > recording.lastSeq ? value + shiftSeq : value;
    };
    return recording.transactions.map((transaction) =>
      transaction.map(({ sql, values }) => ({
        statement: prepared.get(sql) ?? db.prepare(sql),
        isQuery: sql.trimStart().startsWith("SELECT"),
        values: values.map((value) => fresh(sql, value)),
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
            for (const { statement, isQuery, values } of transaction) {
              if (isQuery) statement.get(...values);
              else statement.run(...values);
            }
            commit.run();
          }
        }
      };
    },
    close: () => db.close(),
  };
}

/**
 * What stands between BEGIN and COMMIT. The deletion of done work rides along with a transaction of the run instead of having
 * its own, and what is read outside of transactions is left out: both make the yardstick faster, not slower.
 */
function transactionsOf(executed: readonly Executed[]): Executed[][] {
  const transactions: Executed[][] = [];
  let current: Executed[] | undefined;
  const loose: Executed[] = [];
  for (const entry of executed) {
    if (entry.sql === "BEGIN IMMEDIATE") current = [];
    else if (entry.sql === "COMMIT") {
      const events = current?.filter(({ sql }) => sql.includes("INSERT INTO events")) ?? [];
      if (current !== undefined && events.length > 0) transactions.push(current);
      else loose.push(...(current ?? []).filter(({ sql }) => !sql.includes("INSERT INTO flows")));
      current = undefined;
    } else current?.push(entry);
  }
  transactions.at(-1)?.push(...loose);
  return transactions;
}

/** Notes every statement that any connection of this process executes, until the result is called. */
function listen(note: (sql: string, values: readonly Value[]) => void): () => void {
  const methods = ["run", "get", "all"] as const;
  const originals = methods.map((name) => Object.getOwnPropertyDescriptor(StatementSync.prototype, name) ?? {});
  for (const [index, name] of methods.entries()) {
    const original = originals[index]?.value as (...values: Value[]) => unknown;
    const noted = function (this: StatementSync, ...values: Value[]): unknown {
      note(this.sourceSQL, values);
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

function numbersOf(file: string): { readonly lastSeq: number; readonly lastWork: number } {
  const db = new DatabaseSync(file, { readOnly: true });
  const last = db.prepare("SELECT seq FROM sqlite_sequence WHERE name = ?");
  const numbers = { lastSeq: Number(last.get("events")?.["seq"]), lastWork: Number(last.get("work")?.["seq"]) };
  db.close();
  return numbers;
}
