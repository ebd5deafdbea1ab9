// Reads the history: events, attempts, handoffs, and the signals that were taken. Values inside JSON are read here and not in SQL,
// because Postgres refuses JSON with some characters that agents may write.

import type { JsonObject } from "../../core/json.ts";
import type { Run } from "../../core/run/run.ts";
import { handoffPayload } from "../../core/view/story.ts";
import { type AttemptTableRow, type HandoffTableRow, toAttempt, toHandoff, toStoredEvent } from "../rows.ts";
import type { AttemptRecord, HandoffQuery, HandoffRecord, HandoffRow, StoredEvent } from "../store.ts";
import { type DatabaseQueries, RUN_NUMBER } from "./queries.ts";
import { plainText } from "./text.ts";

const HANDOFFS_AT_MOST = 10_000;

export function readEvents({ all, first }: DatabaseQueries) {
  function events(query: {
    readonly after: number;
    readonly runId?: string;
    readonly limit: number;
  }): Promise<readonly StoredEvent[]> {
    const { after, runId, limit } = query;
    if (runId === undefined) {
      return all(toStoredEvent, "SELECT * FROM passrail.events WHERE seq > $1 ORDER BY seq LIMIT $2", after, limit);
    }
    // Within a run the versions grow with the sequence, and there is an index for them. It is entered at the last event of the page before.
    const sql = `
      SELECT * FROM passrail.events WHERE run_number = ${RUN_NUMBER} AND seq > $2
        AND version > coalesce((SELECT version FROM passrail.events WHERE seq = $2 AND run_id = $1), 0)
      ORDER BY version LIMIT $3`;
    return all(toStoredEvent, sql, plainText(runId), after, limit);
  }

  function attempts(runId: string): Promise<readonly AttemptRecord[]> {
    const sql = `
      SELECT a.run_id, a.stage, a.attempt, a.track, a.status, a.ready_at, a.started_at, a.ended_at, a.facts::text AS facts, e.body
      FROM passrail.attempts a LEFT JOIN passrail.events e ON e.seq = a.outcome_seq
      WHERE a.run_number = ${RUN_NUMBER} ORDER BY a.ready_seq`;
    const toRecord = ({ body, ...row }: Omit<AttemptTableRow, "outcome"> & { body: string | null }) => ({
      ...toAttempt({ ...row, outcome: null }),
      outcome: outcomeIn(body),
    });
    return all(toRecord, sql, plainText(runId));
  }

  async function hasSignal(runId: string, signalId: string): Promise<boolean> {
    const sql = `SELECT 1 FROM passrail.signals WHERE run_number = ${RUN_NUMBER} AND signal_id = $2`;
    return (await first((row: object) => row, sql, plainText(runId), plainText(signalId))) !== undefined;
  }

  async function lastSeq(): Promise<number> {
    return (await first((row: { last_seq: number }) => row.last_seq, "SELECT last_seq FROM passrail.identity")) ?? 0;
  }

  return { events, attempts, hasSignal, lastSeq, ...readHandoffs({ all }) };
}

function readHandoffs({ all }: Pick<DatabaseQueries, "all">) {
  function handoffs(runId: string): Promise<readonly HandoffRecord[]> {
    const sql = `
      SELECT h.*, r.subject_id FROM passrail.handoffs h JOIN passrail.runs r ON r.number = h.run_number
      WHERE r.id = $1 ORDER BY h.number`;
    return all(toHandoff, sql, plainText(runId));
  }

  /** The payload of a handoff depends on those before it, so whole runs are read. */
  async function handoffRows(query: HandoffQuery): Promise<readonly HandoffRow[]> {
    const [condition, ...values] = handoffCondition(query);
    const sql = `
      WITH asked AS (SELECT h.id, h.run_number FROM passrail.handoffs h WHERE ${condition} ORDER BY h.id LIMIT ${HANDOFFS_AT_MOST})
      SELECT h.*, r.subject_id, r.flow_hash, h.id IN (SELECT id FROM asked) AS asked
      FROM passrail.handoffs h JOIN passrail.runs r ON r.number = h.run_number
      WHERE h.run_number IN (SELECT run_number FROM asked) ORDER BY h.id`;
    type Found = HandoffTableRow & { readonly flow_hash: string; readonly asked: boolean };
    const found = await all((row: Found) => row, sql, ...values);
    const runIds = [...new Set(found.map((row) => row.run_id))];
    const given = await givenIn(runIds);
    const byRun = new Map(runIds.map((id) => [id, found.filter((row) => row.run_id === id).map(toHandoff)]));
    return found.flatMap((row) => {
      const own = given.get(row.run_id);
      if (!row.asked || own === undefined) return [];
      const record = toHandoff(row);
      const payloadOf = (stage: string, attempt: number) => own.payloads.get(`${attempt} ${stage}`);
      const payload = handoffPayload(byRun.get(row.run_id) ?? [], record, own.subject, payloadOf);
      return [{ ...record, flowHash: row.flow_hash, payload }];
    });
  }

  type Given = { readonly subject: Run["subject"]; readonly payloads: ReadonlyMap<string, JsonObject> };

  /** The subject of each run, and what its attempts gave. */
  async function givenIn(runIds: readonly string[]): Promise<ReadonlyMap<string, Given>> {
    const payloads = new Map(runIds.map((id) => [id, new Map<string, JsonObject>()]));
    const outcomes = `
      SELECT a.run_id, a.stage, a.attempt, e.body FROM passrail.runs r JOIN passrail.attempts a ON a.run_number = r.number
      JOIN passrail.events e ON e.seq = a.outcome_seq WHERE r.id = ANY ($1)`;
    type Outcome = { readonly run_id: string; readonly stage: string; readonly attempt: number; readonly body: string };
    for (const { run_id, stage, attempt, body } of await all((row: Outcome) => row, outcomes, runIds)) {
      const payload = outcomeIn(body)?.["payload"];
      if (payload !== undefined) payloads.get(run_id)?.set(`${attempt} ${stage}`, payload as JsonObject);
    }
    const states = await all(
      (row: { id: string; state: string }) => [row.id, (JSON.parse(row.state) as Run).subject] as const,
      "SELECT id, state FROM passrail.runs WHERE id = ANY ($1)",
      runIds,
    );
    return new Map(states.map(([id, subject]) => [id, { subject, payloads: payloads.get(id) ?? new Map() }]));
  }

  return { handoffs, handoffRows };
}

function outcomeIn(body: string | null): JsonObject | null {
  if (body === null) return null;
  return ((JSON.parse(body) as JsonObject)["outcome"] as JsonObject | undefined) ?? null;
}

function handoffCondition(query: HandoffQuery): readonly [string, ...unknown[]] {
  if ("subjectId" in query)
    return ["h.run_number IN (SELECT number FROM passrail.runs WHERE subject_id = $1)", plainText(query.subjectId)];
  if ("id" in query) return ["h.id = $1", query.id];
  const pending = "h.state = 'pending' AND h.to_agent IS NOT NULL";
  return "pending" in query ? [pending] : [`${pending} AND h.created_at < $1`, query.pendingSince];
}
