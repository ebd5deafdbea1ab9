// Looks for secrets in a text, and in the text that its readers will decode from it: JSON, JSON inside of JSON, URLs,
// terminal output. A secret found there is removed from the original.

import { viewOf } from "./escape-view.ts";
import type { FoundSecret, Scan } from "./scan.ts";

/** JSON inside of JSON, with terminal codes in it. */
const LEVELS = 3;

export function createDeepScan(scan: Scan): Scan {
  return (bytes, from, final, onFound) => {
    const found: FoundSecret[] = [];
    let until = scan(bytes, from, final, (each) => found.push(each));
    let level = { bytes, startOf: (at: number) => at, endOf: (at: number) => at + 1, from };
    for (let depth = 0; depth < LEVELS; depth += 1) {
      const view = viewOf(level.bytes, final);
      if (view === undefined) break;
      const outer = level;
      const startOf = (at: number): number => outer.startOf(view.startOf(at));
      const endOf = (at: number): number => outer.endOf(view.endOf(at) - 1);
      const begin = firstFrom(view.bytes.length, (at) => startOf(at) >= from);
      const open = scan(view.bytes, begin, final, ({ start, end, kind }) =>
        found.push({ start: startOf(start), end: endOf(end - 1), kind }),
      );
      const isWhole = open === view.bytes.length && view.until === outer.bytes.length;
      if (!isWhole) until = Math.min(until, open < view.bytes.length ? startOf(open) : outer.startOf(view.until));
      level = { bytes: view.bytes, startOf, endOf, from: begin };
    }
    return report(found, Math.max(from, until), onFound);
  };
}

/** The first index for which a condition holds that stays true once it is. */
function firstFrom(length: number, holds: (at: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Reports joined ranges in order; one that reaches beyond `until` is left for the next time. */
function report(found: readonly FoundSecret[], until: number, onFound: (found: FoundSecret) => void): number {
  const ranges: FoundSecret[] = [];
  for (const each of [...found].sort((one, other) => one.start - other.start)) {
    const last = ranges.at(-1);
    if (last === undefined || each.start >= last.end) ranges.push(each);
    else if (each.end > last.end) ranges[ranges.length - 1] = { ...last, end: each.end };
  }
  const open = ranges.find(({ end }) => end > until);
  const stop = open === undefined ? until : Math.min(until, open.start);
  for (const each of ranges) if (each.end <= stop) onFound(each);
  return stop;
}
