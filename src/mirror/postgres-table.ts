// Writes the mirrored rows with SQL. Values are parameters without a type, so an `id` column may be text, a number or a UUID.

import { messageOf } from "../core/result.ts";
import type { DatabaseAddress } from "../settings/database.ts";
import { openPool } from "../store/postgres/pool.ts";
import { isAboutRow, type StatusTable, type TableAnswer, type TableNames } from "./status-table.ts";

export function openPostgresTable(address: DatabaseAddress, names: TableNames): StatusTable {
  const pool = openPool(address, 1);
  const features = upsert(names.schema, names.features, [
    "id",
    "title",
    "status",
    "revision_count",
    "current_agent",
    "pipeline_log",
    "updated_at",
  ]);
  // A mirror that was paused for a while must not write an old status over a newer one.
  const newerOnly = `${features} WHERE target.updated_at IS NULL OR target.updated_at <= excluded.updated_at`;
  const handoffs = upsert(names.schema, names.handoffs, [
    "id",
    "story_id",
    "from_agent",
    "to_agent",
    "status",
    "payload",
    "rejection_reason",
    "created_at",
    "processed_at",
  ]);

  async function write(sql: string, values: readonly unknown[], stop: AbortSignal): Promise<TableAnswer> {
    try {
      const statement = pool.once(sql, ...values);
      // A statement cannot be withdrawn, but the caller stops waiting for it.
      statement.catch(() => undefined);
      return await Promise.race([statement.then((): TableAnswer => ({ type: "written" })), stopped(stop)]);
    } catch (error) {
      const state = error instanceof Error && "code" in error ? error.code : undefined;
      return { type: isAboutRow(state) ? "refused" : "unavailable", reason: reasonOf(error, state) };
    }
  }

  return {
    shown: pool.shown,
    writeFeature: (row, stop) =>
      write(
        newerOnly,
        [
          row.id,
          row.title,
          row.status,
          row.revision_count,
          row.current_agent,
          JSON.stringify(row.pipeline_log),
          row.updated_at,
        ],
        stop,
      ),
    writeHandoff: (row, stop) =>
      write(
        handoffs,
        [
          row.id,
          row.story_id,
          row.from_agent,
          row.to_agent,
          row.status,
          row.payload === null ? null : JSON.stringify(row.payload),
          row.rejection_reason,
          row.created_at,
          row.processed_at,
        ],
        stop,
      ),
    close: () => pool.close(),
  };
}

/** The names come from settings that allow letters, digits and underscores only. */
function upsert(schema: string, table: string, columns: readonly string[]): string {
  const updates = columns.filter((column) => column !== "id").map((column) => `${column} = excluded.${column}`);
  const values = columns.map((_, index) => `$${index + 1}`);
  return `INSERT INTO "${schema}"."${table}" AS target (${columns.join(", ")}) VALUES (${values.join(", ")})
ON CONFLICT (id) DO UPDATE SET ${updates.join(", ")}`;
}

function stopped(signal: AbortSignal): Promise<TableAnswer> {
  return new Promise((resolve) => {
    const end = () => resolve({ type: "unavailable", reason: "Passrail ends" });
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}

function reasonOf(error: unknown, state: unknown): string {
  const text = messageOf(error);
  // The driver has no words for a refused connection to several addresses.
  if (text !== "") return text;
  return typeof state === "string" ? state : "no connection";
}
