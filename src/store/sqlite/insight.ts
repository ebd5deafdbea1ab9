// Facts of the last runs about a flow: how they ended, what was sent back, what waited for people, what failed. Always
// of a limited number of runs, so that an answer costs the same in a store of any age; and of a few runs at once, so
// that other calls do not wait (read-insight.ts).

import type { DatabaseSync } from "node:sqlite";
import type { EventType, RunEvent } from "../../core/run/event.ts";
import {
  FAILURES_AT_MOST,
  type InsightStep,
  OWN_RUN,
  REASON_CHARS,
  type RunEndRow,
  STEP_TYPES,
} from "../insight-fold.ts";
import type { FailureRow } from "../store.ts";
import type { CommitTableRow, StoredHistory } from "./history.ts";

/** The newest runs, and of those the ones since a time: cut first, so that the table is never walked. */
const NEWEST = `SELECT number FROM (SELECT number, created_at FROM runs WHERE ${OWN_RUN} ORDER BY number DESC LIMIT ?)
  WHERE created_at >= ? ORDER BY number`;
const LAST_OF_FLOW = `SELECT number FROM runs WHERE flow = ? AND ${OWN_RUN} ORDER BY number DESC LIMIT ?`;

/** Runs by their numbers. CROSS JOIN keeps the order of tables. */
const THESE = "(SELECT * FROM runs WHERE number IN (SELECT value FROM json_each(?)))";

const STEPS = `
  SELECT r.number AS run, r.flow, e.type, e.at,
    coalesce(e.body ->> '$.item.stage', e.body ->> '$.stage') AS stage,
    coalesce(e.body ->> '$.item.number', e.body ->> '$.number') AS item,
    e.body ->> '$.item.kind' AS kind,
    e.type = 'counter.changed' AND e.body ->> '$.to' > e.body ->> '$.from' AS looped
  FROM ${THESE} r CROSS JOIN events e ON e.run_number = r.number
  WHERE e.type IN (${STEP_TYPES.map((type) => `'${type}'`).join(", ")})
  ORDER BY r.number, e.version`;

export type FoundFailure = FailureRow & { readonly seq: number };

const FAILURES = `
  SELECT r.id AS runId, r.number, r.flow, a.stage, a.attempt, h.to_agent AS agent, e.at, e.seq,
    substr(coalesce(e.body ->> '$.outcome.reason', e.body ->> '$.outcome.cause', ''), 1, ${REASON_CHARS}) AS reason
  FROM ${THESE} r
  CROSS JOIN attempts a ON a.run_number = r.number
  CROSS JOIN events e ON e.seq = a.outcome_seq
  LEFT JOIN handoffs h ON h.run_number = a.run_number AND h.number = a.handoff
  WHERE e.body ->> '$.outcome.health' = 'failed'
  ORDER BY e.seq DESC LIMIT ${FAILURES_AT_MOST}`;

const commitsOfThese = (places: string): string => `
  SELECT c.*, r.id AS run_id, r.flow FROM ${THESE} r CROSS JOIN ${places} p ON p.run_number = r.number CROSS JOIN commits c ON c.seq = p.seq
  ORDER BY r.number, p.version`;

const AGENT_OF = `
  SELECT h.to_agent AS agent FROM attempts a JOIN handoffs h ON h.run_number = a.run_number AND h.number = a.handoff
  WHERE a.run_number = ? AND a.stage = ? AND a.attempt = ? AND a.outcome_seq = ?`;

const ENDS = `
  SELECT r.number, r.status,
    CAST(round((julianday(r.updated_at) - julianday(r.created_at)) * 86400000) AS INTEGER) AS ms,
    (SELECT sum(s.usd) FROM spending s WHERE s.run_number = r.number) AS usd,
    (SELECT count(*) FROM spending s WHERE s.run_number = r.number AND s.usd IS NULL) AS unknown,
    (SELECT count(*) FROM events e WHERE e.run_number = r.number AND e.type = 'counter.changed'
      AND e.body ->> '$.to' > e.body ->> '$.from') AS loops
  FROM ${THESE} r ORDER BY r.number DESC`;

export function prepareInsight(db: DatabaseSync, { folded, hasCommits, places }: StoredHistory) {
  // Prepared when they are asked for: most processes that open a store never do.
  const all = (sql: string, ...values: (string | number)[]) => db.prepare(sql).all(...values) as unknown;
  const commits = (runs: string): Iterable<CommitTableRow & { readonly flow: string }> =>
    (hasCommits() ? db.prepare(commitsOfThese(places())).iterate(runs) : []) as unknown as Iterable<
      CommitTableRow & { readonly flow: string }
    >;

  /** The steps and the failures in the commits of these runs. */
  function told(runs: string): { steps: InsightStep[]; failures: FoundFailure[] } {
    const steps: InsightStep[] = [];
    const failures: FoundFailure[] = [];
    for (const row of commits(runs)) {
      const { run_number: number, flow } = row;
      for (const { seq, type, open } of folded(row)) {
        if (!STEPPING.has(type)) continue;
        const event = open();
        steps.push({ run: number, flow, type, at: event.at, ...stepOf(event) });
        if (event.type !== "stage.finished" || event.outcome.health !== "failed") continue;
        const { stage, attempt, at, outcome } = event;
        const reason = ("reason" in outcome ? outcome.reason : undefined) ?? outcome.cause ?? "";
        failures.push({ runId: row.run_id ?? "", number, flow, stage, attempt, agent: null, at, reason, seq });
      }
    }
    return { steps, failures };
  }

  function loopsByRun(runs: string): ReadonlyMap<number, number> {
    const loops = new Map<number, number>();
    for (const row of commits(runs))
      for (const { type, open } of folded(row))
        if (type === "counter.changed" && stepOf(open()).looped === 1)
          loops.set(row.run_number, (loops.get(row.run_number) ?? 0) + 1);
    return loops;
  }

  return {
    newestRuns: ({ since = "", limit }: { readonly since?: string; readonly limit: number }) =>
      numbersOf(all(NEWEST, limit, since)),
    lastOfFlow: ({ flow, limit }: { readonly flow: string; readonly limit: number }) =>
      numbersOf(all(LAST_OF_FLOW, flow, limit)),
    endsOf(numbers: readonly number[]): readonly RunEndRow[] {
      const runs = JSON.stringify(numbers);
      const loops = loopsByRun(runs);
      const ends = all(ENDS, runs) as readonly (RunEndRow & { readonly number: number })[];
      return ends.map((end) => ({ ...end, loops: end.loops + (loops.get(end.number) ?? 0) }));
    },
    /** Of a run that has both, the old ones come first. */
    stepsOf(numbers: readonly number[]): {
      readonly steps: readonly InsightStep[];
      readonly failures: readonly FoundFailure[];
    } {
      const runs = JSON.stringify(numbers);
      const { steps, failures } = told(runs);
      const old = all(STEPS, runs) as readonly InsightStep[];
      return {
        steps: [...old, ...steps].toSorted((a, b) => a.run - b.run),
        failures: [...(all(FAILURES, runs) as readonly FoundFailure[]), ...failures],
      };
    },
    withAgent({ seq, ...failure }: FoundFailure): FailureRow {
      const { number, stage, attempt, reason } = failure;
      const found = db.prepare(AGENT_OF).get(number, stage, attempt, seq)?.["agent"];
      const agent = typeof found === "string" ? found : failure.agent;
      return { ...failure, agent, reason: reason.slice(0, REASON_CHARS) };
    },
  };
}

function numbersOf(rows: unknown): readonly number[] {
  return (rows as readonly { readonly number: number }[]).map(({ number }) => number);
}

const STEPPING: ReadonlySet<string> = new Set<EventType>(STEP_TYPES);

/** The columns that STEPS reads from a row of `events`. */
function stepOf(event: RunEvent): Pick<InsightStep, "stage" | "item" | "kind" | "looped"> {
  const item = "item" in event ? event.item : undefined;
  return {
    stage: item?.stage ?? ("stage" in event ? event.stage : null),
    item: item?.number ?? ("number" in event ? event.number : null),
    kind: item?.kind ?? null,
    looped: event.type === "counter.changed" && event.to > event.from ? 1 : 0,
  };
}
