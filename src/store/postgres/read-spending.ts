// Sums the cost of attempts, returns the latest usage of an agent for estimates, and the results of the last runs.

import type { SpendingKey } from "../../core/budget/budget.ts";
import type { Usage } from "../../core/budget/usage.ts";
import type { JsonObject } from "../../core/json.ts";
import { dayOf, isMidnight } from "../day.ts";
import {
  FAILURES_AT_MOST,
  foldSteps,
  type InsightStep,
  OWN_RUN,
  REASON_CHARS,
  type RunEndRow,
  statsOf,
  STEP_TYPES,
} from "../insight-fold.ts";
import { toAmounts, toSpendingRow, toUsage } from "../rows.ts";
import { SUMMED } from "../sqlite/schema-sums.ts";
import type { Booked, BookedQuery, FailureRow, FlowStats, Insights, SpendingRow } from "../store.ts";
import { createConditions, type DatabaseQueries } from "./queries.ts";
import { sumsOfRows } from "./schema-sums.ts";
import { plainText } from "./text.ts";

const SPENT_BY: Readonly<Record<SpendingKey, string>> = {
  agent: "s.agent",
  stage: "s.stage",
  flow: "r.flow",
  day: "s.day",
  runner: "s.runner",
  model: "coalesce(s.told_model, s.model)",
  run: "s.run_id",
};

/** `hasSums`: false for a reader of a schema that was not upgraded. */
export function readSpending({ all }: DatabaseQueries, hasSums: boolean) {
  async function booked({ keys, runId, stage, attempt }: BookedQuery): Promise<Booked> {
    const asked = keys.map(({ scope, key }) => [scope, plainText(key)] as const);
    const sums = await all(
      (row: { scope: string; key: string; usd: number; tokens: number }) => ({ ...row, ...toAmounts(row) }),
      "SELECT scope, key, usd, tokens FROM passrail.spent WHERE (scope, key) IN (SELECT * FROM unnest($1::text[], $2::text[]))",
      asked.map(([scope]) => scope),
      asked.map(([, key]) => key),
    );
    const [own = null] = await all(
      toAmounts,
      `SELECT booked_usd AS usd, booked_tokens AS tokens FROM passrail.spending
        WHERE run_number = (SELECT number FROM passrail.runs WHERE id = $1) AND stage = $2 AND attempt = $3`,
      plainText(runId),
      plainText(stage),
      attempt,
    );
    const sumOf = (scope: string, key: string) => sums.find((row) => row.scope === scope && row.key === key);
    return {
      keys: asked.map(([scope, key]) => {
        const { usd = 0, tokens = 0 } = sumOf(scope, key) ?? {};
        return { usd, tokens };
      }),
      own,
    };
  }

  function spending(query: {
    readonly by: SpendingKey;
    readonly since?: string;
    readonly runId?: string;
  }): Promise<readonly SpendingRow[]> {
    if (query.by !== "run" && query.runId === undefined && hasSums) {
      const { sql, values } = selectSums(query.by, query.since);
      return all(toSpendingRow, sql, ...values);
    }
    const filter = createConditions();
    if (query.since !== undefined) filter.require("s.started_at >= ?", query.since);
    if (query.runId !== undefined)
      filter.require("s.run_number = (SELECT number FROM passrail.runs WHERE id = ?)", plainText(query.runId));
    const sql = `
      SELECT ${SPENT_BY[query.by]} AS key, count(*) AS attempts,
        coalesce(sum(s.usd), 0) AS usd, count(*) FILTER (WHERE s.usd IS NULL) AS unknown_usd,
        coalesce(sum(s.booked_usd) FILTER (WHERE s.usd IS NULL), 0) AS assumed_usd,
        coalesce(sum(s.input_tokens), 0) AS input_tokens, coalesce(sum(s.output_tokens), 0) AS output_tokens,
        coalesce(sum(s.cached_tokens), 0) AS cached_tokens,
        count(*) FILTER (WHERE s.input_tokens IS NULL AND s.output_tokens IS NULL) AS unknown_tokens,
        coalesce(sum(s.booked_tokens) FILTER (WHERE s.input_tokens IS NULL AND s.output_tokens IS NULL), 0) AS assumed_tokens,
        coalesce(sum(round(extract(epoch FROM a.ended_at::timestamptz - a.started_at::timestamptz) * 1000)), 0) AS duration_ms
      FROM passrail.spending s
      ${query.by === "flow" ? "JOIN passrail.runs r ON r.number = s.run_number" : ""}
      LEFT JOIN passrail.attempts a ON a.run_number = s.run_number AND a.stage = s.stage AND a.attempt = s.attempt
      WHERE ${filter.where}
      GROUP BY 1 ORDER BY sum(s.booked_usd) DESC, sum(s.booked_tokens) DESC, 1 NULLS FIRST`;
    return all(toSpendingRow, sql, ...filter.values);
  }

  function usageHistory(query: {
    readonly agent: string;
    readonly runner: string;
    readonly model: string | null;
    readonly limit: number;
  }): Promise<readonly Usage[]> {
    const sql = `
      SELECT usd, input_tokens, output_tokens, cached_tokens FROM passrail.spending
      WHERE agent = $1 AND runner = $2 AND model IS NOT DISTINCT FROM $3 AND settled_seq IS NOT NULL
        AND (booked_usd > 0 OR booked_tokens > 0)
      ORDER BY settled_seq DESC LIMIT $4`;
    return all(toUsage, sql, query.agent, query.runner, query.model, query.limit);
  }

  return { spending, usageHistory, booked, ...readInsight({ all }) };
}

/** From the running sums; only of a first day that is cut, the rows themselves are read. */
function selectSums(
  by: Exclude<SpendingKey, "run">,
  since: string | undefined,
): { readonly sql: string; readonly values: readonly string[] } {
  const key = by === "model" ? "nullif(model, '')" : by;
  const sums = (from: string) => `
    SELECT ${key} AS key, ${SUMMED.map((column) => `sum(${column})::bigint AS ${column}`).join(", ")} FROM ${from}
    GROUP BY 1
    ORDER BY sum(usd + assumed_usd) DESC, sum(input_tokens + output_tokens + assumed_tokens) DESC, 1 NULLS FIRST`;
  if (since === undefined) return { sql: sums("passrail.spending_sums"), values: [] };
  const day = plainText(dayOf(since));
  const wholeDays = "(SELECT * FROM passrail.spending_sums WHERE day >= $1::text) AS sums";
  if (isMidnight(since)) return { sql: sums(wholeDays), values: [day] };
  const firstDay = sumsOfRows("WHERE s.started_at >= $1 AND s.started_at < $2::text || '~'");
  const from = `(SELECT * FROM passrail.spending_sums WHERE day > $2::text UNION ALL SELECT * FROM (${firstDay}) AS first) AS sums`;
  return { sql: sums(from), values: [plainText(since), day] };
}

/** The newest runs, and of those the ones since a time: cut first, so that the table is never walked. */
const NEWEST = `(SELECT number, id, flow FROM (
  SELECT number, id, flow, created_at FROM passrail.runs WHERE ${OWN_RUN} ORDER BY number DESC LIMIT $1) AS newest WHERE created_at >= $2)`;

function readInsight({ all }: Pick<DatabaseQueries, "all">) {
  async function flowStats({ flow, limit }: { readonly flow: string; readonly limit: number }): Promise<FlowStats> {
    const sql = `
      SELECT r.number, r.status,
        round(extract(epoch FROM r.updated_at::timestamptz - r.created_at::timestamptz) * 1000) AS ms,
        (SELECT sum(s.usd) FROM passrail.spending s WHERE s.run_number = r.number) AS usd,
        (SELECT count(*) FROM passrail.spending s WHERE s.run_number = r.number AND s.usd IS NULL) AS unknown
      FROM passrail.runs r WHERE r.flow = $1 AND ${OWN_RUN} ORDER BY r.number DESC LIMIT $2`;
    const runs = await all((row: Omit<RunEndRow, "loops"> & { number: number }) => row, sql, plainText(flow), limit);
    const counted = await all(
      (row: { run: number; body: string }) => ({ run: row.run, looped: isLoop(JSON.parse(row.body) as JsonObject) }),
      "SELECT run_number AS run, body FROM passrail.events WHERE run_number = ANY ($1) AND type = 'counter.changed'",
      runs.map(({ number }) => number),
    );
    const loopsOf = (number: number): number => counted.filter(({ run, looped }) => looped && run === number).length;
    return statsOf(runs.map(({ number, ...run }) => ({ ...run, loops: loopsOf(number) })));
  }

  async function insights({
    since = "",
    limit,
  }: {
    readonly since?: string;
    readonly limit: number;
  }): Promise<Insights> {
    const counted = await all(
      (row: { runs: number }) => row.runs,
      `SELECT count(*) AS runs FROM ${NEWEST} r`,
      limit,
      since,
    );
    const steps = await all(
      toStep,
      `SELECT r.number AS run, r.flow, e.type, e.at, e.body FROM ${NEWEST} r JOIN passrail.events e ON e.run_number = r.number
       WHERE e.type = ANY ($3) ORDER BY r.number, e.version`,
      limit,
      since,
      STEP_TYPES,
    );
    return { runs: counted[0] ?? 0, ...foldSteps(steps), failures: await failures(limit, since) };
  }

  async function failures(limit: number, since: string): Promise<readonly FailureRow[]> {
    const sql = `
      SELECT r.id AS "runId", r.number, r.flow, a.stage, a.attempt, h.to_agent AS agent, e.at, e.body
      FROM ${NEWEST} r
      JOIN passrail.attempts a ON a.run_number = r.number
      JOIN passrail.events e ON e.seq = a.outcome_seq
      LEFT JOIN passrail.handoffs h ON h.run_number = a.run_number AND h.number = a.handoff
      WHERE e.body LIKE '%"health":"failed"%' ORDER BY e.seq DESC`;
    const found = await all((row: Omit<FailureRow, "reason"> & { body: string }) => row, sql, limit, since);
    const failed = found.flatMap(({ body, ...row }) => {
      const { outcome } = JSON.parse(body) as { outcome?: { health?: string; reason?: string; cause?: string } };
      if (outcome?.health !== "failed") return [];
      return [{ ...row, reason: (outcome.reason ?? outcome.cause ?? "").slice(0, REASON_CHARS) }];
    });
    return failed.slice(0, FAILURES_AT_MOST);
  }

  return { flowStats, insights };
}

function toStep({
  body,
  ...row
}: Pick<InsightStep, "run" | "flow" | "type" | "at"> & { readonly body: string }): InsightStep {
  const told = JSON.parse(body) as JsonObject & { item?: Partial<InsightStep> & { number?: number } };
  return {
    ...row,
    stage: told.item?.stage ?? (told["stage"] as string | undefined) ?? null,
    item: told.item?.number ?? (told["number"] as number | undefined) ?? null,
    kind: told.item?.kind ?? null,
    looped: row.type === "counter.changed" && isLoop(told) ? 1 : 0,
  };
}

function isLoop({ from, to }: JsonObject): boolean {
  return Number(to) > Number(from);
}
