// Exchanges the places of a recorded attempt for those of its replay, and either for their names. All in one pass: one place may contain
// another.

import type { TapePlaces } from "./exchange.ts";

/** Recorded -> replayed, in an answer that the program gets. Names that one side lacks are left as they are. */
export function movedTo(recorded: TapePlaces, replayed: TapePlaces): (text: string) => string {
  const pairs = Object.entries(recorded).flatMap(([name, from]) => {
    const to = replayed[name];
    return to === undefined ? [] : bothSpellings(from, to);
  });
  return replacing(new Map(pairs));
}

/** Values -> names, so that requests of two attempts can be compared. */
export function namedPlaces(places: TapePlaces): (text: string) => string {
  return replacing(
    new Map(Object.entries(places).flatMap(([name, value]) => bothSpellings(value, `<${name}>`, `<${name}>`))),
  );
}

/** A shorter text occurs by chance. */
const MIN_CHARS = 6;

/** Programs name their own folders after the folder that they work in, with other characters than letters and digits as dashes. */
function bothSpellings(from: string, to: string, dashedTo: string = dashed(to)): [string, string][] {
  if (from.length < MIN_CHARS) return [];
  return from.startsWith("/")
    ? [
        [from, to],
        [dashed(from), dashedTo],
      ]
    : [[from, to]];
}

function dashed(path: string): string {
  return path.replaceAll(/[^A-Za-z0-9]/gu, "-");
}

function replacing(pairs: ReadonlyMap<string, string>): (text: string) => string {
  if (pairs.size === 0) return (text) => text;
  const longestFirst = [...pairs.keys()].toSorted((one, other) => other.length - one.length);
  const escaped = longestFirst.map((value) => value.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`));
  const pattern = new RegExp(`(?:${escaped.join("|")})(?![A-Za-z0-9_])`, "gu");
  return (text) => text.replace(pattern, (found) => pairs.get(found) ?? found);
}
