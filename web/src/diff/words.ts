// The changes inside a line: the words of a removed line that the line in its place does not have, and the other way round.

import { pairsOf } from "./pairs.ts";
import type { DiffLine, FileDiff } from "./parse.ts";

/** From a character up to another one, which is not part of it. */
export type Range = { readonly from: number; readonly to: number };

/** Longer lines are generated, and comparing them takes long. */
const LINE_CHARS = 600;
const WORDS_AT_MOST = 200;
/** Lines that share less have nothing to do with each other: marking nearly everything would only distract. */
const LEAST_IN_COMMON = 0.35;

const partners = new WeakMap<FileDiff, ReadonlyMap<DiffLine, DiffLine>>();
const known = new WeakMap<DiffLine, readonly Range[]>();

/** The changed parts of a line; empty if it has no other in its place, or nothing in common with it. */
export function changedWords(file: FileDiff, line: DiffLine): readonly Range[] {
  if (line.kind !== "added" && line.kind !== "removed") return [];
  const found = known.get(line);
  if (found !== undefined) return found;
  const other = partnersIn(file).get(line);
  const [removed, added] = line.kind === "removed" ? [line, other] : [other, line];
  const ranges = removed === undefined || added === undefined ? null : compareWords(removed.text, added.text);
  if (removed !== undefined) known.set(removed, ranges?.removed ?? []);
  if (added !== undefined) known.set(added, ranges?.added ?? []);
  return known.get(line) ?? [];
}

function partnersIn(file: FileDiff): ReadonlyMap<DiffLine, DiffLine> {
  const found = partners.get(file);
  if (found !== undefined) return found;
  const made = new Map<DiffLine, DiffLine>();
  for (const { lines } of file.hunks)
    for (const { left, right } of pairsOf(lines))
      if (left !== null && right !== null && left !== right) made.set(left, right).set(right, left);
  partners.set(file, made);
  return made;
}

/** Null if the lines are too long or too different. */
export function compareWords(
  before: string,
  after: string,
): { readonly removed: readonly Range[]; readonly added: readonly Range[] } | null {
  if (before.length > LINE_CHARS || after.length > LINE_CHARS) return null;
  const [one, other] = [wordsOf(before), wordsOf(after)];
  if (one.length > WORDS_AT_MOST || other.length > WORDS_AT_MOST) return null;
  const common = commonWords(one, other);
  const letters = common.reduce((sum, [at]) => sum + (one[at]?.trim().length ?? 0), 0);
  const longer = Math.max(withoutSpaces(before), withoutSpaces(after));
  if (longer === 0 || letters / longer < LEAST_IN_COMMON) return null;
  return {
    removed: rest(one, new Set(common.map(([at]) => at))),
    added: rest(other, new Set(common.map(([, at]) => at))),
  };
}

function withoutSpaces(text: string): number {
  return text.replaceAll(/\s/gu, "").length;
}

/** Words, runs of white space, and every other character alone. */
function wordsOf(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

/** The longest common subsequence, as pairs of positions. */
function commonWords(one: readonly string[], other: readonly string[]): readonly (readonly [number, number])[] {
  const width = other.length + 1;
  const lengths = new Uint16Array((one.length + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = one.length - 1; row >= 0; row--)
    for (let column = other.length - 1; column >= 0; column--)
      lengths[row * width + column] =
        one[row] === other[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
  const pairs: [number, number][] = [];
  for (let row = 0, column = 0; row < one.length && column < other.length; ) {
    if (one[row] === other[column]) pairs.push([row++, column++]);
    else if (at(row + 1, column) >= at(row, column + 1)) row++;
    else column++;
  }
  return pairs;
}

/** The characters of the words that are not common; neighbours become one range. */
function rest(words: readonly string[], common: ReadonlySet<number>): readonly Range[] {
  const ranges: { from: number; to: number }[] = [];
  let from = 0;
  words.forEach((word, index) => {
    const to = from + word.length;
    const last = ranges.at(-1);
    if (!common.has(index)) {
      if (last?.to === from) last.to = to;
      else ranges.push({ from, to });
    }
    from = to;
  });
  return ranges;
}
