// Statements that write many rows at once. This is the hot path of the program: few statements, many rows in each.

import type { DatabaseSync, StatementSync } from "node:sqlite";

/** A statement for this number of rows, prepared when it is first needed. */
export function byRows(db: DatabaseSync, sql: (rows: number) => string): (rows: number) => StatementSync {
  const prepared: StatementSync[] = [];
  return (rows) => {
    const statement = prepared[rows] ?? db.prepare(sql(rows));
    prepared[rows] = statement;
    return statement;
  };
}

export function repeat(rows: number, row: (index: number) => string): string {
  return Array.from({ length: rows }, (_, index) => row(index)).join(", ");
}
