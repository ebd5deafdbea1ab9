// Reads a whole store from a file, and writes one into a new file. The name of the new file appears only when it is whole, verified and on
// disk.

import { chmodSync, closeSync, constants, copyFileSync, fsyncSync, linkSync, openSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StoreError } from "../store.ts";
import {
  type CopiedRow,
  type LastNumbers,
  STORED_TABLES,
  type StoredTable,
  SUMS,
  type TableSource,
} from "../tables.ts";
import type { EventRow } from "../rows.ts";
import { createJoining } from "../verify-chain.ts";
import { openWriter } from "./connection.ts";
import { explainError } from "./errors.ts";
import { prepareFolder } from "./folder.ts";
import { COMMITS, type CommitTableRow, prepareHistory, rowsIn } from "./history.ts";
import { LAST_HANDOFF } from "./schema-parts.ts";
import { prepareShapes } from "./shapes.ts";
import { verifyFile } from "./verify.ts";

const PAGE = 500;
const EVENTS = "events";
const NUMBERED = { run: "runs", work: "work" } as const;

/** One snapshot, whatever other processes write meanwhile. An older file is upgraded first, as every writer does. */
export async function withFileSource<T>(file: string, use: (source: TableSource) => Promise<T>): Promise<T> {
  const db = openWriter(file, "auto");
  try {
    db.exec("BEGIN");
    const count = (sql: string): number => Number(Object.values(db.prepare(sql).get() ?? {})[0] ?? 0);
    const last = (table: string): number => count(`SELECT seq FROM sqlite_sequence WHERE name = '${table}'`);
    return await use({
      shown: file,
      running: count("SELECT count(*) FROM attempts WHERE status = 'running'"),
      last: {
        seq: prepareHistory(db).lastSeq(),
        run: last(NUMBERED.run),
        handoff: count(`SELECT ${LAST_HANDOFF}`),
        work: last(NUMBERED.work),
      },
      rows: (table) => inPages(table.name === EVENTS ? eventsIn(db) : rowsOf(db, table)),
    });
  } catch (error) {
    throw explainError(error, file);
  } finally {
    db.close();
  }
}

function rowsOf(db: DatabaseSync, { name, key, columns }: StoredTable): Iterable<CopiedRow> {
  return db
    .prepare(`SELECT ${columns.join(", ")} FROM ${name} ORDER BY ${key}`)
    .iterate() as Iterable<unknown> as Iterable<CopiedRow>;
}

/** Each event as a row of its own, the way Postgres has them. */
function* eventsIn(db: DatabaseSync): Generator<CopiedRow> {
  yield* db.prepare("SELECT * FROM events ORDER BY seq").iterate() as Iterable<unknown> as Iterable<CopiedRow>;
  const { opening } = prepareHistory(db);
  const commits = db.prepare(`${COMMITS} ORDER BY c.seq`).iterate() as Iterable<unknown> as Iterable<CommitTableRow>;
  for (const commit of commits)
    for (const row of rowsIn(commit, opening)) yield { ...row, run_number: commit.run_number };
}

async function* inPages(rows: Iterable<CopiedRow>): AsyncGenerator<readonly CopiedRow[]> {
  let page: CopiedRow[] = [];
  for (const row of rows) {
    page.push(row);
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

/** Refuses a file that is there. The copy is made in `folder`, the state folder: no other folder is touched but for the file itself. */
export async function copyToFile(source: TableSource, target: string, folder: string): Promise<void> {
  const made = join(prepareFolder(folder), `copy-${process.pid}.partial`);
  const beside = `${target}.${process.pid}.partial`;
  removeFile(made);
  try {
    openWriter(made, "never").close();
    await fill(source, made);
    const [damage] = await verifyFile(made);
    if (damage !== undefined)
      throw new StoreError(
        "store_damaged",
        `${source.shown} cannot be copied: ${damage.what}.`,
        "passrail verify   names all damage",
      );
    // Beside its last name, which may be on another disk; it keeps the mode 0600.
    copyFileSync(made, beside, constants.COPYFILE_EXCL);
    syncPath(beside);
    // A link, not a rename: it never replaces a file.
    linkSync(beside, target);
    syncPath(dirname(target));
  } catch (error) {
    throw explained(error, target);
  } finally {
    removeFile(made);
    rmSync(beside, { force: true });
  }
}

/** Another place's file is read from a copy in the state folder: reading it where it is would leave files beside it. */
export async function withCopiedSource<T>(
  file: string,
  folder: string,
  use: (source: TableSource) => Promise<T>,
): Promise<T> {
  const copy = join(prepareFolder(folder), `restore-${process.pid}.partial`);
  removeFile(copy);
  try {
    copyFileSync(file, copy, constants.COPYFILE_EXCL);
    chmodSync(copy, 0o600);
    return await withFileSource(copy, (source) => use({ ...source, shown: file }));
  } catch (error) {
    throw explained(error, file);
  } finally {
    removeFile(copy);
  }
}

function explained(error: unknown, file: string): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EEXIST") return thereAlready(file);
  if (code !== "ENOENT" && code !== "EACCES" && code !== "EISDIR") return error;
  return new StoreError(
    "store_io",
    `${file} cannot be read or written (${code}).`,
    "Name a file in a folder of yours.",
  );
}

async function fill({ last, rows }: TableSource, file: string): Promise<void> {
  const db = new DatabaseSync(file, { enableForeignKeyConstraints: true });
  try {
    db.exec("PRAGMA journal_mode = DELETE; BEGIN IMMEDIATE");
    for (const table of STORED_TABLES) {
      const { name, columns } = table;
      if (name === EVENTS) {
        await fillCommits(db, rows(table));
        continue;
      }
      if (name === SUMS) db.exec(`DELETE FROM ${SUMS}`);
      const insert = db.prepare(
        `INSERT INTO ${name} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
      );
      for await (const page of rows(table))
        for (const row of page) insert.run(...columns.map((column) => row[column] ?? null));
    }
    setNumbers(db, last);
    keepHandoff(db, last);
    db.exec("COMMIT");
  } finally {
    db.close();
  }
}

/** Whatever had a hash of its own is a commit, with that hash. */
async function fillCommits(db: DatabaseSync, pages: AsyncIterable<readonly CopiedRow[]>): Promise<void> {
  const shapes = prepareShapes(db);
  const joining = createJoining();
  const insert = db.prepare(
    "INSERT INTO commits (seq, run_number, version, at, actor, body, hash, last_handoff) VALUES (?, ?, ?, ?, ?, ?, ?, 0)",
  );
  const place = db.prepare("INSERT INTO parts (run_number, kind, name, number, ready_seq) VALUES (?, 'c', '', ?, ?)");
  const add = (commits: readonly (readonly EventRow[])[]): void => {
    for (const commit of commits) {
      const last = commit.at(-1) as EventRow & { readonly run_number: number };
      const { at, actor, body } = shapes.packRows(commit);
      insert.run(last.seq, last.run_number, last.version, at, actor, body, last.hash);
      place.run(last.run_number, last.version, last.seq);
    }
  };
  for await (const page of pages) for (const row of page) add(joining.add(row as unknown as EventRow));
  add(joining.rest());
}

function setNumbers(db: DatabaseSync, last: LastNumbers): void {
  const forget = db.prepare("DELETE FROM sqlite_sequence WHERE name = ?");
  const note = db.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)");
  for (const [key, table] of Object.entries(NUMBERED)) {
    forget.run(table);
    note.run(table, last[key as keyof typeof NUMBERED]);
  }
}

/** The number that a copy has given counts, also if it has fewer rows now. */
function keepHandoff(db: DatabaseSync, { handoff }: LastNumbers): void {
  if (handoff > 0) db.prepare("INSERT INTO handoff_ids (id) VALUES (?) ON CONFLICT DO NOTHING").run(handoff);
}

function thereAlready(file: string): StoreError {
  return new StoreError(
    "store_not_empty",
    `${file} is there already.`,
    `Move it away first: mv '${file}' '${file}.old'`,
  );
}

function removeFile(file: string): void {
  for (const end of ["", "-wal", "-shm", "-journal"]) rmSync(`${file}${end}`, { force: true });
}

function syncPath(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
