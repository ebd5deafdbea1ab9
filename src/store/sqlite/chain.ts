// The hash chain of a run: each event's hash covers the event and the hash before it, so a change of any old row shows.
// It proves that nothing was edited in place; whoever can write the whole file could also compute a new chain.

import { hash } from "node:crypto";
import type { EventRow } from "./rows.ts";

/** What stands before the first event of a run. */
export const CHAIN_START = "";

type Columns = Pick<EventRow, "type" | "at" | "actor" | "body">;

/** The columns are quoted as JSON, so that text cannot move from one column to the next unnoticed. */
export function eventHash(previous: string, runId: string, version: number, columns: Columns): string {
  const quoted = JSON.stringify([runId, version, columns.type, columns.at, columns.actor]);
  return hash("sha256", `${previous}\n${quoted}\n${columns.body}`);
}
