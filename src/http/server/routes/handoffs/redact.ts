// Removes text that looks like a key from agents' payloads, as from their output, because other agents, the history and people get it.

import type { Json } from "../../../../core/json.ts";
import { createRedaction } from "../../../../core/secrets/redaction.ts";

const { text } = createRedaction([]);

/** The same value with its texts redacted; names of fields stay. */
export function redacted<T>(value: T): T {
  return clean(value as Json) as T;
}

function clean(value: Json): Json {
  if (typeof value === "string") return text(value);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map(clean);
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => (each === undefined ? [] : [[name, clean(each)]])),
  );
}
