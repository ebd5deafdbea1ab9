// Brings a database to the schema that this program knows: one transaction per version, a copy of the old file first.
// A database that is newer than the program, or another program's, is refused untouched.

import { closeSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { StoreError } from "../store.ts";
import { SCHEMA_8_CHECKS } from "./schema-checks.ts";
import { SCHEMA_13_COMMITS } from "./schema-commits.ts";
import { SCHEMA_7_FENCE } from "./schema-fence.ts";
import { SCHEMA_6_GATE_HANDOFFS } from "./schema-gate-handoffs.ts";
import { SCHEMA_10_HOLDS } from "./schema-holds.ts";
import { SCHEMA_12_OPEN_RUNS } from "./schema-open-runs.ts";
import { SCHEMA_14_PARTS } from "./schema-parts.ts";
import { SCHEMA_11_SUMS } from "./schema-sums.ts";
import { SCHEMA_9_TOLD } from "./schema-told.ts";
import { SCHEMA_1, SCHEMA_2, SCHEMA_3, SCHEMA_4, SCHEMA_5 } from "./schema.ts";

/** Entry n - 1 leads from version n - 1 to version n. */
export const MIGRATIONS: readonly string[] = [
  SCHEMA_1,
  SCHEMA_2,
  SCHEMA_3,
  SCHEMA_4,
  SCHEMA_5,
  SCHEMA_6_GATE_HANDOFFS,
  SCHEMA_7_FENCE,
  SCHEMA_8_CHECKS,
  SCHEMA_9_TOLD,
  SCHEMA_10_HOLDS,
  SCHEMA_11_SUMS,
  SCHEMA_12_OPEN_RUNS,
  SCHEMA_13_COMMITS,
  SCHEMA_14_PARTS,
];

/** Readers use no newer tables, so commands that only read work on a file that was not upgraded yet. */
export const READABLE_FROM = 4;

/** The versions from which on sums are stored, open runs have an index of their own, the events of a commit share a row, and the parts of a run a table. */
export const SUMS_SINCE = 11;
export const OPEN_RUNS_SINCE = 12;
export const COMMITS_SINCE = 13;
export const PARTS_SINCE = 14;

/** "PSRL": distinguishes our files from those of other programs. */
const APPLICATION_ID = 0x5053524c;

/** Reads only. Returns the version, 0 for an empty database. */
export function requireKnownSchema(db: DatabaseSync, file: string, migrations = MIGRATIONS): number {
  const version = readNumber(db, "PRAGMA user_version");
  const applicationId = readNumber(db, "PRAGMA application_id");
  const tables = readNumber(db, "SELECT count(*) FROM sqlite_schema");
  if (applicationId !== APPLICATION_ID && (applicationId !== 0 || version !== 0 || tables !== 0)) {
    throw new StoreError("store_foreign", `${file} is another program's database.`, "Name another data folder.");
  }
  if (version > migrations.length) {
    throw new StoreError(
      "schema_too_new",
      `${file} has schema version ${version}; this program knows versions up to ${migrations.length}.`,
      "Use the newer Passrail that wrote it, or restore the .bak copy made before that upgrade.",
    );
  }
  return version;
}

/** Can be repeated: a version that is there already is not applied again, a failed one leaves nothing behind. */
export function migrate(db: DatabaseSync, file: string, migrations = MIGRATIONS): void {
  const before = requireKnownSchema(db, file, migrations);
  if (before === migrations.length) return;
  if (before > 0) backUp(db, `${file}.v${before}.bak`);
  for (let version = before; version < migrations.length; version += 1) applyMigration(db, file, migrations, version);
}

function applyMigration(db: DatabaseSync, file: string, migrations: readonly string[], from: number): void {
  // Rebuilding a table needs the references off; they are checked as a whole before the commit.
  db.exec("PRAGMA foreign_keys = OFF");
  db.exec("BEGIN IMMEDIATE");
  try {
    // Another process may have done it while we waited for the lock.
    if (requireKnownSchema(db, file, migrations) === from) {
      db.exec(migrations[from] ?? "");
      if (db.prepare("PRAGMA foreign_key_check").get() !== undefined) {
        throw new Error(`version ${from + 1} of the schema would leave rows without their run`);
      }
      db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${from + 1};`);
    }
    db.exec("COMMIT");
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  } finally {
    db.exec("PRAGMA foreign_keys = ON");
  }
}

/** A consistent copy of a database in use. The name appears only when the copy is whole and on disk. */
function backUp(db: DatabaseSync, target: string): void {
  const partial = `${target}.partial`;
  rmSync(partial, { force: true });
  // VACUUM INTO fills an empty file that exists, so the copy is private from its first byte.
  closeSync(openSync(partial, "wx", 0o600));
  db.prepare("VACUUM INTO ?").run(partial);
  syncPath(partial);
  renameSync(partial, target);
  syncPath(dirname(target));
}

function syncPath(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function readNumber(db: DatabaseSync, sql: string): number {
  return Number(Object.values(db.prepare(sql).get() ?? {})[0] ?? 0);
}
