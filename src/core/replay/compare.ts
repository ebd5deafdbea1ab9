// Whether a replayed attempt has the same result as the recorded one: the verdict, and its payload.

import type { Outcome } from "../flow/outcome.ts";
import { canonicalJson, type Json, type JsonObject } from "../json.ts";
import { steadyText } from "./request-shape.ts";

/** How an attempt ended, in the words of its flow. */
export type ShownResult = {
  readonly health: string;
  readonly verdict: string | null;
  readonly word: string | null;
  readonly cause: string | null;
  readonly reason: string | null;
};

export type ComparedResult = {
  readonly recorded: ShownResult;
  readonly replayed: ShownResult;
  readonly sameVerdict: boolean;
  /** The parts of the result that differ: `summary`, `issues`. */
  readonly differs: readonly string[];
};

const PARTS = [
  "score",
  "summary",
  "issues",
  "findings",
  "questions",
  "stages",
  "blame",
  "payload",
  "evidence",
] as const;

/** `named…` replace the places of each attempt by their names, so that only what it says is compared. */
export function compareResults(
  recorded: JsonObject,
  replayed: Outcome,
  namedRecorded: (text: string) => string,
  namedReplayed: (text: string) => string,
): ComparedResult {
  const [before, now]: readonly [JsonObject, JsonObject] = [recorded, replayed];
  const [was, is] = [resultOf(before), resultOf(now)];
  const differs = PARTS.filter(
    (part) => steady(before[part], namedRecorded) !== steady(now[part], namedReplayed),
  ) as readonly string[];
  const checks = checksOf(before) === checksOf(now) ? [] : ["checks"];
  const sameVerdict =
    was.health === is.health && was.verdict === is.verdict && was.word === is.word && was.cause === is.cause;
  return { recorded: was, replayed: is, sameVerdict, differs: [...differs, ...checks] };
}

function resultOf(outcome: JsonObject): ShownResult {
  const text = (key: string): string | null => (typeof outcome[key] === "string" ? outcome[key] : null);
  return {
    health: text("health") ?? "",
    verdict: text("verdict"),
    word: text("word"),
    cause: text("cause"),
    reason: text("reason"),
  };
}

/** An absent list says the same as an empty one. */
function steady(value: Json | undefined, named: (text: string) => string): string {
  const isEmpty = value === undefined || (Array.isArray(value) && value.length === 0);
  return isEmpty ? "" : steadyText(named(canonicalJson(value)));
}

/** Their results; how long they took is another each time. */
function checksOf({ checks }: JsonObject): string {
  if (!Array.isArray(checks)) return "";
  return (checks as readonly JsonObject[]).map(({ name, state }) => canonicalJson({ name, state })).join("\n");
}
