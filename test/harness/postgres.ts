// Databases of a test file on the test run's Postgres.

import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { Client } from "pg";

export type TestDatabase = {
  readonly url: string;
  /** As the superuser, in this database. */
  query(sql: string): Promise<readonly Record<string, unknown>[]>;
  drop(): Promise<void>;
};

/** An empty database. */
export async function createDatabase(): Promise<TestDatabase> {
  const server = await serverUrl();
  const name = `passrail_${randomBytes(6).toString("hex")}`;
  await run(server, `CREATE DATABASE ${name}`);
  const address = new URL(server);
  address.pathname = `/${name}`;
  const url = address.href;
  const drop = async (): Promise<void> => void (await run(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
  return { ...databaseAt(url), drop };
}

/** One that somebody else drops. */
export function databaseAt(url: string): TestDatabase {
  return { url, query: (sql) => run(url, sql), drop: async () => undefined };
}

async function serverUrl(): Promise<string> {
  const given = process.env["DATABASE_URL"];
  if (given !== undefined && given !== "") return given;
  // Only inside of a test can it be loaded, and it must not go into the programs that tests start.
  const runner = "vitest";
  const { inject } = (await import(runner)) as typeof import("vitest");
  const answer = await text(connect(inject("postgresSocket")));
  if (!answer.startsWith("postgres")) throw new Error(`there is no Postgres for tests: ${answer}`);
  return answer;
}

async function run(url: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    const result = await client.query(sql);
    return result.rows as readonly Record<string, unknown>[];
  } finally {
    await client.end();
  }
}
