// The connections to the database. Nothing here needs a session: every statement runs alone or in one transaction, without names, so that
// a pooler in transaction mode may be in between. Every statement has a time limit, because a cut network gives no error.

import { readFileSync } from "node:fs";
import { type ClientConfig, Pool as ConnectionPool, type PoolClient, types } from "pg";
import type { DatabaseAddress } from "../../settings/database.ts";
import { explainError, isLost } from "./errors.ts";
import { optional } from "../../core/optional.ts";

export type DatabaseRow = Readonly<Record<string, unknown>>;
export type Query = (sql: string, ...values: readonly unknown[]) => Promise<readonly DatabaseRow[]>;

export type Pool = {
  readonly shown: string;
  /** For statements that only read: repeated for a while if the connection breaks. */
  readonly read: Query;
  /** Once. Throws what the driver throws. */
  readonly once: Query;
  /** One transaction on one connection. `work` must not be repeated alone; a failure rolls back. */
  transact<T>(work: (query: Query) => Promise<T>, begin?: string): Promise<T>;
  /** Ends the connections as soon as they are idle. */
  close(): void;
};

const CONNECTIONS = 5;
const CONNECT_MS = 5000;
const STATEMENT_MS = 30_000;
/** Maximum tries of a read: before the first answer of the database the user waits for the reason; later the database will be back. */
const READ_TRIES = { first: 4, later: 14 } as const;
const RETRY_MS = 250;
const RETRY_MAX_MS = 1000;

export function openPool(address: DatabaseAddress, connections = CONNECTIONS): Pool {
  const { shown } = address;
  const pool = new ConnectionPool({
    ...clientOptions(address),
    max: connections,
    idleTimeoutMillis: 30_000,
    // A command that has done its work ends, whatever is still open.
    allowExitOnIdle: true,
  });
  // An idle connection that breaks is replaced at the next use; without a listener it would end the process.
  pool.on("error", () => undefined);

  let wasReached = false;
  const once: Query = async (sql, ...values) => {
    const { rows } = await pool.query(sql, [...values]);
    wasReached = true;
    return rows as readonly DatabaseRow[];
  };

  async function read(sql: string, ...values: readonly unknown[]): Promise<readonly DatabaseRow[]> {
    for (let tried = 1; ; tried += 1) {
      try {
        return await once(sql, ...values);
      } catch (error) {
        const tries = wasReached ? READ_TRIES.later : READ_TRIES.first;
        if (tried >= tries || !isLost(error)) throw explainError(error, shown);
        await new Promise((resolve) => setTimeout(resolve, Math.min(RETRY_MS * tried, RETRY_MAX_MS)));
      }
    }
  }

  async function transact<T>(work: (query: Query) => Promise<T>, begin = "BEGIN"): Promise<T> {
    let client: PoolClient | undefined;
    let failure: unknown;
    try {
      const own = await pool.connect();
      client = own;
      await own.query(begin);
      const done = await work(
        async (sql, ...values) => (await own.query(sql, [...values])).rows as readonly DatabaseRow[],
      );
      await own.query("COMMIT");
      return done;
    } catch (error) {
      failure = error;
      throw explainError(error, shown);
    } finally {
      // A connection in an unknown state is not used again; the server rolls back what it left.
      client?.release(failure !== undefined);
    }
  }

  return { shown, read, once, transact, close: () => void pool.end().catch(() => undefined) };
}

function clientOptions(address: DatabaseAddress): ClientConfig {
  const { host, port, database, user, password, tls, rootCertificate } = address;
  const ca = rootCertificate === undefined ? {} : { ca: readFileSync(rootCertificate, "utf8") };
  return {
    host,
    port,
    database,
    user,
    ...optional({ password }),
    ssl: tls === "off" ? false : { rejectUnauthorized: tls === "verified", ...ca },
    application_name: "passrail",
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: STATEMENT_MS,
    keepAlive: true,
    types: { getTypeParser: parserOf as typeof types.getTypeParser },
  };
}

/** Our numbers stay far below 2^53. */
function parserOf(oid: Parameters<typeof types.getTypeParser>[0], format?: "text" | "binary"): unknown {
  const { INT8, NUMERIC } = types.builtins;
  return oid === INT8 || oid === NUMERIC ? Number : types.getTypeParser(oid, format);
}
