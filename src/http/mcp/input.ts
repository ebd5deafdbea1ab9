// The arguments of the operator's tools: written with zod, shown to models in the small part of JSON Schema that every vendor accepts.

import { z } from "zod";
import type { Json, JsonObject } from "../../core/json.ts";
import { isObject } from "../../core/verdict/report-fields.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { withoutClientKeys } from "../../runner/desk/tools.ts";

const KEPT = new Set(["type", "description", "enum", "properties", "required", "items", "anyOf"]);

export function inputSchemaOf(schema: z.ZodObject): JsonObject {
  return small(z.toJSONSchema(schema, { io: "input" }) as JsonObject);
}

function small(schema: JsonObject): JsonObject {
  const entries = Object.entries(schema).flatMap(([key, value]) => {
    if (key === "additionalProperties") return value === false ? [[key, value]] : [];
    if (key === "properties" && isObject(value))
      return [[key, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, inner(each)]))]];
    return KEPT.has(key) ? [[key, key === "items" ? inner(value) : value]] : [];
  });
  return Object.fromEntries(entries) as JsonObject;
}

function inner(value: Json | undefined): Json {
  return isObject(value) ? small(value) : (value ?? null);
}

/** Models write null for omitted values. */
export function readInput<S extends z.ZodObject>(schema: S, sent: Json): Result<z.output<S>, string> {
  const args = withoutClientKeys(sent);
  const given = isObject(args) ? Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null)) : args;
  const read = schema.safeParse(given);
  return read.success ? ok(read.data) : err(z.prettifyError(read.error));
}
