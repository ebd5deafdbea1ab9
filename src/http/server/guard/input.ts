// The last guard: whether path, query and body match the route's schemas. Reports the first fault with its place.

import { z } from "zod";
import type { ProblemCode, Refusal } from "../../contract/problem.ts";
import { nearest } from "../../../core/check/suggest.ts";
import { err, ok, type Result } from "../../../core/result.ts";

export function readParams<S extends z.ZodType>(
  schema: S,
  given: Readonly<Record<string, string>>,
): Result<z.output<S>, Refusal> {
  const read = schema.safeParse(given);
  if (read.success) return ok(read.data);
  const [issue] = read.error.issues;
  const name = String(issue?.path[0] ?? "");
  return err({ code: "invalid_id", detail: `${name}: ${issue?.message ?? "not valid"}.`, pointer: name });
}

const CURSORS: ReadonlySet<string> = new Set(["before", "after"]);

export function readQuery<S extends z.ZodType>(
  schema: S | undefined,
  query: URLSearchParams,
): Result<z.output<S>, Refusal> {
  const given: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of query) {
    if (name in given) return err(wrongQuery(name, "it is given more than once"));
    given[name] = value;
  }
  if (schema === undefined) {
    const [name] = Object.keys(given);
    return name === undefined ? ok({} as z.output<S>) : err(wrongQuery(name, "there is no such parameter here"));
  }
  const read = schema.safeParse({ ...given });
  if (read.success) return ok(read.data);
  const [issue] = read.error.issues;
  if (issue?.code === "unrecognized_keys") {
    const known = keysOf(schema).join(", ");
    return err(wrongQuery(issue.keys[0] ?? "", `there is no such parameter; known: ${known}`));
  }
  const name = String(issue?.path[0] ?? "");
  return err(wrongQuery(name, issue?.message ?? "not valid"));
}

function wrongQuery(name: string, why: string): Refusal {
  const code = CURSORS.has(name) ? "invalid_cursor" : "invalid_query";
  return { code, detail: `${shown(name)}: ${why}.`, pointer: shown(name) };
}

/** Fields whose faults have a separate code. */
const FIELD_CODES: Readonly<Record<string, ProblemCode>> = { "/title": "invalid_title" };

export function readFields<S extends z.ZodType>(schema: S, given: unknown): Result<z.output<S>, Refusal> {
  const read = schema.safeParse(given);
  if (read.success) return ok(read.data);
  const issues = read.error.issues;
  const unknown = issues.find((issue) => issue.code === "unrecognized_keys");
  if (unknown !== undefined) {
    const key = unknown.keys[0] ?? "";
    const known = keysOf(schema);
    const near = nearest(key, known);
    return err({
      code: "unknown_field",
      detail: `There is no field ${JSON.stringify(shown(key))}.`,
      pointer: pointerOf([...unknown.path, key]),
      hint: near === undefined ? `Known fields: ${known.join(", ")}` : `Did you mean "${near}"?`,
    });
  }
  const [issue] = issues;
  const pointer = pointerOf(issue?.path ?? []);
  return err({
    code: FIELD_CODES[pointer] ?? "invalid_field",
    detail: `${pointer === "" ? "The body" : pointer}: ${issue?.message ?? "not valid"}.`,
    pointer,
  });
}

function keysOf(schema: z.ZodType): readonly string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

function pointerOf(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${shown(String(part)).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** Quotes a client's text, shortened. */
function shown(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
