// The cost of a run so far: the reports of ended attempts, plus the usage of working ones.

import type { RunDetail } from "./types.ts";

export type RunCost = {
  readonly usd: number;
  readonly tokens: number;
  /** No attempt has reported its price. */
  readonly isUnknown: boolean;
  /** Ended attempts that did not tell their price. */
  readonly unknown: number;
  readonly attempts: number;
};

export function runCost({ spent, stages }: Pick<RunDetail, "spent" | "stages">): RunCost {
  const live = stages
    .flatMap(({ attempts }) => attempts)
    .flatMap(({ endedAt, usage }) => (endedAt === null && usage !== null ? [usage] : []));
  const priced = live.filter(({ usd }) => usd !== null);
  const { attempts = 0, unknownUsd = 0, usd = 0, tokens = 0 } = spent ?? {};
  return {
    usd: usd + priced.reduce((sum, each) => sum + (each.usd ?? 0), 0),
    tokens: tokens + live.reduce((sum, each) => sum + (each.inputTokens ?? 0) + (each.outputTokens ?? 0), 0),
    isUnknown: unknownUsd >= attempts && priced.length === 0,
    unknown: unknownUsd,
    attempts,
  };
}

/** 31.2 M, 412 k, 98. */
export function shortCount(tokens: number): string {
  if (tokens >= 1e6) return `${(tokens / 1e6).toFixed(1)} M`;
  return tokens >= 10_000 ? `${Math.round(tokens / 1000)} k` : tokens.toLocaleString("en-US");
}
