// The facts of an attempt that a worker may state. Processes, folders and repositories are facts about one machine: of another one they
// would lead the engine to end or open the wrong thing, so they are dropped. The node itself states the commits.

import type { JsonObject } from "../core/json.ts";

const STATED: ReadonlySet<string> = new Set([
  "enclosure",
  "ended",
  "exitCode",
  "signal",
  "durationMs",
  "outputBytes",
  "truncated",
  "detail",
  "runner",
  "command",
  "ownCommand",
  "model",
  "version",
  "turns",
  "toolCalls",
  "denials",
  "reportedMs",
  "usage",
  "session",
  "sessionBefore",
  "sparedTokens",
  "repaired",
  "heard",
  "diffBytes",
  "files",
  "trust",
  "answer",
  "committed",
]);

const FACTS_CHARS = 256 * 1024;

/** Null if nothing of them may be stored. */
export function statedFacts(facts: JsonObject): JsonObject | null {
  const kept = Object.fromEntries(Object.entries(facts).filter(([name]) => STATED.has(name)));
  if (Object.keys(kept).length === 0 || JSON.stringify(kept).length > FACTS_CHARS) return null;
  return kept;
}
