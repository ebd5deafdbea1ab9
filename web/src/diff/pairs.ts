// Two columns, before and after: removed lines are next to the lines that replaced them.

import type { DiffLine } from "./parse.ts";

export type Pair = { readonly left: DiffLine | null; readonly right: DiffLine | null };

export function pairsOf(lines: readonly DiffLine[]): readonly Pair[] {
  const pairs: Pair[] = [];
  let removed: DiffLine[] = [];
  let added: DiffLine[] = [];
  const flush = (): void => {
    const rows = Math.max(removed.length, added.length);
    for (let at = 0; at < rows; at++) pairs.push({ left: removed[at] ?? null, right: added[at] ?? null });
    removed = [];
    added = [];
  };
  for (const line of lines) {
    if (line.kind === "removed") {
      // Removed after added begins the next change.
      if (added.length > 0) flush();
      removed.push(line);
    } else if (line.kind === "added") added.push(line);
    else {
      flush();
      pairs.push({ left: line, right: line });
    }
  }
  flush();
  return pairs;
}
