// Which recorded answer a request of a replay gets. The same conversation at the same point, and nothing else, is answered; where its texts
// differ the answer says so, and a request that fits no recorded one gets none.

import type { Json } from "../json.ts";
import type { TapedExchange, TapePlaces } from "./exchange.ts";
import { namedPlaces } from "./places.ts";
import { shapeOf, textsOf } from "./request-shape.ts";

export type AskedAgain = { readonly method: string; readonly path: string; readonly request: string };

/** A place where the request of the replay has another text than the recorded one. */
export type RequestDifference = {
  /** The path of keys: `/messages/0/content`. */
  readonly where: string;
  readonly recorded: string;
  readonly replayed: string;
};

export type FoundAnswer =
  | { readonly type: "found"; readonly exchange: TapedExchange; readonly differences: readonly RequestDifference[] }
  | { readonly type: "none"; readonly why: string };

export type AnswerFinder = { find(asked: AskedAgain): FoundAnswer };

export type FinderOptions = {
  readonly exchanges: readonly TapedExchange[];
  readonly recorded: TapePlaces;
  readonly replayed: TapePlaces;
  /** Whether a request gets a model's answer; a list of models or a count may be asked for as often as the program likes. */
  readonly isModelAnswer: (path: string) => boolean;
};

type Known = { readonly exchange: TapedExchange; readonly shape: string; readonly body: Json | undefined };

export function createAnswerFinder({ exchanges, recorded, replayed, isModelAnswer }: FinderOptions): AnswerFinder {
  const known = exchanges.map((exchange): Known => {
    const body = parsed(exchange.request);
    return { exchange, body, shape: shapeOf(exchange.method, exchange.path, body) };
  });
  const unused = new Set(known);
  const [ofRecord, ofReplay] = [namedPlaces(recorded), namedPlaces(replayed)];
  return {
    find(asked) {
      const body = parsed(asked.request);
      const shape = shapeOf(asked.method, asked.path, body);
      const texts = textsOf(body, ofReplay);
      const fitting = [...unused].filter((each) => each.shape === shape);
      const again = isModelAnswer(asked.path.split("?", 1)[0] ?? "")
        ? []
        : known.filter((each) => each.shape === shape);
      const candidates = fitting.length > 0 ? fitting : again;
      const best = closest(
        candidates.map((each) => ({ each, differences: between(textsOf(each.body, ofRecord), texts) })),
      );
      if (best === undefined) return { type: "none", why: whyNone(known, unused, asked, shape) };
      unused.delete(best.each);
      return { type: "found", exchange: best.each.exchange, differences: best.differences };
    },
  };
}

/** Fewest differences; the oldest among equals. */
function closest<T extends { readonly differences: readonly RequestDifference[] }>(all: readonly T[]): T | undefined {
  return all.reduce<T | undefined>(
    (best, each) => (best === undefined || each.differences.length < best.differences.length ? each : best),
    undefined,
  );
}

/** Shown of each text, around where they part. */
const SHOWN_CHARS = 160;

function between(recorded: ReadonlyMap<string, string>, replayed: ReadonlyMap<string, string>): RequestDifference[] {
  const places = new Set([...recorded.keys(), ...replayed.keys()]);
  return [...places].flatMap((where) => {
    const [before, now] = [recorded.get(where), replayed.get(where)];
    if (before === now) return [];
    return [{ where, recorded: excerpt(before, now), replayed: excerpt(now, before) }];
  });
}

function excerpt(text: string | undefined, other: string | undefined): string {
  if (text === undefined) return "";
  if (other === undefined) return text.slice(0, SHOWN_CHARS);
  let at = 0;
  while (at < text.length && text[at] === other[at]) at += 1;
  return text.slice(Math.max(0, at - 20), at + SHOWN_CHARS);
}

function whyNone(
  known: readonly Known[],
  unused: ReadonlySet<Known>,
  { method, path }: AskedAgain,
  shape: string,
): string {
  const what = `${method} ${path.split("?", 1)[0] ?? ""}`;
  const next = known.find((each) => unused.has(each));
  if (known.some((each) => each.shape === shape)) return `${what} was recorded less often`;
  if (next === undefined) return `${what}: the tape has no further answer`;
  return `${what} is at another point of the conversation than request ${next.exchange.number} of the tape: ${partedAt(next.shape, shape)}`;
}

/** The first step that differs. */
function partedAt(recorded: string, replayed: string): string {
  const [before, now] = [recorded.split("\n"), replayed.split("\n")];
  const at = before.findIndex((step, index) => step !== now[index]);
  if (at === -1) return `it goes on with "${now[before.length] ?? ""}" where the recorded one ended`;
  return `"${(now[at] ?? "nothing").slice(0, 100)}" instead of "${(before[at] ?? "").slice(0, 100)}"`;
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
