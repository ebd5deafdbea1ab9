// Runs queries on one connection: each text is prepared once and kept, and each row becomes a record of the port.

import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

export type Queries = ReturnType<typeof createQueries>;

/** The number of the run with an id: the key of every table of a run. */
export const RUN_NUMBER = "(SELECT number FROM runs WHERE id = ?)";

export function createQueries(db: DatabaseSync) {
  const prepared = new Map<string, StatementSync>();

  function statement(sql: string): StatementSync {
    const known = prepared.get(sql) ?? db.prepare(sql);
    prepared.set(sql, known);
    return known;
  }

  /** The compiler does not know which row a statement gives, so each converter names its own. */
  function all<T>(toRecord: (row: never) => T, sql: string, ...values: SQLInputValue[]): readonly T[] {
    return statement(sql)
      .all(...values)
      .map((row) => toRecord(row as never));
  }

  function first<T>(toRecord: (row: never) => T, sql: string, ...values: SQLInputValue[]): T | undefined {
    const row = statement(sql).get(...values);
    return row === undefined ? undefined : toRecord(row as never);
  }

  /** Row by row: a caller that has enough leaves the rest unread. */
  function each<T>(sql: string, ...values: SQLInputValue[]): Iterable<T> {
    return statement(sql).iterate(...values) as Iterable<unknown> as Iterable<T>;
  }

  function numberOf(sql: string, ...values: SQLInputValue[]): number {
    return first((row: { value: number | null }) => row.value, sql, ...values) ?? 0;
  }

  /** Asked for each time: a reader may have opened a file that another process upgrades meanwhile. */
  function schema(): number {
    return first((row: { user_version: number }) => row.user_version, "PRAGMA user_version") ?? 0;
  }

  return { all, first, each, numberOf, schema };
}
