// The port of a status mirror's target: a table of features and a table of handoffs in a database that is not Passrail's store.

import type { PipelineLogEntry } from "../core/view/feature.ts";
import type { HandoffRowView } from "../core/view/handoff-row.ts";

/** A row of source 000's table `features`. */
export type FeatureRow = {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly revision_count: number;
  readonly current_agent: string | null;
  readonly pipeline_log: readonly PipelineLogEntry[];
  readonly updated_at: string;
};

/**
 * "refused": the database does not take this row and never will, for example because its ids are UUIDs. "unavailable": no row can be
 * written now; the same write is tried again.
 */
export type TableAnswer =
  | { readonly type: "written" }
  | { readonly type: "refused"; readonly reason: string }
  | { readonly type: "unavailable"; readonly reason: string };

export interface StatusTable {
  /** Where the rows go, without a password. */
  readonly shown: string;
  /** Gives up when the signal aborts, or after a time limit of its own. */
  writeFeature(row: FeatureRow, stop: AbortSignal): Promise<TableAnswer>;
  writeHandoff(row: HandoffRowView, stop: AbortSignal): Promise<TableAnswer>;
  close(): void;
}

export type TableNames = {
  readonly schema: string;
  readonly features: string;
  readonly handoffs: string;
};

/** SQLSTATE classes that are about the values of one row: bad data, and broken constraints. */
export function isAboutRow(sqlState: unknown): boolean {
  return typeof sqlState === "string" && /^(?:22|23)[0-9A-Z]{3}$/u.test(sqlState);
}
