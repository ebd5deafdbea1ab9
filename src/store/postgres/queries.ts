// Runs queries and turns each row into a record of the port.

import type { Pool } from "./pool.ts";

export type DatabaseQueries = ReturnType<typeof createQueries>;

/** The number of the run with an id: the key of every table of a run. The id is always the first value. */
export const RUN_NUMBER = "(SELECT number FROM passrail.runs WHERE id = $1)";

export function createQueries({ read }: Pick<Pool, "read">) {
  /** The compiler does not know which row a statement gives, so each converter names its own. */
  async function all<T>(
    toRecord: (row: never) => T,
    sql: string,
    ...values: readonly unknown[]
  ): Promise<readonly T[]> {
    return (await read(sql, ...values)).map((row) => toRecord(row as never));
  }

  async function first<T>(
    toRecord: (row: never) => T,
    sql: string,
    ...values: readonly unknown[]
  ): Promise<T | undefined> {
    const [row] = await read(sql, ...values);
    return row === undefined ? undefined : toRecord(row as never);
  }

  return { all, first };
}

/** Collects conditions whose values are numbered as they come. */
export function createConditions() {
  const conditions = ["true"];
  const values: unknown[] = [];
  return {
    values,
    /** Each `?` is replaced by the value. */
    require(condition: string, value?: unknown): void {
      if (value !== undefined) values.push(value);
      conditions.push(condition.replaceAll("?", `$${values.length}`));
    },
    get where(): string {
      return conditions.join(" AND ");
    },
    next: (value: unknown): string => `$${values.push(value)}`,
  };
}
