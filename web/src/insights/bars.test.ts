import { expect, test } from "vitest";
import { barsOf, type CostRow, costText, short } from "./bars.ts";

const row = (key: string, more: Partial<CostRow>): CostRow => ({
  key,
  attempts: 1,
  usd: 0,
  unknownUsd: 0,
  assumedUsd: 0,
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
  unknownTokens: 0,
  assumedTokens: 0,
  durationMs: 0,
  ...more,
});

test("the longest bar is the most expensive row; where no price is known, tokens decide", () => {
  expect(
    barsOf([row("a", { usd: 2 }), row("b", { usd: 1, inputTokens: 9 })], "agent").map(({ share }) => share),
  ).toEqual([1, 0.5]);
  expect(
    barsOf([row("a", { inputTokens: 1 }), row("b", { outputTokens: 4 })], "agent").map(({ share }) => share),
  ).toEqual([0.25, 1]);
  expect(barsOf([row("a", {})], "agent")[0]?.share).toBe(0);
});

test("days come newest first, whatever they cost", () => {
  const days = barsOf([row("2026-01-01", { usd: 9 }), row("2026-01-02", { usd: 1 })], "day");
  expect(days.map(({ row: { key } }) => key)).toEqual(["2026-01-02", "2026-01-01"]);
});

test("unknown cost is a dash or is counted beside what is known, never a zero", () => {
  expect(costText(row("a", { attempts: 2, unknownUsd: 2 }))).toBe("—");
  expect(costText(row("a", { attempts: 3, usd: 1.5, unknownUsd: 1 }))).toBe("$1.50 + 1 unknown");
  expect(costText(row("a", { usd: 0.001 }))).toBe("<$0.01");
  expect(costText(row("a", { attempts: 0 }))).toBe("—");
});

test("large counts are short", () => {
  expect([short(999), short(1500), short(2_340_000)]).toEqual(["999", "1.5 k", "2.34 M"]);
});
