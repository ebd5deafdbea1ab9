// Removes secrets from every text of a value, names of fields included: JSON may hold a text that its written form did not show.

import type { Json } from "../json.ts";

export function redactJson<T>(value: T, redact: (text: string) => string): T {
  return clean(value as Json, redact) as T;
}

function clean(value: Json, redact: (text: string) => string): Json {
  if (typeof value === "string") return redact(value);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map((each) => clean(each, redact));
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => (each === undefined ? [] : [[redact(name), clean(each, redact)]])),
  );
}
