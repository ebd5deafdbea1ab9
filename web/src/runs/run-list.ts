// The known part of the list of runs: pages joined by run number. After a change the newest page is loaded again and replaces the rows in
// its range; below it, only the changed runs are loaded again. So ten thousand rows cost no more than a hundred.

import type { ListedRun } from "../run/types.ts";

export type RunPage = { readonly runs: readonly ListedRun[]; readonly next: number | null };

export type RunList = {
  /** Newest first. */
  readonly rows: readonly ListedRun[];
  /** The cursor for older rows; null at the end, undefined before the first page. */
  readonly next: number | null | undefined;
};

export const NO_RUNS: RunList = { rows: [], next: undefined };

/** Merges a reloaded newest page. Known rows in its range that it lacks no longer belong to the list. */
export function withNewest(list: RunList, page: RunPage): RunList {
  if (page.next === null) return { rows: page.runs, next: null };
  const reach = page.next;
  const below = list.rows.filter(({ number }) => number < reach);
  // If there is a gap between the page and the known rows, everything below is loaded again from here.
  const touches = list.rows.some(({ number }) => number >= reach) || list.next === undefined;
  if (list.next === undefined || !touches) return { rows: page.runs, next: reach };
  return { rows: [...page.runs, ...below], next: below.length === 0 ? reach : list.next };
}

export function withOlder(list: RunList, page: RunPage): RunList {
  const lowest = list.rows.at(-1)?.number ?? Number.POSITIVE_INFINITY;
  return { rows: [...list.rows, ...page.runs.filter(({ number }) => number < lowest)], next: page.next };
}

/** One reloaded run; undefined if it no longer belongs to the list. */
export function withOne(list: RunList, number: number, row: ListedRun | undefined): RunList {
  const at = list.rows.findIndex((each) => each.number === number);
  if (at === -1) return list;
  return { ...list, rows: row === undefined ? list.rows.toSpliced(at, 1) : list.rows.with(at, row) };
}
