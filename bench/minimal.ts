// The other yardstick: a program that does only this workload, with the smallest schema that a durable one can have. Each handoff is one
// transaction with a sync of the disk: the run's row is replaced, one event and the next command are added, the last command goes.

import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { HANDOFFS_PER_RUN, newRunId } from "./workload.ts";

type MinimalLoop = { run(runs: number): void; close(): void };

const TABLES = `
PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; PRAGMA cache_size = -16000;
CREATE TABLE runs (id TEXT PRIMARY KEY, stage INTEGER NOT NULL, state TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE events (seq INTEGER PRIMARY KEY, run_id TEXT NOT NULL, body TEXT NOT NULL) STRICT;
CREATE TABLE outbox (id INTEGER PRIMARY KEY, run_id TEXT NOT NULL, command TEXT NOT NULL) STRICT;
`;

export function openMinimalLoop(file: string): MinimalLoop {
  mkdirSync(dirname(file), { recursive: true });
  const db = new DatabaseSync(file);
  db.exec(TABLES);
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const insert = db.prepare("INSERT INTO runs (id, stage, state) VALUES (?, 0, ?)");
  const move = db.prepare("UPDATE runs SET stage = ?, state = ? WHERE id = ?");
  const note = db.prepare("INSERT INTO events (run_id, body) VALUES (?, ?)");
  const send = db.prepare("INSERT INTO outbox (run_id, command) VALUES (?, ?)");
  const sent = db.prepare("DELETE FROM outbox WHERE id = ?");

  function oneRun(): void {
    const id = newRunId();
    let last: number | bigint | undefined;
    for (let stage = 0; stage <= HANDOFFS_PER_RUN; stage += 1) {
      const at = new Date().toISOString();
      const state = JSON.stringify({ id, stage, verdict: "pass", summary: "done", issues: [], updatedAt: at });
      begin.run();
      if (stage === 0) insert.run(id, state);
      else move.run(stage, state, id);
      note.run(id, JSON.stringify({ type: "stage.finished", stage, verdict: "pass", summary: "done", at }));
      if (last !== undefined) sent.run(last);
      last = send.run(id, JSON.stringify({ type: "start-stage", stage: stage + 1, attempt: 1 })).lastInsertRowid;
      commit.run();
    }
  }

  return {
    run(runs) {
      for (let done = 0; done < runs; done += 1) oneRun();
    },
    close: () => db.close(),
  };
}
