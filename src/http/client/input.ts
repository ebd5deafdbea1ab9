// The input and output types of each route, derived from the table of routes and its schemas.

import type { z } from "zod";
import { pathOf, type ApiRoute } from "../contract/route.ts";
import type { ROUTES, RouteName } from "../contract/routes.ts";

type Table = typeof ROUTES;

/** Routes that answer with JSON; pages and streams are not called like this. */
export type JsonRouteName = {
  [N in RouteName]: Table[N]["answer"] extends { readonly schema: z.ZodType } ? N : never;
}[RouteName];

export type AnswerTo<N extends JsonRouteName> = Table[N]["answer"] extends {
  readonly schema: infer S extends z.ZodType;
}
  ? z.output<S>
  : never;

/** In a URL everything is text; callers may pass a number where the contract reads one. */
type Written<T> = string extends NonNullable<T> ? T | number : T;
type InUrl<S extends z.ZodType> = { readonly [K in keyof z.input<S>]: Written<z.input<S>[K]> };

type Part<K extends string, T> =
  Readonly<Record<string, never>> extends T ? { readonly [P in K]?: T } : { readonly [P in K]: T };

/** `params`, `query` and `body` of a route, as far as it has them; optional if none of their fields is required. */
export type InputTo<N extends RouteName> = (Table[N] extends { readonly params: infer S extends z.ZodType }
  ? Part<"params", InUrl<S>>
  : unknown) &
  (Table[N] extends { readonly query: infer S extends z.ZodType } ? Part<"query", InUrl<S>> : unknown) &
  (Table[N] extends { readonly body: infer S extends z.ZodType } ? Part<"body", z.input<S>> : unknown);

/** The same without types, for the code that builds a request. */
export type LooseInput = {
  readonly params?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
};

export function targetOf({ path }: Pick<ApiRoute, "path">, { params = {}, query = {} }: LooseInput): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return `${pathOf(path, params)}${search.size === 0 ? "" : `?${search.toString()}`}`;
}
