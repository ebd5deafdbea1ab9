// The hash chain of a run: each hash covers the events since the hash before it, and that hash, so a change of any old row is found. In
// Postgres, and in rows that SQLite wrote before version 13, every event has a hash; else there is one for all events of a commit.
// It proves that no row was edited in place; an attacker who can write the whole file could also compute a new chain.

import { hash } from "node:crypto";
import { type EventRow, eventColumns } from "./rows.ts";
import type { Change } from "./store.ts";

/** The hash before the first event of a run. */
export const CHAIN_START = "";

type Columns = Pick<EventRow, "type" | "at" | "actor" | "body">;

/**
 * Type and time are words without spaces, the actor is quoted and the body is JSON, so text cannot move from one column to the next
 * unnoticed. As base64 the hash takes a third less room than as hex, in the row that is written most.
 */
export function eventHash(previous: string, runId: string, version: number, columns: Columns): string {
  return hash("sha256", hashedText(previous, runId, version, columns), "base64url");
}

/**
 * One hash for all events of a commit; for one event it is that event's hash. JSON has no line breaks, so the lines cannot be shared out
 * among the events in another way.
 */
export function commitHash(previous: string, runId: string, firstVersion: number, events: readonly Columns[]): string {
  let text = "";
  for (const [index, columns] of events.entries())
    text +=
      index === 0
        ? hashedText(previous, runId, firstVersion, columns)
        : `\n${hashedText("", runId, firstVersion + index, columns)}`;
  return hash("sha256", text, "base64url");
}

function hashedText(previous: string, runId: string, version: number, { type, at, actor, body }: Columns): string {
  return `${previous} ${runId} ${version} ${type} ${at} ${JSON.stringify(actor)}\n${body}`;
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
