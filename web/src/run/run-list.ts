// The known part of the list of runs: pages joined by run number. After a change the newest page is loaded again and replaces the rows in its
// range; below it, only the changed runs are loaded again. So ten thousand rows cost no more than a hundred.

import type { ListedRun } from "./types.ts";

export type RunPage = { readonly runs: readonly ListedRun[]; readonly next: number | null };

export type RunList = {
  /** Newest first. */
  readonly rows: readonly ListedRun[];
  /** Read what is older than this; null at the end, undefined before the first page. */
  readonly next: number | null | undefined;
};

export const NO_RUNS: RunList = { rows: [], next: undefined };

/** The newest page, read again. What is not in it any more, though it is as new, does not belong to the list now. */
export function withNewest(list: RunList, page: RunPage): RunList {
  if (page.next === null) return { rows: page.runs, next: null };
  const reach = page.next;
  const below = list.rows.filter(({ number }) => number < reach);
  // With a gap between the page and what was known, everything below is read anew, from here.
  const touches = list.rows.some(({ number }) => number >= reach) || list.next === undefined;
  if (list.next === undefined || !touches) return { rows: page.runs, next: reach };
  return { rows: [...page.runs, ...below], next: below.length === 0 ? reach : list.next };
}

export function withOlder(list: RunList, page: RunPage): RunList {
  const lowest = list.rows.at(-1)?.number ?? Number.POSITIVE_INFINITY;
  return { rows: [...list.rows, ...page.runs.filter(({ number }) => number < lowest)], next: page.next };
}

/** One run as it is now; undefined where it does not belong to the list any more. */
export function withOne(list: RunList, number: number, row: ListedRun | undefined): RunList {
  const at = list.rows.findIndex((each) => each.number === number);
  if (at === -1) return list;
  return { ...list, rows: row === undefined ? list.rows.toSpliced(at, 1) : list.rows.with(at, row) };
}
