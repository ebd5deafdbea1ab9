// Everything that only reads. Paging is by key, never by offset: page 10,000 costs what page 1 costs.

import type { DatabaseSync } from "node:sqlite";
import type { ResolvedFlow } from "../../core/flow/agent.ts";
import type { InboxRecord, WorkRecord } from "../store.ts";
import { prepareHistory } from "./history.ts";
import { prepareInsight } from "./insight.ts";
import { PARTS_SINCE } from "./migrations.ts";
import { createQueries, type Queries } from "./queries.ts";
import { readEvents } from "./read-events.ts";
import { readHandoffs } from "./read-handoffs.ts";
import { readRuns } from "./read-runs.ts";
import { readSpending } from "./read-spending.ts";
import { readSubjects } from "./read-subjects.ts";
import { toInboxRecord, toWork } from "../rows.ts";

export type Reads = ReturnType<typeof prepareReads>;

const FLOWS_AT_MOST = 200;

export function prepareReads(db: DatabaseSync) {
  const queries = createQueries(db);
  const { all, first } = queries;
  const history = prepareHistory(db, queries);

  function inbox(): readonly InboxRecord[] {
    // Only open runs have items, and those are few.
    const from =
      queries.schema() < PARTS_SINCE
        ? "inbox i JOIN runs r ON r.number = i.run_number"
        : `runs r INDEXED BY runs_open CROSS JOIN (SELECT run_number, number, began_at AS opened_at, body AS item FROM parts WHERE kind = 'i') i
           ON i.run_number = r.number WHERE r.status NOT IN ('completed', 'canceled')`;
    const sql = `
      SELECT r.id AS run_id, r.number, i.item, r.flow, r.subject_id, r.subject_title FROM ${from}
      ORDER BY i.opened_at, r.number, i.number`;
    return all(toInboxRecord, sql);
  }

  return {
    ...readRuns(queries),
    ...readSubjects(queries),
    ...readEvents(queries, history),
    ...readHandoffs(queries),
    ...readSpending(queries),
    ...prepareInsight(db, history),
    loadFlow: flowLoader(queries),
    inbox,
    pendingWork: (): readonly WorkRecord[] => all(toWork, "SELECT * FROM work ORDER BY id"),
    /** Changes when another connection has written; our own commits leave it. */
    dataVersion: () => first((row: { data_version: number }) => row.data_version, "PRAGMA data_version") ?? 0,
  };
}

/** A flow does not change under its hash, so it is read and parsed once. */
function flowLoader({ first }: Queries): (hash: string) => ResolvedFlow | undefined {
  const flows = new Map<string, ResolvedFlow>();
  const toFlow = (row: { body: string }) => JSON.parse(row.body) as ResolvedFlow;
  return (hash) => {
    const known = flows.get(hash);
    if (known !== undefined) return known;
    const loaded = first(toFlow, "SELECT body FROM flows WHERE hash = ?", hash);
    if (loaded === undefined) return undefined;
    if (flows.size >= FLOWS_AT_MOST) flows.clear();
    flows.set(hash, loaded);
    return loaded;
  };
}
