// A database with very many runs: real ones, copied inside the database, each copy with numbers and names of its own. Making them one after
// the other would take hours.

import { Client } from "pg";

/** Numbers that count over all runs, by what they count; every copy gets the next ones. */
const COUNTED = {
  runs: ["run_number"],
  seqs: ["seq", "updated_seq", "ready_seq", "outcome_seq", "settled_seq"],
} as const;
const TABLES = ["runs", "events", "signals", "attempts", "handoffs", "spending"] as const;
const COPIES_AT_ONCE = 50;

/** Afterwards there are `times` as many runs as now. */
export async function multiplyRuns(url: string, times: number): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    // Rows that refer to each other are copied table by table, and none is checked or summed again.
    await client.query("SET session_replication_role = replica; SET search_path = passrail");
    const { rows } = await client.query("SELECT last_seq, last_run, last_handoff FROM identity");
    const last = rows[0] as { last_seq: string; last_run: string; last_handoff: string };
    for (const table of TABLES) {
      const columns = await columnsOf(client, table);
      const values = columns.map((column) => valueOf(table, column, last));
      for (let from = 1; from < times; from += COPIES_AT_ONCE)
        await client.query(
          `INSERT INTO ${table} (${columns.join(", ")}) SELECT ${values.join(", ")}
           FROM ${table} t, generate_series($1::bigint, $2::bigint) AS copy
           WHERE ${table === "runs" ? "t.number" : "t.run_number"} <= ${last.last_run}`,
          [from, Math.min(from + COPIES_AT_ONCE, times) - 1],
        );
    }
    await client.query(
      `UPDATE identity SET last_seq = last_seq * ${times}, last_run = last_run * ${times}, last_handoff = last_handoff * ${times}`,
    );
    await client.query("VACUUM ANALYZE");
    await client.query("CHECKPOINT");
  } finally {
    await client.end();
  }
}

async function columnsOf(client: Client, table: string): Promise<readonly string[]> {
  const { rows } = await client.query(
    `SELECT column_name AS name FROM information_schema.columns
     WHERE table_schema = 'passrail' AND table_name = $1 AND is_generated = 'NEVER' ORDER BY ordinal_position`,
    [table],
  );
  return rows.map(({ name }: { name: string }) => name);
}

type Last = { readonly last_seq: string; readonly last_run: string; readonly last_handoff: string };

function valueOf(table: string, column: string, last: Last): string {
  const own = `t.${column}`;
  if (column === "run_id" || (table === "runs" && column === "id")) return `copy || '-' || ${own}`;
  if (COUNTED.runs.some((name) => name === column) || (table === "runs" && column === "number"))
    return `${own} + copy * ${last.last_run}`;
  if (COUNTED.seqs.some((name) => name === column)) return `${own} + copy * ${last.last_seq}`;
  return table === "handoffs" && column === "id" ? `${own} + copy * ${last.last_handoff}` : own;
}
