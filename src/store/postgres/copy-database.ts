// Reads a whole store from a database, and writes one into an empty one: in one transaction, which commits only if the copy is sound.

import type { DatabaseAddress } from "../../settings/database.ts";
import type { Json } from "../../core/json.ts";
import { StoreError } from "../store.ts";
import { type CopiedRow, STORED_TABLES, type StoredTable, SUMS, type TableSource } from "../tables.ts";
import { migrate } from "./migrations.ts";
import { openPool, type Pool, type Query } from "./pool.ts";
import { toJsonText } from "./text.ts";
import { findDamages } from "./verify.ts";

const PAGE = 500;

export async function withDatabaseSource<T>(
  address: DatabaseAddress,
  use: (source: TableSource) => Promise<T>,
): Promise<T> {
  return withPool(address, (pool) =>
    pool.transact(async (query) => {
      const [numbers] = await query(
        "SELECT last_seq AS seq, last_run AS run, last_handoff AS handoff, last_work AS work FROM passrail.identity",
      );
      const [running] = await query("SELECT count(*) AS count FROM passrail.attempts WHERE status = 'running'");
      return use({
        shown: pool.shown,
        running: Number(running?.["count"]),
        last: numbers as TableSource["last"],
        rows: (table) => pagesOf(query, table),
      });
    }, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
  );
}

async function* pagesOf(query: Query, { name, key, columns }: StoredTable): AsyncGenerator<readonly CopiedRow[]> {
  const selected = columns.map((column) => (column === "facts" ? "facts::text AS facts" : column)).join(", ");
  await query(`DECLARE copied NO SCROLL CURSOR FOR SELECT ${selected} FROM passrail.${name} ORDER BY ${key}`);
  for (;;) {
    const page = (await query(`FETCH ${PAGE} FROM copied`)) as readonly CopiedRow[];
    if (page.length > 0) yield page;
    if (page.length < PAGE) break;
  }
  await query("CLOSE copied");
}

/** Refuses a database that holds runs. */
export async function copyToDatabase(source: TableSource, address: DatabaseAddress): Promise<void> {
  await withPool(address, async (pool) => {
    await pool.transact(async (query) => {
      const [given] = await query("SELECT last_seq FROM passrail.identity FOR UPDATE");
      if (Number(given?.["last_seq"]) !== 0) throw notEmpty(pool.shown);
      for (const table of STORED_TABLES) await fill(query, source, table);
      const { seq, run, handoff, work } = source.last;
      await query(
        "UPDATE passrail.identity SET last_seq = $1, last_run = $2, last_handoff = $3, last_work = $4",
        seq,
        run,
        handoff,
        work,
      );
      for await (const { what } of findDamages(query))
        throw new StoreError(
          "store_damaged",
          `${source.shown} cannot be copied: ${what}.`,
          "passrail verify   names all damage",
        );
    });
  });
}

async function fill(query: Query, { rows }: TableSource, table: StoredTable): Promise<void> {
  const { name, columns } = table;
  if (name === SUMS) await query(`DELETE FROM passrail.${SUMS}`);
  const list = columns.join(", ");
  const sql = `INSERT INTO passrail.${name} (${list}) SELECT ${list} FROM jsonb_populate_recordset(NULL::passrail.${name}, $1)`;
  for await (const page of rows(table)) await query(sql, toJsonText(page.map(withFacts)));
}

/** The one column that is JSON here and text there. */
function withFacts(row: CopiedRow): Readonly<Record<string, Json>> {
  const { facts } = row;
  return typeof facts === "string" ? { ...row, facts: JSON.parse(facts) as Json } : row;
}

async function withPool<T>(address: DatabaseAddress, use: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = openPool(address, 1);
  try {
    await migrate(pool);
    return await use(pool);
  } finally {
    pool.close();
  }
}

function notEmpty(shown: string): StoreError {
  return new StoreError(
    "store_not_empty",
    `${shown} holds runs already.`,
    "Name an empty database, or drop the schema passrail in it if you do not need it any more.",
  );
}
