// Reads events, wherever they are: in the rows of `events`, one each, as programs before version 13 wrote them, and after those in the rows
// of `commits`, which have all events of a commit. Every old row comes before every new one, in the store and in each run.

import type { DatabaseSync } from "node:sqlite";
import type { Json, JsonObject } from "../../core/json.ts";
import type { RunEvent } from "../../core/run/event.ts";
import { type EventRow, toStoredEvent } from "../rows.ts";
import type { StoredEvent } from "../store.ts";
import { COMMITS_SINCE, PARTS_SINCE } from "./migrations.ts";
import { createQueries, type Queries } from "./queries.ts";
import { LAST_SEQ } from "./schema-commits.ts";
import { COMMIT_PLACES } from "./schema-parts.ts";
import { type CommitRow, type Opened, prepareOpening } from "./shapes.ts";

export type CommitTableRow = CommitRow & {
  /** Of its last event, as is the version. */
  readonly seq: number;
  readonly run_number: number;
  /** Null where the run is gone. */
  readonly run_id: string | null;
  readonly version: number;
  readonly hash: string;
};

/** An event of a commit that is not opened yet: most readers want few of them. */
export type Folded = {
  readonly seq: number;
  readonly version: number;
  readonly type: string;
  readonly open: () => RunEvent;
};

export type StoredHistory = ReturnType<typeof prepareHistory>;

/** With the run's id, which a commit's row does not repeat. */
export const COMMITS = "SELECT c.*, r.id AS run_id FROM commits c LEFT JOIN runs r ON r.number = c.run_number";

export function prepareHistory(db: DatabaseSync, queries: Queries = createQueries(db)) {
  const { all, first, each, schema, numberOf } = queries;
  const opening = prepareOpening(db);
  const hasCommits = (): boolean => schema() >= COMMITS_SINCE;
  const places = (): string => (schema() >= PARTS_SINCE ? COMMIT_PLACES : "commits");

  /** The events of these rows after a number, up to a maximum. */
  function unfold(rows: Iterable<CommitTableRow>, after: number, limit: number): readonly StoredEvent[] {
    const found: StoredEvent[] = [];
    for (const row of rows) {
      for (const { seq, version, open } of foldedIn(row, opening)) {
        if (seq > after)
          found.push({ seq, runId: row.run_id ?? "", version, event: open(), hash: seq === row.seq ? row.hash : "" });
        if (found.length === limit) return found;
      }
    }
    return found;
  }

  function eventsAfter(after: number, limit: number): readonly StoredEvent[] {
    const old = all(toStoredEvent, "SELECT * FROM events WHERE seq > ? ORDER BY seq LIMIT ?", after, limit);
    if (old.length >= limit || !hasCommits()) return old;
    const rows = each<CommitTableRow>(`${COMMITS} WHERE c.seq > ? ORDER BY c.seq LIMIT ?`, after, limit);
    return [...old, ...unfold(rows, after, limit - old.length)];
  }

  /** Within a run the versions grow with the sequence, and there is an index for them. It is entered at the last event of the page before. */
  function eventsOf(runId: string, after: number, limit: number): readonly StoredEvent[] {
    const oldSql = `
      SELECT * FROM events WHERE run_number = (SELECT number FROM runs WHERE id = ?1) AND seq > ?2
        AND version > coalesce((SELECT version FROM events WHERE seq = ?2 AND run_id = ?1), 0)
      ORDER BY version LIMIT ?3`;
    const old = all(toStoredEvent, oldSql, runId, after, limit);
    if (old.length >= limit || !hasCommits()) return old;
    const sql = `
      SELECT c.*, ?1 AS run_id FROM ${places()} p JOIN commits c ON c.seq = p.seq
      WHERE p.run_number = (SELECT number FROM runs WHERE id = ?1) AND p.seq > ?2 AND p.version >= coalesce((
        SELECT place.version FROM (SELECT * FROM commits WHERE seq >= ?2 ORDER BY seq LIMIT 1) place
        WHERE place.run_number = (SELECT number FROM runs WHERE id = ?1)
      ), 0)
      ORDER BY p.version LIMIT ?3`;
    return [...old, ...unfold(each<CommitTableRow>(sql, runId, after, limit), after, limit - old.length)];
  }

  /** The body of the event with this number, without its type, time and actor. */
  function bodyAt(seq: number): JsonObject | undefined {
    const old = first(
      (row: EventRow) => JSON.parse(row.body) as JsonObject,
      "SELECT body FROM events WHERE seq = ?",
      seq,
    );
    if (old !== undefined || !hasCommits()) return old;
    const row = first(
      (found: CommitTableRow) => found,
      "SELECT * FROM commits WHERE seq >= ? ORDER BY seq LIMIT 1",
      seq,
    );
    if (row === undefined) return undefined;
    const values = opening.listsIn(row).at(seq - row.seq - 1);
    return values === undefined ? undefined : opening.open(values, row).body;
  }

  return {
    opening,
    hasCommits,
    places,
    eventsAfter,
    eventsOf,
    bodyAt,
    folded: (row: CommitTableRow) => foldedIn(row, opening),
    lastSeq: (): number =>
      numberOf(
        hasCommits() ? `SELECT ${LAST_SEQ} AS value` : "SELECT seq AS value FROM sqlite_sequence WHERE name = 'events'",
      ),
  };
}

function* foldedIn(row: CommitTableRow, opening: Opened): Generator<Folded> {
  const lists = opening.listsIn(row);
  for (const [index, values] of lists.entries()) {
    const before = lists.length - 1 - index;
    const open = () => eventOf(values, row, opening);
    yield { seq: row.seq - before, version: row.version - before, type: opening.typeOf(values), open };
  }
}

function eventOf(values: readonly Json[], row: CommitTableRow, opening: Opened): RunEvent {
  const { type, at, actor, body } = opening.open(values, row);
  return { type, ...body, at, actor } as unknown as RunEvent;
}

/** The events of a commit as the rows they would be: the last one has the hash of all. Throws where the row is not as commits are written. */
export function rowsIn(row: CommitTableRow, opening: Opened): readonly EventRow[] {
  const lists = opening.listsIn(row);
  // One text for one content: SQL and this program must never read different things in it.
  if (JSON.stringify(lists) !== row.body || lists.length === 0)
    throw new Error("its text is not one that commits have");
  return lists.map((values, index) => {
    const before = lists.length - 1 - index;
    const place = { seq: row.seq - before, run_id: row.run_id ?? "", version: row.version - before };
    return { ...place, ...opening.columnsOf(values, row), hash: before === 0 ? row.hash : "" };
  });
}
