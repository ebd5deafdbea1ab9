// Turns a file into one that an earlier program has written, for tests of upgrades and of readers that do not upgrade.

import { DatabaseSync } from "node:sqlite";
import { CHAIN_START, eventHash } from "../chain.ts";
import { STORED_TABLES } from "../tables.ts";
import { COMMITS, type CommitTableRow, prepareHistory, rowsIn } from "./history.ts";
import { SCHEMA_11_SUMS } from "./schema-sums.ts";
import { SCHEMA_9_TOLD } from "./schema-told.ts";
import { SCHEMA_1, SCHEMA_4 } from "./schema.ts";

/** Version 12: every event has a row and a hash of its own, and each kind of part a table. */
export function intoVersion12(file: string): void {
  const db = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  db.exec("BEGIN; DROP TRIGGER events_never_come; DROP TRIGGER commits_never_go");
  const { opening } = prepareHistory(db);
  const heads = new Map<number, string>();
  const insert = db.prepare(
    "INSERT INTO events (seq, run_number, run_id, version, type, at, actor, body, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  for (const commit of db.prepare(`${COMMITS} ORDER BY c.seq`).all() as unknown as readonly CommitTableRow[]) {
    for (const row of rowsIn(commit, opening)) {
      const { seq, run_id, version, type, at, actor, body } = row;
      const hash = eventHash(heads.get(commit.run_number) ?? CHAIN_START, run_id, version, row);
      heads.set(commit.run_number, hash);
      insert.run(seq, commit.run_number, run_id, version, type, at, actor, body, hash);
    }
  }
  const move = db.prepare("UPDATE runs SET head = ? WHERE number = ?");
  for (const [number, head] of heads) move.run(head, number);
  db.exec("DROP VIEW agent_handoffs; DROP VIEW handoff_rows; DROP TRIGGER sums_timed");
  for (const table of ["attempts", "handoffs", "inbox", "signals"]) {
    const [made = ""] = new RegExp(`CREATE TABLE ${table} \\([^;]*;`, "u").exec(SCHEMA_1) ?? [];
    const added = table === "handoffs" ? "ALTER TABLE handoffs ADD COLUMN added TEXT" : "";
    const columns = STORED_TABLES.find(({ name }) => name === table)?.columns.join(", ");
    db.exec(`CREATE TEMP TABLE kept AS SELECT ${columns} FROM ${table}; DROP VIEW ${table}; ${made} ${added};
      INSERT INTO ${table} (${columns}) SELECT ${columns} FROM kept; DROP TABLE kept`);
  }
  db.exec(`DROP TABLE parts; DROP TABLE handoff_ids; DROP TABLE commits; DROP TABLE shapes;
    ${SCHEMA_4.slice(SCHEMA_4.lastIndexOf("CREATE INDEX handoffs_pending"))}
    ${SCHEMA_11_SUMS.slice(SCHEMA_11_SUMS.indexOf("CREATE TRIGGER sums_timed"))}
    ${SCHEMA_9_TOLD.slice(SCHEMA_9_TOLD.indexOf("CREATE VIEW handoff_rows"))}
    PRAGMA user_version = 12; COMMIT`);
  db.close();
}

/** Removes the additions of versions 11 and 12. Call it after `intoVersion12`. */
export function intoVersion10(file: string): void {
  const db = new DatabaseSync(file);
  db.exec(`
    DROP TRIGGER sums_added; DROP TRIGGER sums_settled; DROP TRIGGER sums_taken; DROP TRIGGER sums_timed; DROP TABLE spending_sums;
    DROP INDEX runs_open; DROP INDEX runs_ended_by_status; DROP INDEX runs_ended_by_word; DROP INDEX runs_by_title;
    CREATE INDEX runs_by_status ON runs (status, number, flow); CREATE INDEX runs_by_word ON runs (word, number, flow);
    PRAGMA user_version = 10`);
  db.close();
}
