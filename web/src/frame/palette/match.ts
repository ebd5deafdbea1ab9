// Finds the entries for a typed text. An entry must contain every typed word: a fuzzy match could run the wrong action.
// Acts that decide or stop match only by their name: a person who types the title of a run wants to see it.

import type { Entry } from "./entries.ts";

const LEAST_CHARS = 3;

export function matching(entries: readonly Entry[], text: string): readonly Entry[] {
  const wanted = text.trim().toLowerCase();
  const words = wanted.split(/\s+/u).filter((word) => word !== "");
  return entries
    .filter((entry) => isMeant(entry, wanted, words))
    .map((entry, index) => ({ entry, rank: (isBegun(entry, wanted) ? 0 : entries.length) + index }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ entry }) => entry);
}

function isMeant(entry: Entry, wanted: string, words: readonly string[]): boolean {
  if (entry.deed.type === "answer" || entry.deed.type === "stop")
    return wanted.length >= LEAST_CHARS && isBegun(entry, wanted);
  const said = `${entry.title} ${entry.cli ?? ""}`.toLowerCase();
  return words.every((word) => said.includes(word));
}

function isBegun({ title }: Entry, wanted: string): boolean {
  return wanted !== "" && title.toLowerCase().startsWith(wanted);
}
