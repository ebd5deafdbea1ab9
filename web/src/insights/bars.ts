// The rows of the cost table with the length of their bars: by cost if any is known, else by tokens, because a subscription reports no
// price.

import type { AnswerTo } from "../../../src/http/client/input.ts";

export type CostRow = AnswerTo<"cost">["rows"][number];
export type Bar = { readonly row: CostRow; readonly share: number };

export function barsOf(rows: readonly CostRow[], by: string): readonly Bar[] {
  const isMoney = rows.some(({ usd }) => usd > 0);
  const size = (row: CostRow): number => (isMoney ? row.usd : tokensOf(row));
  const most = Math.max(0, ...rows.map(size));
  const sorted = by === "day" ? rows.toSorted((a, b) => ((a.key ?? "") < (b.key ?? "") ? 1 : -1)) : rows;
  return sorted.map((row) => ({ row, share: most === 0 ? 0 : size(row) / most }));
}

export function tokensOf({ inputTokens, outputTokens }: CostRow): number {
  return inputTokens + outputTokens;
}

/** The known cost, and the number of attempts without a reported cost. Without any known cost: a dash, never a zero. */
export function costText({ usd, unknownUsd, attempts }: Omit<CostRow, "key">): string {
  if (attempts === 0 || unknownUsd === attempts) return "—";
  const known = usd > 0 && usd < 0.01 ? "<$0.01" : `$${usd.toFixed(2)}`;
  return unknownUsd === 0 ? known : `${known} + ${unknownUsd} unknown`;
}

export function short(count: number): string {
  if (count < 1000) return String(count);
  return count < 1_000_000 ? `${(count / 1000).toFixed(1)} k` : `${(count / 1_000_000).toFixed(2)} M`;
}
