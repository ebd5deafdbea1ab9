// What the last runs tell about a flow: how they ended, what was sent back, what waited for people, what failed. Always of a limited number
// of runs, so that an answer costs the same in a store of any age.

import type { DatabaseSync } from "node:sqlite";
import type { InboxItem } from "../../core/run/run.ts";
import type { FailureRow, FlowStats, Insights, WaitRow } from "../store.ts";

const FAILURES_AT_MOST = 20;
const REASON_CHARS = 500;

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
  WHERE e.type IN ('stage.finished', 'counter.changed', 'gate.opened', 'gate.answered', 'question.asked', 'question.answered',
    'escalation.opened', 'escalation.resolved', 'budget.reached', 'budget.answered', 'item.withdrawn')
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

type Step = {
  readonly run: number;
  readonly flow: string;
  readonly type: string;
  readonly at: string;
  readonly stage: string | null;
  readonly item: number | null;
  readonly kind: InboxItem["kind"] | null;
  readonly looped: number;
};
type End = {
  readonly status: string;
  readonly ms: number;
  /** Millionths of a dollar. */
  readonly usd: number | null;
  readonly unknown: number;
  readonly loops: number;
};

export function prepareInsight(db: DatabaseSync) {
  // Prepared when they are asked for: most processes that open a store never do.
  const all = (sql: string, ...values: (string | number)[]) => db.prepare(sql).all(...values) as unknown;
  return {
    flowStats({ flow, limit }: { readonly flow: string; readonly limit: number }): FlowStats {
      return statsOf(all(ENDS, flow, limit) as readonly End[]);
    },
    insights({ since = "", limit }: { readonly since?: string; readonly limit: number }): Insights {
      const counted = all(`SELECT count(*) AS runs FROM ${NEWEST}`, limit, since) as readonly { runs: number }[];
      return {
        runs: counted[0]?.runs ?? 0,
        ...foldSteps(all(STEPS, limit, since) as readonly Step[]),
        failures: all(FAILURES, limit, since) as readonly FailureRow[],
      };
    },
  };
}

function statsOf(ends: readonly End[]): FlowStats {
  const count = (status: string): number => ends.filter((end) => end.status === status).length;
  const completed = ends.filter(({ status }) => status === "completed");
  const costs = completed.flatMap(({ usd, unknown }) => (usd === null || unknown > 0 ? [] : [usd]));
  const micros = median(costs);
  return {
    runs: ends.length,
    completed: completed.length,
    canceled: count("canceled"),
    stopped: count("stopped"),
    medianMs: median(completed.map(({ ms }) => ms)),
    medianUsd: micros === null ? null : micros / 1e6,
    loops: ends.reduce((sum, { loops }) => sum + loops, 0),
  };
}

/** A counted loop is the doing of the stage that finished before it; what waits is paired with its answer by its number in the run. */
function foldSteps(steps: readonly Step[]): Pick<Insights, "loops" | "waits"> {
  const loops = new Map<string, Insights["loops"][number]>();
  const waits = new Map<
    string,
    { readonly row: Pick<WaitRow, "kind" | "flow" | "stage">; times: number; ms: number[]; gone: number }
  >();
  const open = new Map<string, { readonly key: string; readonly at: string }>();
  let judge = { run: 0, stage: "" };
  for (const { run, flow, type, at, stage, item, kind, looped } of steps) {
    if (type === "stage.finished") judge = { run, stage: stage ?? "" };
    else if (type === "counter.changed") {
      if (looped === 0 || judge.run !== run) continue;
      const key = `${flow} ${judge.stage}`;
      loops.set(key, { flow, stage: judge.stage, loops: (loops.get(key)?.loops ?? 0) + 1 });
    } else if (kind !== null) {
      const key = `${kind} ${flow} ${stage}`;
      const known = waits.get(key) ?? { row: { kind, flow, stage: stage ?? "" }, times: 0, ms: [], gone: 0 };
      known.times += 1;
      waits.set(key, known);
      open.set(`${run}.${item}`, { key, at });
    } else {
      const asked = open.get(`${run}.${item}`);
      const wait = asked === undefined ? undefined : waits.get(asked.key);
      if (asked === undefined || wait === undefined) continue;
      open.delete(`${run}.${item}`);
      if (type === "item.withdrawn") wait.gone += 1;
      else wait.ms.push(Date.parse(at) - Date.parse(asked.at));
    }
  }
  return {
    loops: [...loops.values()].toSorted((a, b) => b.loops - a.loops),
    waits: [...waits.values()]
      .map(({ row, times, ms, gone }) => ({
        ...row,
        times,
        open: times - ms.length - gone,
        medianMs: median(ms),
        longestMs: ms.length === 0 ? null : Math.max(...ms),
      }))
      .toSorted((a, b) => (b.longestMs ?? 0) - (a.longestMs ?? 0)),
  };
}

function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  if (sorted.length === 0) return null;
  return sorted.length % 2 === 1
    ? (sorted[Math.floor(middle)] ?? null)
    : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}
