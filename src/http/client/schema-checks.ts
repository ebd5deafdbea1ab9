// Checks answers against the schemas of the contract. For programs; the dashboard is served by the daemon that it calls and needs no
// checks.

import type { z } from "zod";
import { problemSchema } from "../contract/problem.ts";
import type { ApiRoute } from "../contract/route.ts";
import { ROUTES } from "../contract/routes.ts";
import type { ProblemBody } from "./answer.ts";
import type { JsonRouteName } from "./input.ts";

export function faultOf(name: JsonRouteName, body: unknown): string | undefined {
  const { answer }: ApiRoute = ROUTES[name];
  if (answer.type !== "application/json") return `${name} does not answer with JSON`;
  const read = answer.schema.safeParse(body);
  return read.success ? undefined : firstFault(read.error);
}

export function problemIn(body: unknown): ProblemBody | undefined {
  const read = problemSchema.safeParse(body);
  if (!read.success) return undefined;
  const { type: _type, title: _title, status: _status, ...problem } = read.data;
  return problem;
}

function firstFault(error: z.ZodError): string {
  const [issue] = error.issues;
  return `${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`.trim();
}
