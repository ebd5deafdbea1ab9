// A refusal as the answer to a request.

import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { PROBLEM_TYPE, problemDocument, type Refusal, statusOf } from "../contract/problem.ts";
import type { AppEnv } from "./app-env.ts";

export function problem(context: Context<AppEnv>, refusal: Refusal): Response {
  const document = problemDocument(refusal, context.get("requestId"));
  context.set("refused", refusal.code);
  for (const [name, value] of Object.entries(refusal.headers ?? {})) context.header(name, value);
  return context.body(JSON.stringify(document), statusOf(refusal) as ContentfulStatusCode, {
    "content-type": PROBLEM_TYPE,
  });
}
