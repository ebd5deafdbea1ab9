// Brings the schema `passrail` to the version that this program knows. Processes that start at once take turns by a lock in the database,
// and a version that is there already is not applied again. A schema that is newer than the program is refused untouched.

import { StoreError } from "../store.ts";
import type { Pool, Query } from "./pool.ts";
import { COMMIT_1 } from "./schema-commit.ts";
import { HOLDS_2 } from "./schema-holds.ts";
import { NODES_3 } from "./schema-nodes.ts";
import { NUMBERS_5 } from "./schema-numbers.ts";
import { SUMS_4 } from "./schema-sums.ts";
import { TRIGGERS_1 } from "./schema-triggers.ts";
import { WRITE_1 } from "./schema-write.ts";
import { TABLES_1 } from "./schema.ts";

/** Entry n - 1 leads from version n - 1 to version n. */
const MIGRATIONS: readonly { readonly name: string; readonly sql: string }[] = [
  { name: "store", sql: TABLES_1 + TRIGGERS_1 + COMMIT_1 + WRITE_1 },
  { name: "holds", sql: HOLDS_2 },
  { name: "nodes", sql: NODES_3 },
  { name: "sums", sql: SUMS_4 },
  { name: "numbers", sql: NUMBERS_5 },
];

/** The version from which on sums are stored. */
export const SUMS_SINCE = 4;

/** "PSRL" twice: a number that no other program is likely to lock. */
const LOCK = "5787776236389159500";

/** Creates or upgrades the schema where it has to, and only then needs the right to. */
export async function migrate(pool: Pool): Promise<void> {
  if ((await schemaVersion(pool.read, pool.shown)) === MIGRATIONS.length) return;
  await pool.transact(async (query) => {
    await query(`SELECT pg_advisory_xact_lock(${LOCK})`);
    // Another process may have done it while we waited for the lock.
    for (let from = await schemaVersion(query, pool.shown); from < MIGRATIONS.length; from += 1)
      await query(migrationSql(from));
  });
}

/** 0 where there is none. Throws `schema_too_new`. */
export async function schemaVersion(query: Query, shown: string): Promise<number> {
  // By the catalogue's rows: names that a session has looked up in vain before are remembered as missing.
  const found = await query("SELECT 1 FROM pg_tables WHERE schemaname = 'passrail' AND tablename = 'schema_versions'");
  if (found.length === 0) return 0;
  const [row] = await query("SELECT coalesce(max(version), 0)::integer AS version FROM passrail.schema_versions");
  const version = Number(row?.["version"]);
  if (version > MIGRATIONS.length)
    throw new StoreError(
      "schema_too_new",
      `${shown} has schema version ${version}; this program knows versions up to ${MIGRATIONS.length}.`,
      "Use the newer Passrail that wrote it.",
    );
  return version;
}

/** The whole upgrade from one version, to be run in one transaction. */
function migrationSql(from: number): string {
  const { name = "", sql = "" } = MIGRATIONS[from] ?? {};
  return `${from === 0 ? BEGINNING : ""}
SET LOCAL search_path = passrail, pg_temp;
${sql}
INSERT INTO passrail.schema_versions (version, name) VALUES (${from + 1}, '${name}');
`;
}

const BEGINNING = `
CREATE SCHEMA IF NOT EXISTS passrail;
CREATE TABLE passrail.schema_versions (
  version    integer PRIMARY KEY,
  name       text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now()
);
`;

/** For projects that apply their migrations themselves. */
export function migrationFiles(): readonly { readonly name: string; readonly sql: string }[] {
  return MIGRATIONS.map(({ name }, from) => ({
    name: `passrail_${String(from + 1).padStart(3, "0")}_${name}.sql`,
    sql: `-- Passrail, schema version ${from + 1}. Run it in one transaction.\n${migrationSql(from)}`,
  }));
}
