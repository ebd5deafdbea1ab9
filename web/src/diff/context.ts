// The lines around the changes of a file. A diff leaves most of a file out; a person opens what they need, some lines at a time. The text comes
// from a second diff of the same file that has every line of it.

import type { DiffLine, FileDiff, Hunk } from "./parse.ts";

/** The lines to open at a time. */
export const STEP = 20;

/** The opened parts of a file: its whole text, and how many lines of each gap. Gap n is above hunk n; the last one is below all of them. */
export type OpenContext = { readonly whole: readonly DiffLine[]; readonly gaps: Readonly<Record<number, number>> };

/** The file with the lines that a person opened; hunks without anything between them become one. */
export function withContext(file: FileDiff, open: OpenContext | undefined): FileDiff {
  if (open === undefined) return file;
  const { whole, gaps } = open;
  const places = placesIn(whole, file.hunks);
  // The branch moved since: the whole file alone is right.
  if (places === undefined) return { ...file, hunks: [{ head: "", gap: 0, hidden: 0, lines: whole }], below: 0 };
  const hunks: Hunk[] = [];
  let from = 0;
  file.hunks.forEach(({ head, gap }, index) => {
    const { start, end } = places[index] ?? { start: from, end: from };
    const shown = Math.min(start - from, gaps[gap] ?? 0);
    const lines = whole.slice(start - shown, end);
    const hidden = start - from - shown;
    const last = hunks.at(-1);
    if (hidden === 0 && last !== undefined) hunks[hunks.length - 1] = { ...last, lines: [...last.lines, ...lines] };
    else hunks.push({ head, gap, hidden, lines });
    from = end;
  });
  const shown = Math.min(whole.length - from, gaps[file.hunks.length] ?? 0);
  const last = hunks.at(-1);
  if (last !== undefined && shown > 0)
    hunks[hunks.length - 1] = { ...last, lines: [...last.lines, ...whole.slice(from, from + shown)] };
  return { ...file, hunks, below: whole.length - from - shown };
}

/** Where each hunk is in the whole file; undefined if one is not. */
function placesIn(
  whole: readonly DiffLine[],
  hunks: readonly Hunk[],
): readonly { readonly start: number; readonly end: number }[] | undefined {
  const places: { start: number; end: number }[] = [];
  let from = 0;
  for (const { lines } of hunks) {
    const [first, last] = [lines[0], lines.at(-1)];
    const start = first === undefined ? -1 : whole.findIndex((line, at) => at >= from && isSame(line, first));
    const end = start + lines.length;
    const ending = whole[end - 1];
    if (start === -1 || last === undefined || ending === undefined || !isSame(ending, last)) return undefined;
    places.push({ start, end });
    from = end;
  }
  return places;
}

function isSame(one: DiffLine, other: DiffLine): boolean {
  return one.kind === other.kind && one.old === other.old && one.new === other.new;
}
