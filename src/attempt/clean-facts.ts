// The facts of an attempt before they are kept.

import type { JsonObject } from "../core/json.ts";
import { stripAnsi } from "../core/secrets/strip-ansi.ts";

/** The one fact that is a sentence; the others are names, paths and numbers that the engine needs as they are. */
export function cleanFacts(facts: JsonObject, redact: (text: string) => string): JsonObject {
  const { detail } = facts;
  return typeof detail === "string" ? { ...facts, detail: redact(stripAnsi(detail)) } : facts;
}
