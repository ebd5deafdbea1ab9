// What a route is: plain data that the server mounts, the documentation shows, clients call and tests go through cell by cell.

import type { z } from "zod";
import type { ProblemCode } from "./problem.ts";
import type { Scope } from "./scopes.ts";

export type Method = "get" | "post" | "put" | "patch" | "delete";

/** What a request may bring in its head besides the token. */
export type RequestHeader = "Idempotency-Key" | "If-Match";

export type RouteAnswer = { readonly status: 200 | 201 | 202; readonly description: string } & (
  | { readonly type: "application/json"; readonly schema: z.ZodType }
  /** A page or a stream, made by its handler. */
  | { readonly type: "text/html" | "text/event-stream" }
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
  /** What can go wrong besides what can go wrong everywhere. */
  readonly problems: readonly ProblemCode[];
  /** Who sees that an attempt touches only what is its own: the path names its run (the rule), or the handler looks. */
  readonly owner?: "handler";
  /**
   * As clients of source 003 expect it: the body is JSON whatever its content type says, unless a browser sends it; a wrong form is a
   * 400; problems say what is wrong in `error` too.
   */
  readonly plain?: true;
  /**
   * How a repeat with the same Idempotency-Key is answered. Without it: with the first answer, and after a crash before that answer the
   * request is carried out again, because its effect is derived from the key or is the same twice. "refuse": after such a crash it is
   * refused. "secret": always refused, because the answer holds a secret, which is never stored.
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
/** What a handler gives back; undefined where it makes its own response. */
export type AnswerOf<R extends ApiRoute> = R["answer"] extends { readonly schema: infer S extends z.ZodType }
  ? z.input<S>
  : never;

/** Fills the names of a path in: `pathOf("/api/runs/{run}", { run: "12" })`. */
export function pathOf(path: ApiRoute["path"], params: Readonly<Record<string, string | number>>): string {
  return path.replaceAll(/\{([a-z]+)\}/g, (_, name: string) => encodeURIComponent(String(params[name] ?? "")));
}
