// The order of the runs that are loaded, as the address asks for it. Without one: the newest first, as the daemon lists them.

import type { ListedRun } from "../run/types.ts";

export const RUN_SORTS = ["run", "status", "flow", "agent", "loop", "elapsed", "cost", "updated"] as const;
type RunSortKey = (typeof RUN_SORTS)[number];
export type RunSort = { readonly key: RunSortKey; readonly isDown: boolean };

/** The newest first. */
const USUAL: RunSort = { key: "run", isDown: true };

export function readRunSort(text: string | undefined): RunSort {
  const isDown = text?.startsWith("-") === true;
  const key = RUN_SORTS.find((each) => each === (isDown ? text?.slice(1) : text));
  return key === undefined ? USUAL : { key, isDown };
}

/** Undefined for the usual order, which an address leaves out. */
export function writeRunSort({ key, isDown }: RunSort): string | undefined {
  return key === USUAL.key && isDown ? undefined : `${isDown ? "-" : ""}${key}`;
}

/** A first click shows the most first; the next one turns it around; a third goes back to the newest first. */
export function nextRunSort({ key, isDown }: RunSort, clicked: string): RunSort {
  const known = RUN_SORTS.find((each) => each === clicked) ?? USUAL.key;
  if (key !== known) return { key: known, isDown: !WORDS.has(known) };
  return isDown === !WORDS.has(known) ? { key, isDown: !isDown } : USUAL;
}

/** People look for words from A to Z, and for numbers from the largest down. */
const WORDS: ReadonlySet<RunSortKey> = new Set(["status", "flow", "agent"]);

export function sortRuns(rows: readonly ListedRun[], { key, isDown }: RunSort): readonly ListedRun[] {
  if (key === USUAL.key && isDown) return rows;
  const sign = isDown ? -1 : 1;
  return rows.toSorted((a, b) => sign * compare(a, b, key) || b.number - a.number);
}

function compare(a: ListedRun, b: ListedRun, key: RunSortKey): number {
  switch (key) {
    case "run":
      return a.number - b.number;
    case "status":
      return a.state.is.localeCompare(b.state.is);
    case "flow":
      return a.flow.localeCompare(b.flow);
    case "agent":
      return (a.agent ?? "~").localeCompare(b.agent ?? "~");
    case "loop":
      return (a.loop?.loops ?? 0) - (b.loop?.loops ?? 0);
    case "elapsed":
      return elapsed(a) - elapsed(b);
    case "cost":
      return (a.spent?.usd ?? -1) - (b.spent?.usd ?? -1);
    case "updated":
      return a.updatedAt.localeCompare(b.updatedAt);
  }
}

/** An open run still counts up: the older, the more. */
function elapsed({ createdAt, since, status }: ListedRun): number {
  const isOver = status === "completed" || status === "canceled";
  const begun = Date.parse(createdAt);
  return isOver ? Date.parse(since) - begun : Number.MAX_SAFE_INTEGER / 2 - begun;
}
