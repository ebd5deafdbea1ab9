// A route of the table as an operation of the OpenAPI document.

import { PROBLEM_TYPE, type ProblemCode, problemSchema, statusOf } from "../contract/problem.ts";
import type { ApiRoute } from "../contract/route.ts";
import { ROUTES } from "../contract/routes.ts";
import { holdersOf } from "../contract/scopes.ts";
import type { App } from "./app-env.ts";
import { optional } from "../../core/optional.ts";

export function describe(app: App, route: ApiRoute): void {
  const { method, path, summary, tag, scope, params, query, body, headers = [], answer } = route;
  const codes = [
    ...COMMON,
    ...(body === undefined ? [] : WITH_BODY),
    ...(params === undefined ? [] : ["invalid_id" as const]),
    ...route.problems,
  ];
  const byStatus = Map.groupBy(codes, (code) => statusOf({ code }));
  const problems = [...byStatus].map(([status, found]) => [
    status,
    { description: found.join(", "), content: { [PROBLEM_TYPE]: { schema: problemSchema } } },
  ]);
  const content =
    answer.type === "application/json"
      ? { [answer.type]: { schema: answer.schema } }
      : { [answer.type]: { schema: { type: "string" as const } } };
  app.openAPIRegistry.registerPath({
    method,
    path,
    ...operationId(route),
    summary,
    tags: [tag],
    description: `Scope ${scope}: ${holdersOf(scope).join(", ")}.`,
    security: [{ token: [] }],
    request: {
      ...optional({ params, query }),
      ...(body === undefined ? {} : { body: { required: true, content: { "application/json": { schema: body } } } }),
    },
    ...(headers.length === 0
      ? {}
      : {
          parameters: headers.map((name) => ({
            name,
            in: "header" as const,
            required: false,
            schema: { type: "string" as const },
          })),
        }),
    responses: { [answer.status]: { description: answer.description, content }, ...Object.fromEntries(problems) },
  });
}

/** Problem codes of every route. */
const COMMON: readonly ProblemCode[] = [
  "auth_required",
  "auth_invalid",
  "scope_missing",
  "host_not_allowed",
  "origin_not_allowed",
];
const WITH_BODY: readonly ProblemCode[] = [
  "unsupported_media_type",
  "body_too_large",
  "body_must_be_object",
  "invalid_json",
  "unknown_field",
  "invalid_field",
];

/** The name in the table is also the function's name in generated clients. */
function operationId(route: ApiRoute): { readonly operationId?: string } {
  const [name] = Object.entries(ROUTES).find(([, known]) => known === route) ?? [];
  return name === undefined ? {} : { operationId: name };
}
