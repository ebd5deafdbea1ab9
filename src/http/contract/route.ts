// A route as plain data: the server mounts it, the documentation shows it, clients call it, and tests check every cell of the table.

import type { z } from "zod";
import type { ProblemCode } from "./problem.ts";
import type { Scope } from "./scopes.ts";

export type Method = "get" | "post" | "put" | "patch" | "delete";

/** Request headers besides the token. */
export type RequestHeader = "Idempotency-Key" | "If-Match";

export type RouteAnswer = { readonly status: 200 | 201 | 202; readonly description: string } & (
  | { readonly type: "application/json"; readonly schema: z.ZodType }
  /** A page or a stream; the handler makes the response. */
  | { readonly type: "text/html" | "text/plain" | "text/event-stream" | "application/octet-stream" }
);

export type ApiRoute = {
  readonly method: Method;
  /** As OpenAPI writes it: `/api/runs/{run}`. */
  readonly path: `/${string}`;
  readonly scope: Scope;
  readonly tag: string;
  readonly summary: string;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  readonly headers?: readonly RequestHeader[];
  readonly answer: RouteAnswer;
  /** Problem codes of this route, besides those of every route. */
  readonly problems: readonly ProblemCode[];
  /** By default the mount checks that an attempt touches only its own run, which the path names; "handler": the handler checks. */
  readonly owner?: "handler";
  /**
   * For clients of source 003: the body is JSON regardless of its content type, unless a browser sends it; invalid input is a 400; problems
   * repeat the detail in `error`.
   */
  readonly plain?: true;
  /**
   * How a repeat with the same Idempotency-Key is answered. Default: with the first answer; after a crash before that answer the request is
   * carried out again, because its effect is derived from the key or is idempotent. "refuse": after such a crash it is refused. "secret":
   * always refused, because the answer holds a secret, which is never stored.
   */
  readonly repeat?: "refuse" | "secret";
};

export type ApiRoutes = Readonly<Record<string, ApiRoute>>;

/** An answer in JSON. */
export const json = <S extends z.ZodType>(schema: S, description: string, status: 200 | 201 | 202 = 200) =>
  ({ status, description, type: "application/json", schema }) as const;

type Read<S> = S extends z.ZodType ? z.output<S> : Readonly<Record<string, never>>;

export type ParamsOf<R extends ApiRoute> = Read<R["params"]>;
export type QueryOf<R extends ApiRoute> = Read<R["query"]>;
export type BodyOf<R extends ApiRoute> = Read<R["body"]>;
/** The return type of a handler; undefined if it makes the response itself. */
export type AnswerOf<R extends ApiRoute> = R["answer"] extends { readonly schema: infer S extends z.ZodType }
  ? z.input<S>
  : never;

/** Fills in the names of a path: `pathOf("/api/runs/{run}", { run: "12" })`. */
export function pathOf(path: ApiRoute["path"], params: Readonly<Record<string, string | number>>): string {
  return path.replaceAll(/\{([a-z]+)\}/g, (_, name: string) => encodeURIComponent(String(params[name] ?? "")));
}
