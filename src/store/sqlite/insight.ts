// What the last runs tell about a flow: how they ended, what was sent back, what waited for people, what failed. Always of a limited number
// of runs, so that an answer costs the same in a store of any age.

import type { DatabaseSync } from "node:sqlite";
import {
  FAILURES_AT_MOST,
  foldSteps,
  type InsightStep,
  REASON_CHARS,
  type RunEndRow,
  statsOf,
  STEP_TYPES,
} from "../insight-fold.ts";
import type { FailureRow, FlowStats, Insights } from "../store.ts";

/** The newest runs, and of those the ones since a time: cut first, so that the table is never walked. */
const NEWEST =
  "(SELECT number, id, flow FROM (SELECT number, id, flow, created_at FROM runs ORDER BY number DESC LIMIT ?) WHERE created_at >= ?)";

const STEPS = `
  SELECT r.number AS run, r.flow, e.type, e.at,
    coalesce(e.body ->> '$.item.stage', e.body ->> '$.stage') AS stage,
    coalesce(e.body ->> '$.item.number', e.body ->> '$.number') AS item,
    e.body ->> '$.item.kind' AS kind,
    e.type = 'counter.changed' AND e.body ->> '$.to' > e.body ->> '$.from' AS looped
  FROM ${NEWEST} r JOIN events e ON e.run_number = r.number
  WHERE e.type IN (${STEP_TYPES.map((type) => `'${type}'`).join(", ")})
  ORDER BY r.number, e.version`;

const FAILURES = `
  SELECT r.id AS runId, r.number, r.flow, a.stage, a.attempt, h.to_agent AS agent, e.at,
    substr(coalesce(e.body ->> '$.outcome.reason', e.body ->> '$.outcome.cause', ''), 1, ${REASON_CHARS}) AS reason
  FROM ${NEWEST} r
  JOIN attempts a ON a.run_number = r.number
  JOIN events e ON e.seq = a.outcome_seq
  LEFT JOIN handoffs h ON h.run_number = a.run_number AND h.number = a.handoff
  WHERE e.body ->> '$.outcome.health' = 'failed'
  ORDER BY e.seq DESC LIMIT ${FAILURES_AT_MOST}`;

const ENDS = `
  SELECT r.status,
    CAST(round((julianday(r.updated_at) - julianday(r.created_at)) * 86400000) AS INTEGER) AS ms,
    (SELECT sum(s.usd) FROM spending s WHERE s.run_number = r.number) AS usd,
    (SELECT count(*) FROM spending s WHERE s.run_number = r.number AND s.usd IS NULL) AS unknown,
    (SELECT count(*) FROM events e WHERE e.run_number = r.number AND e.type = 'counter.changed'
      AND e.body ->> '$.to' > e.body ->> '$.from') AS loops
  FROM runs r WHERE r.flow = ? ORDER BY r.number DESC LIMIT ?`;

export function prepareInsight(db: DatabaseSync) {
  // Prepared when they are asked for: most processes that open a store never do.
  const all = (sql: string, ...values: (string | number)[]) => db.prepare(sql).all(...values) as unknown;
  return {
    flowStats({ flow, limit }: { readonly flow: string; readonly limit: number }): FlowStats {
      return statsOf(all(ENDS, flow, limit) as readonly RunEndRow[]);
    },
    insights({ since = "", limit }: { readonly since?: string; readonly limit: number }): Insights {
      const counted = all(`SELECT count(*) AS runs FROM ${NEWEST}`, limit, since) as readonly { runs: number }[];
      return {
        runs: counted[0]?.runs ?? 0,
        ...foldSteps(all(STEPS, limit, since) as readonly InsightStep[]),
        failures: all(FAILURES, limit, since) as readonly FailureRow[],
      };
    },
  };
}
