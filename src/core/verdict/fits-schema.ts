// Checks a JSON value against the small part of JSON Schema that every vendor's models accept.
// The agent that sent the value reads the sentences, so each gives the place, the fault and the allowed values.

import type { Json, JsonObject } from "../json.ts";
import { clip, WORD_CHARS } from "./reading.ts";
import { isList, isObject, kindOf } from "./report-fields.ts";

const KEYWORDS = new Set([
  "type",
  "description",
  "enum",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "anyOf",
]);
const MAX_FAULTS = 8;

const TYPES: Readonly<Record<string, { readonly words: string; readonly fits: (value: Json) => boolean }>> = {
  string: { words: "a string", fits: (value) => typeof value === "string" },
  number: { words: "a number", fits: (value) => typeof value === "number" },
  integer: { words: "a whole number", fits: (value) => Number.isSafeInteger(value) },
  boolean: { words: "true or false", fits: (value) => typeof value === "boolean" },
  array: { words: "a list", fits: isList },
  object: { words: "an object", fits: isObject },
  null: { words: "null", fits: (value) => value === null },
};

/** The faults of the value, at most eight sentences; empty when it fits. `null` for an optional key counts as absent. */
export function schemaFaults(schema: JsonObject, value: Json): readonly string[] {
  const faults: string[] = [];
  check(schema, value, "", faults);
  return faults.slice(0, MAX_FAULTS);
}

/** A keyword or type that `schemaFaults` would not check. Such a schema is itself the bug, not the agent's value. */
export function unknownKeyword(schema: JsonObject): string | undefined {
  const own = Object.keys(schema).find((key) => !KEYWORDS.has(key));
  if (own !== undefined) return own;
  const { type, anyOf, properties } = schema;
  if (type === undefined ? anyOf === undefined : typeof type !== "string" || !Object.hasOwn(TYPES, type)) return "type";
  if (schema["additionalProperties"] !== undefined && schema["additionalProperties"] !== false)
    return "additionalProperties";
  const inner = [...Object.values(isObject(properties) ? properties : {}), schema["items"], ...listOf(anyOf)];
  return inner.map((each) => (isObject(each) ? unknownKeyword(each) : undefined)).find((each) => each !== undefined);
}

/** The value as JSON in plain ASCII, so that look-alike letters and invisible marks show. */
function showValue(value: Json): string {
  const text = JSON.stringify(typeof value === "string" ? clip(value, WORD_CHARS) : value);
  return clip(text, WORD_CHARS * 2).replace(
    /[^\x20-\x7e…]/g,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function check(schema: JsonObject, value: Json, path: string, faults: string[]): void {
  if (faults.length >= MAX_FAULTS) return;
  const { anyOf } = schema;
  if (anyOf !== undefined) return checkAny(listOf(anyOf).filter(isObject), value, path, faults);
  const known = typeOf(schema);
  if (known === undefined || !known.fits(value)) {
    faults.push(`${nameOf(path)} must be ${known?.words ?? "of a known type"}, not ${given(value)}.`);
    return;
  }
  const allowed = schema["enum"];
  if (isList(allowed) && !allowed.includes(value)) {
    faults.push(
      `${nameOf(path)} must be exactly one of ${allowed.map(showValue).join(", ")}, not ${showValue(value)}.`,
    );
  }
  if (isObject(value)) checkObject(schema, value, path, faults);
  if (isList(value) && isObject(schema["items"])) {
    for (const [index, item] of value.entries()) check(schema["items"], item, `${path}[${index}]`, faults);
  }
}

function checkObject(schema: JsonObject, value: JsonObject, path: string, faults: string[]): void {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = listOf(schema["required"]);
  const at = (key: string) => (path === "" ? key : `${path}.${key}`);
  for (const key of Object.keys(value)) {
    if (Object.hasOwn(properties, key) || schema["additionalProperties"] !== false) continue;
    if (faults.length >= MAX_FAULTS) return;
    faults.push(`${showValue(at(key))} is not a known key. Known keys: ${Object.keys(properties).join(", ")}.`);
  }
  for (const [key, inner] of Object.entries(properties)) {
    const item = Object.hasOwn(value, key) ? (value[key] ?? null) : null;
    const isOptional = !required.includes(key);
    if (!isObject(inner) || (item === null && isOptional)) continue;
    if (item === null && !allowsNull(inner)) faults.push(`${nameOf(at(key))} is missing.`);
    else check(inner, item, at(key), faults);
  }
}

/** If one alternative has the value's own type, its faults are reported, else the list of alternatives. */
function checkAny(choices: readonly JsonObject[], value: Json, path: string, faults: string[]): void {
  const near = choices.filter((choice) => typeOf(choice)?.fits(value));
  const tries = near.map((choice) => {
    const own: string[] = [];
    check(choice, value, path, own);
    return own;
  });
  if (tries.some((own) => own.length === 0)) return;
  if (tries[0] !== undefined) faults.push(...tries[0]);
  else {
    const words = choices.map((choice) => typeOf(choice)?.words ?? "").join(", ");
    faults.push(`${nameOf(path)} must be one of: ${words}; not ${given(value)}.`);
  }
}

function typeOf({ type }: JsonObject): (typeof TYPES)[string] | undefined {
  return typeof type === "string" && Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
}

function allowsNull(schema: JsonObject): boolean {
  return schema["type"] === "null" || listOf(schema["anyOf"]).some((choice) => isObject(choice) && allowsNull(choice));
}

function nameOf(path: string): string {
  return path === "" ? "The value" : `"${path}"`;
}

/** Shows a number that is not whole; for anything else the kind is enough. */
function given(value: Json): string {
  return typeof value === "number" ? String(value) : kindOf(value);
}

function listOf(value: Json | undefined): readonly Json[] {
  return isList(value) ? value : [];
}
