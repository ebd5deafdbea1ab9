// Opens the database file with the settings that our promises rest on: WAL with a sync per commit, references checked,
// nothing mapped into memory. Of the tables it knows only the schema's version.

import { existsSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StoreError } from "../store.ts";
import { explainError } from "./errors.ts";
import { preparePrivateFile, prepareFolder, requireSafeFolder } from "./folder.ts";
import { READABLE_FROM, migrate, requireKnownSchema } from "./migrations.ts";
import { requireSqlite } from "./version.ts";

/** "auto" checks what was not closed cleanly up to 200 MB (about 0.7 s) and what is small always. */
export type Check = "auto" | "always" | "never";

const CHEAP_BYTES = 16_000_000;
const BEARABLE_BYTES = 200_000_000;
const BUSY_TIMEOUT_MS = 5000;

/** A connection that may write. Creates the folder and the file, upgrades the schema. */
export function openWriter(path: string, check: Check): DatabaseSync {
  requireOwnSqlite();
  const file = join(prepareFolder(dirname(path)), basename(path));
  const isUnclean = sizeOf(`${file}-wal`) > 0;
  if (sizeOf(file) > 0) probe(file);
  preparePrivateFile(file);
  return connect(file, false, (db) => setUp(db, file, check, isUnclean));
}

/** A connection that never writes, for readers beside a running engine. */
export function openReader(path: string): DatabaseSync {
  requireOwnSqlite();
  if (!existsSync(path)) {
    throw new StoreError(
      "store_missing",
      `There is no database at ${path}.`,
      "Start a run first, or name the data folder.",
    );
  }
  const file = join(requireSafeFolder(dirname(path)), basename(path));
  return connect(file, true, (db) => {
    const version = requireKnownSchema(db, file);
    if (version < READABLE_FROM) {
      throw new StoreError(
        "schema_too_old",
        `${file} has schema version ${version}; reading needs ${READABLE_FROM}.`,
        "Start Passrail once: it copies the file and upgrades it.",
      );
    }
  });
}

function setUp(db: DatabaseSync, file: string, check: Check, isUnclean: boolean): void {
  const mode = db.prepare("PRAGMA journal_mode = WAL").get()?.["journal_mode"];
  if (mode !== "wal") {
    throw new StoreError("store_io", `${file} cannot be used in WAL mode.`, "Put the data folder on a local disk.");
  }
  // 16 MB of log between checkpoints: a run's pages change with every handoff and should be copied into the file once, not each time.
  db.exec(`PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864;
    PRAGMA cache_size = -16000;`);
  const bearable = isUnclean ? BEARABLE_BYTES : CHEAP_BYTES;
  if (check === "always" || (check === "auto" && sizeOf(file) <= bearable)) requireSound(db, file);
  migrate(db, file);
}

/** A newer or foreign file must stay as it is, and even a change of the journal mode would write to it. */
function probe(file: string): void {
  // A file whose making was cut off has a rollback journal; only a connection that may write can undo the half of it.
  const isHalfMade = sizeOf(`${file}-journal`) > 0;
  connect(file, !isHalfMade, (db) => requireKnownSchema(db, file)).close();
}

function connect(file: string, readOnly: boolean, setUpConnection: (db: DatabaseSync) => void): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file, {
      readOnly,
      timeout: BUSY_TIMEOUT_MS,
      enableForeignKeyConstraints: true,
      defensive: true,
    });
    db.exec("PRAGMA trusted_schema = OFF; PRAGMA mmap_size = 0;");
    setUpConnection(db);
    return db;
  } catch (error) {
    db?.close();
    throw explainError(error, file);
  }
}

function requireSound(db: DatabaseSync, file: string): void {
  const found = db.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
  if (found === "ok") return;
  throw new StoreError(
    "store_damaged",
    `${file} is damaged: ${String(found)}`,
    "Keep a copy of it and restore a backup.",
  );
}

/** Asks the library itself: a Node of a distribution may be linked to another SQLite than it was built with. */
function requireOwnSqlite(): void {
  const db = new DatabaseSync(":memory:");
  try {
    requireSqlite(String(db.prepare("SELECT sqlite_version() AS version").get()?.["version"]));
  } finally {
    db.close();
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
