import { expect, test } from "vitest";
import type { CostRow } from "./bars.ts";
import { costChart, HEIGHT } from "./chart.ts";

const row = (key: string, usd: number, unknownUsd = 0) => ({ key, usd, unknownUsd }) as CostRow;

test("every day of the period has its place, also one without cost; the limit is a line, and a day above it stands out", () => {
  const chart = costChart([row("2026-01-03", 50, 2), row("2026-01-01", 10)], {
    since: "2026-01-01",
    until: "2026-01-03",
    dayLimit: 40,
  });
  expect(chart.bars.map(({ key, usd, isOver }) => [key, usd, isOver])).toEqual([
    ["2026-01-01", 10, false],
    ["2026-01-02", 0, false],
    ["2026-01-03", 50, true],
  ]);
  expect([chart.by, chart.most, chart.limitY, chart.bars[2]?.unknown]).toEqual(["day", 50, HEIGHT * 0.2, 2]);
  expect(chart.bars[1]?.height).toBe(0);
});

test("a limit far above the cost does not press the bars flat", () => {
  const chart = costChart([row("2026-01-01", 1)], { since: "2026-01-01", until: "2026-01-01", dayLimit: 100 });
  expect([chart.bars[0]?.height, chart.limitY]).toEqual([HEIGHT, null]);
});

test("a long time is shown by weeks, with seven times the day's limit; without cost nothing is drawn", () => {
  const chart = costChart([row("2026-01-01", 10), row("2026-03-01", 20)], {
    since: null,
    until: "2026-03-01",
    dayLimit: 5,
  });
  expect([chart.by, chart.limit, chart.bars.length]).toEqual(["week", 35, 9]);
  expect(chart.bars.reduce((sum, { usd }) => sum + usd, 0)).toBe(30);
  expect(costChart([], { since: null, until: "2026-03-01", dayLimit: null }).bars.map(({ height }) => height)).toEqual([
    0,
  ]);
});
