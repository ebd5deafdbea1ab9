// The hash chain of a run: each event's hash covers the event and the hash before it, so a change of any old row shows.
// It proves that nothing was edited in place; whoever can write the whole file could also compute a new chain.

import { hash } from "node:crypto";
import { type EventRow, eventColumns } from "./rows.ts";
import type { Change } from "./store.ts";

/** What stands before the first event of a run. */
export const CHAIN_START = "";

type Columns = Pick<EventRow, "type" | "at" | "actor" | "body">;

/**
 * Type and time are words without spaces, the actor is quoted and the body is JSON, so text cannot move from one column to the next
 * unnoticed. As base64 the hash takes a third less room than as hex, in the row that is written most.
 */
export function eventHash(previous: string, runId: string, version: number, columns: Columns): string {
  const { type, at, actor, body } = columns;
  return hash("sha256", `${previous} ${runId} ${version} ${type} ${at} ${JSON.stringify(actor)}\n${body}`, "base64url");
}

/** The values of the events' rows (type, at, actor, body, hash), one event after the other, and the hash of the last. */
export function chainOf(
  { runId, expectedVersion, events }: Pick<Change, "runId" | "expectedVersion" | "events">,
  previous: string = CHAIN_START,
  columnsOf: typeof eventColumns = eventColumns,
): { readonly head: string; readonly values: readonly string[] } {
  let head = previous;
  const values: string[] = [];
  for (const [index, event] of events.entries()) {
    const columns = columnsOf(event);
    head = eventHash(head, runId, expectedVersion + 1 + index, columns);
    values.push(columns.type, columns.at, columns.actor, columns.body, head);
  }
  return { head, values };
}
