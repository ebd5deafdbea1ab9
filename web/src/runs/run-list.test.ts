import { expect, test } from "vitest";
import { NO_RUNS, type RunList, withNewest, withOlder, withOne } from "./run-list.ts";
import type { ListedRun } from "../run/types.ts";

const row = (number: number, word = "w"): ListedRun => ({ number, id: `r${number}`, word }) as never;
const page = (numbers: readonly number[], next: number | null) => ({ runs: numbers.map((each) => row(each)), next });
const numbers = ({ rows }: RunList) => rows.map(({ number }) => number);

const TWO_PAGES = withOlder(withNewest(NO_RUNS, page([9, 8, 7], 7)), page([6, 5, 4], 4));

test("pages are put together, newest first", () => {
  expect(numbers(TWO_PAGES)).toEqual([9, 8, 7, 6, 5, 4]);
  expect(TWO_PAGES.next).toBe(4);
  expect(withOlder(TWO_PAGES, page([3], null))).toMatchObject({ next: null });
});

test("a new run pushes one out of the newest page, and no row is lost or doubled", () => {
  const after = withNewest(TWO_PAGES, page([10, 9, 8], 8));
  expect(numbers(after)).toEqual([10, 9, 8, 7, 6, 5, 4]);
  expect(after.next).toBe(4);
});

test("a run that does not belong any more leaves, and what moves up is not doubled", () => {
  const after = withNewest(TWO_PAGES, page([9, 7, 6], 6));
  expect(numbers(after)).toEqual([9, 7, 6, 5, 4]);
});

test("more new runs than a page holds: the rest is read anew instead of hiding a gap", () => {
  const after = withNewest(TWO_PAGES, page([30, 29, 28], 28));
  expect(numbers(after)).toEqual([30, 29, 28]);
  expect(after.next).toBe(28);
});

test("a list that ends with its newest page is that page", () => {
  expect(withNewest(TWO_PAGES, page([9], null))).toEqual({ rows: [row(9)], next: null });
});

test("one run is changed in its place or taken out", () => {
  expect(withOne(TWO_PAGES, 5, row(5, "done")).rows[4]?.word).toBe("done");
  expect(numbers(withOne(TWO_PAGES, 5, undefined))).toEqual([9, 8, 7, 6, 4]);
  expect(withOne(TWO_PAGES, 99, row(99))).toBe(TWO_PAGES);
});

test("what was read twice stands there once", () => {
  expect(numbers(withOlder(TWO_PAGES, page([5, 4, 3], 3)))).toEqual([9, 8, 7, 6, 5, 4, 3]);
});
