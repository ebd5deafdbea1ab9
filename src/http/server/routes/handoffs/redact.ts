// What agents send is kept without what looks like a key, as their output is: it goes to other agents, into the history and to people.

import type { Json } from "../../../../core/json.ts";
import { createRedaction } from "../../../../core/secrets/redaction.ts";

const { text } = createRedaction([]);

/** The same value with the texts in it cleaned; names of fields stay. */
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
