// What the last runs tell about a flow: how they ended, what was sent back, what waited for people, what failed. Always of a limited number
// of runs, so that an answer costs the same in a store of any age.

import type { DatabaseSync } from "node:sqlite";
import type { EventType, RunEvent } from "../../core/run/event.ts";
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
import type { CommitTableRow, StoredHistory } from "./history.ts";

/** The newest runs, and of those the ones since a time: cut first, so that the table is never walked. CROSS JOIN keeps the order of tables. */
const NEWEST =
  "(SELECT number, id, flow FROM (SELECT number, id, flow, created_at FROM runs ORDER BY number DESC LIMIT ?) WHERE created_at >= ?)";

const STEPS = `
  SELECT r.number AS run, r.flow, e.type, e.at,
    coalesce(e.body ->> '$.item.stage', e.body ->> '$.stage') AS stage,
    coalesce(e.body ->> '$.item.number', e.body ->> '$.number') AS item,
    e.body ->> '$.item.kind' AS kind,
    e.type = 'counter.changed' AND e.body ->> '$.to' > e.body ->> '$.from' AS looped
  FROM ${NEWEST} r CROSS JOIN events e ON e.run_number = r.number
  WHERE e.type IN (${STEP_TYPES.map((type) => `'${type}'`).join(", ")})
  ORDER BY r.number, e.version`;

type FoundFailure = FailureRow & { readonly seq: number };

const FAILURES = `
  SELECT r.id AS runId, r.number, r.flow, a.stage, a.attempt, h.to_agent AS agent, e.at, e.seq,
    substr(coalesce(e.body ->> '$.outcome.reason', e.body ->> '$.outcome.cause', ''), 1, ${REASON_CHARS}) AS reason
  FROM ${NEWEST} r
  CROSS JOIN attempts a ON a.run_number = r.number
  CROSS JOIN events e ON e.seq = a.outcome_seq
  LEFT JOIN handoffs h ON h.run_number = a.run_number AND h.number = a.handoff
  WHERE e.body ->> '$.outcome.health' = 'failed'
  ORDER BY e.seq DESC LIMIT ${FAILURES_AT_MOST}`;

const commitsOfNewest = (places: string): string => `
  SELECT c.*, r.id AS run_id, r.flow FROM ${NEWEST} r CROSS JOIN ${places} p ON p.run_number = r.number CROSS JOIN commits c ON c.seq = p.seq
  ORDER BY r.number, p.version`;

const AGENT_OF = `
  SELECT h.to_agent AS agent FROM attempts a JOIN handoffs h ON h.run_number = a.run_number AND h.number = a.handoff
  WHERE a.run_number = ? AND a.stage = ? AND a.attempt = ? AND a.outcome_seq = ?`;

const LAST_OF_FLOW = "(SELECT * FROM runs WHERE flow = ? ORDER BY number DESC LIMIT ?)";

const ENDS = `
  SELECT r.number, r.status,
    CAST(round((julianday(r.updated_at) - julianday(r.created_at)) * 86400000) AS INTEGER) AS ms,
    (SELECT sum(s.usd) FROM spending s WHERE s.run_number = r.number) AS usd,
    (SELECT count(*) FROM spending s WHERE s.run_number = r.number AND s.usd IS NULL) AS unknown,
    (SELECT count(*) FROM events e WHERE e.run_number = r.number AND e.type = 'counter.changed'
      AND e.body ->> '$.to' > e.body ->> '$.from') AS loops
  FROM ${LAST_OF_FLOW} r ORDER BY r.number DESC`;

const commitsOfFlow = (places: string): string =>
  `SELECT c.* FROM ${LAST_OF_FLOW} r CROSS JOIN ${places} p ON p.run_number = r.number CROSS JOIN commits c ON c.seq = p.seq`;

export function prepareInsight(db: DatabaseSync, { folded, hasCommits, places }: StoredHistory) {
  // Prepared when they are asked for: most processes that open a store never do.
  const all = (sql: string, ...values: (string | number)[]) => db.prepare(sql).all(...values) as unknown;
  const commits = <T>(sql: string, ...values: (string | number)[]): Iterable<CommitTableRow & T> =>
    (hasCommits() ? db.prepare(sql).iterate(...values) : []) as unknown as Iterable<CommitTableRow & T>;

  /** The steps and the failures in the commits of the newest runs. */
  function told(limit: number, since: string): { steps: InsightStep[]; failures: FoundFailure[] } {
    const steps: InsightStep[] = [];
    const failures: FoundFailure[] = [];
    for (const row of commits<{ flow: string }>(commitsOfNewest(places()), limit, since)) {
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
    return { steps, failures: newestOf(failures) };
  }

  function withAgent({ seq, ...failure }: FoundFailure): FailureRow {
    const { number, stage, attempt, reason } = failure;
    const found = db.prepare(AGENT_OF).get(number, stage, attempt, seq)?.["agent"];
    const agent = typeof found === "string" ? found : failure.agent;
    return { ...failure, agent, reason: reason.slice(0, REASON_CHARS) };
  }

  function loopsByRun(flow: string, limit: number): ReadonlyMap<number, number> {
    const loops = new Map<number, number>();
    for (const row of commits(commitsOfFlow(places()), flow, limit))
      for (const { type, open } of folded(row))
        if (type === "counter.changed" && stepOf(open()).looped === 1)
          loops.set(row.run_number, (loops.get(row.run_number) ?? 0) + 1);
    return loops;
  }

  return {
    flowStats({ flow, limit }: { readonly flow: string; readonly limit: number }): FlowStats {
      const loops = loopsByRun(flow, limit);
      const ends = all(ENDS, flow, limit) as readonly (RunEndRow & { readonly number: number })[];
      return statsOf(ends.map((end) => ({ ...end, loops: end.loops + (loops.get(end.number) ?? 0) })));
    },
    insights({ since = "", limit }: { readonly since?: string; readonly limit: number }): Insights {
      const counted = all(`SELECT count(*) AS runs FROM ${NEWEST}`, limit, since) as readonly { runs: number }[];
      const { steps, failures } = told(limit, since);
      const old = all(STEPS, limit, since) as readonly InsightStep[];
      return {
        runs: counted[0]?.runs ?? 0,
        // Of a run that has both, the old ones come first.
        ...foldSteps([...old, ...steps].toSorted((a, b) => a.run - b.run)),
        failures: newestOf([...(all(FAILURES, limit, since) as readonly FoundFailure[]), ...failures]).map(withAgent),
      };
    },
  };
}

const STEPPING: ReadonlySet<string> = new Set<EventType>(STEP_TYPES);

function newestOf(failures: readonly FoundFailure[]): FoundFailure[] {
  return failures.toSorted((a, b) => b.seq - a.seq).slice(0, FAILURES_AT_MOST);
}

/** What STEPS reads from a row of `events`. */
function stepOf(event: RunEvent): Pick<InsightStep, "stage" | "item" | "kind" | "looped"> {
  const item = "item" in event ? event.item : undefined;
  return {
    stage: item?.stage ?? ("stage" in event ? event.stage : null),
    item: item?.number ?? ("number" in event ? event.number : null),
    kind: item?.kind ?? null,
    looped: event.type === "counter.changed" && event.to > event.from ? 1 : 0,
  };
}
