import { expect, test } from "vitest";
import type { ListedRun } from "../run/types.ts";
import { nextRunSort, readRunSort, sortRuns, writeRunSort } from "./sort-runs.ts";

const run = (number: number, usd: number | null, more: Partial<ListedRun> = {}): ListedRun => ({
  id: `r${number}`,
  number,
  flow: "feature",
  subject: { id: "T", title: "Export" },
  status: "completed",
  word: "shipped",
  stage: null,
  createdAt: "2026-03-01T10:00:00.000Z",
  updatedAt: "2026-03-01T11:00:00.000Z",
  state: { is: "completed", text: "", until: null },
  paused: false,
  agent: null,
  why: null,
  waitsFor: [],
  since: "2026-03-01T11:00:00.000Z",
  loop: null,
  spent: usd === null ? null : { usd, unknownUsd: 0 },
  ...more,
});
const numbers = (rows: readonly ListedRun[]) => rows.map(({ number }) => number);
const ROWS = [run(3, 1), run(2, 9), run(1, null)];

test("a click on cost finds the dearest run, and a run without a price is the last", () => {
  const first = nextRunSort(readRunSort(undefined), "cost");
  expect(numbers(sortRuns(ROWS, first))).toEqual([2, 3, 1]);
  expect(writeRunSort(first)).toBe("-cost");
  expect(numbers(sortRuns(ROWS, nextRunSort(first, "cost")))).toEqual([1, 3, 2]);
});

test("without an order the newest is first, and an unknown one is no order", () => {
  expect(sortRuns(ROWS, readRunSort("<b>"))).toBe(ROWS);
  expect(writeRunSort(readRunSort(undefined))).toBeUndefined();
});

test("a run that still works counts as longer than one that ended; words go from A to Z", () => {
  const open = run(4, 0, { status: "running", flow: "bug" });
  expect(numbers(sortRuns([...ROWS, open], { key: "elapsed", isDown: true }))[0]).toBe(4);
  expect(nextRunSort(readRunSort(undefined), "flow")).toEqual({ key: "flow", isDown: false });
});
