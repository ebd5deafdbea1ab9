// Projects the events of a run into an empty database in memory, to compare the rows with the stored ones. Every store's verify uses it.

import { DatabaseSync } from "node:sqlite";
import type { RunEvent } from "../../core/run/event.ts";
import { rowChanges } from "../projections.ts";
import { MIGRATIONS } from "./migrations.ts";
import { prepareProjections } from "./project.ts";

/** The columns that follow from events; ids and noted facts do not. */
export const PROJECTIONS = {
  attempts: `SELECT run_id, stage, attempt, track, status, handoff, ready_seq, ready_at, started_at, ended_at, outcome_seq
    FROM attempts WHERE run_number = ? ORDER BY stage, attempt`,
  handoffs: `SELECT run_id, number, track, from_stage, from_agent, from_attempt, to_stage, to_agent, loop, state,
    rejection_reason, created_at, processed_at FROM handoffs WHERE run_number = ? ORDER BY number`,
  "what handoffs add": "SELECT number, added FROM handoffs WHERE run_number = ? ORDER BY number",
  inbox: "SELECT run_id, number, kind, stage, opened_at, item FROM inbox WHERE run_number = ? ORDER BY number",
  spending: `SELECT run_id, stage, attempt, agent, runner, model, told_model, ticket, day, started_at, reserved_usd, reserved_tokens,
    usd, input_tokens, output_tokens, cached_tokens, settled_seq FROM spending WHERE run_number = ? ORDER BY stage, attempt`,
} as const;

/** The schema whose upgrade projects a table again: in an older file its rows follow older rules, which are gone. */
export const PROJECTED_SINCE: Readonly<Partial<Record<keyof typeof PROJECTIONS, number>>> = {
  handoffs: 6,
  "what handoffs add": 9,
};

export type ProjectedTable = keyof typeof PROJECTIONS;
type ProjectedRows = Readonly<Record<string, readonly unknown[]>>;

export type NumberedEvent = { readonly seq: number; readonly event: RunEvent };

export function prepareRebuild(): (
  run: { readonly id: string; readonly number: number },
  events: Iterable<NumberedEvent>,
) => ProjectedRows {
  const empty = new DatabaseSync(":memory:", { enableForeignKeyConstraints: false });
  for (const sql of MIGRATIONS) empty.exec(sql);
  const project = prepareProjections(empty);
  // The views name the run by the id that its row has.
  const insertRun = empty.prepare(`
    INSERT INTO runs (number, id, flow, flow_hash, subject_id, subject_title, created_at, status, word, version, head, updated_at,
      updated_seq, state) VALUES (?, ?, '', '', '', '', '', '', '', 0, '', '', 0, '')`);
  const tables = Object.entries(PROJECTIONS).map(([table, sql]) => ({ table, rebuilt: empty.prepare(sql) }));
  return (run, events) => {
    empty.exec("BEGIN");
    try {
      insertRun.run(run.number, run.id);
      for (const { event, seq } of events) project(run, rowChanges([event], seq));
      return Object.fromEntries(tables.map(({ table, rebuilt }) => [table, rebuilt.all(run.number)]));
    } finally {
      empty.exec("ROLLBACK");
    }
  };
}
