// Sums what attempts have spent, and gives the latest usage of an agent for estimates.

import type { SQLInputValue } from "node:sqlite";
import type { SpendingKey } from "../../core/budget/budget.ts";
import type { Usage } from "../../core/budget/usage.ts";
import { dayOf, isMidnight } from "../day.ts";
import type { Booked, BookedQuery, SpendingRow } from "../store.ts";
import { type Queries, RUN_NUMBER } from "./queries.ts";
import { toAmounts, toSpendingRow, toUsage } from "../rows.ts";
import { SUMS_SINCE } from "./migrations.ts";
import { SUMMED, sumsOfRows } from "./schema-sums.ts";

const SPENT_BY: Readonly<Record<SpendingKey, string>> = {
  agent: "s.agent",
  stage: "s.stage",
  flow: "r.flow",
  day: "s.day",
  runner: "s.runner",
  model: "coalesce(s.told_model, s.model)",
  run: "s.run_id",
};

/** For sums over everything: left to itself, SQLite walks the index of times and looks up every row. */
const SPENDING_ITSELF = "INDEXED BY sqlite_autoindex_spending_1";

type SummedKey = Exclude<SpendingKey, "run">;

export function readSpending({ all, first, schema }: Queries) {
  function booked({ keys, runId, stage, attempt }: BookedQuery): Booked {
    const ofKey = "SELECT usd, tokens FROM spent WHERE scope = ? AND key = ?";
    const own = `SELECT booked_usd AS usd, booked_tokens AS tokens FROM spending
      WHERE run_number = ${RUN_NUMBER} AND stage = ? AND attempt = ?`;
    return {
      keys: keys.map(({ scope, key }) => first(toAmounts, ofKey, scope, key) ?? { usd: 0, tokens: 0 }),
      own: first(toAmounts, own, runId, stage, attempt) ?? null,
    };
  }

  function spending(query: {
    readonly by: SpendingKey;
    readonly since?: string;
    readonly runId?: string;
  }): readonly SpendingRow[] {
    if (query.by !== "run" && query.runId === undefined && schema() >= SUMS_SINCE) return summed(query.by, query.since);
    const conditions = ["true"];
    const values: SQLInputValue[] = [];
    if (query.since !== undefined) {
      conditions.push("s.started_at >= ?");
      values.push(query.since);
    }
    if (query.runId !== undefined) {
      conditions.push(`s.run_number = ${RUN_NUMBER}`);
      values.push(query.runId);
    }
    const sql = `
      SELECT ${SPENT_BY[query.by]} AS key, count(*) AS attempts,
        coalesce(sum(s.usd), 0) AS usd, sum(s.usd IS NULL) AS unknown_usd,
        coalesce(sum(s.booked_usd) FILTER (WHERE s.usd IS NULL), 0) AS assumed_usd,
        coalesce(sum(s.input_tokens), 0) AS input_tokens, coalesce(sum(s.output_tokens), 0) AS output_tokens,
        coalesce(sum(s.cached_tokens), 0) AS cached_tokens,
        sum(s.input_tokens IS NULL AND s.output_tokens IS NULL) AS unknown_tokens,
        coalesce(sum(s.booked_tokens) FILTER (WHERE s.input_tokens IS NULL AND s.output_tokens IS NULL), 0) AS assumed_tokens,
        coalesce(sum(CAST(round((julianday(a.ended_at) - julianday(a.started_at)) * 86400000) AS INTEGER)), 0) AS duration_ms
      FROM spending s ${query.since === undefined ? SPENDING_ITSELF : ""}
      ${query.by === "flow" ? "JOIN runs r ON r.number = s.run_number" : ""}
      LEFT JOIN attempts a ON a.run_number = s.run_number AND a.stage = s.stage AND a.attempt = s.attempt
      WHERE ${conditions.join(" AND ")}
      GROUP BY 1 ORDER BY sum(s.booked_usd) DESC, sum(s.booked_tokens) DESC, 1`;
    return all(toSpendingRow, sql, ...values);
  }

  /** From the running sums; only of a first day that is cut, the rows themselves are read. */
  function summed(by: SummedKey, since: string | undefined): readonly SpendingRow[] {
    const key = by === "model" ? "nullif(model, '')" : by;
    const sums = (from: string) => `
      SELECT ${key} AS key, ${SUMMED.map((column) => `sum(${column}) AS ${column}`).join(", ")} FROM ${from}
      GROUP BY 1 ORDER BY sum(usd + assumed_usd) DESC, sum(input_tokens + output_tokens + assumed_tokens) DESC, 1`;
    if (since === undefined) return all(toSpendingRow, sums("spending_sums"));
    const day = dayOf(since);
    if (isMidnight(since)) return all(toSpendingRow, sums("(SELECT * FROM spending_sums WHERE day >= ?1)"), day);
    const firstDay = sumsOfRows("WHERE s.started_at >= ?1 AND s.started_at < ?2 || '~'");
    const from = `(SELECT * FROM spending_sums WHERE day > ?2 UNION ALL SELECT * FROM (${firstDay}))`;
    return all(toSpendingRow, sums(from), since, day);
  }

  function usageHistory(query: {
    readonly agent: string;
    readonly runner: string;
    readonly model: string | null;
    readonly limit: number;
  }): readonly Usage[] {
    const sql = `
      SELECT usd, input_tokens, output_tokens, cached_tokens FROM spending
      WHERE agent = ? AND runner = ? AND model IS ? AND settled_seq IS NOT NULL AND (booked_usd > 0 OR booked_tokens > 0)
      ORDER BY settled_seq DESC LIMIT ?`;
    return all(toUsage, sql, query.agent, query.runner, query.model, query.limit);
  }

  return { spending, usageHistory, booked };
}
