// The address of a route: everything that a request needs, without the schemas. The dashboard's build writes these into its bundle.

import type { ApiRoute } from "../contract/route.ts";

export type RouteAddress = Pick<ApiRoute, "method" | "path"> & {
  readonly headers: NonNullable<ApiRoute["headers"]>;
  readonly hasBody: boolean;
};

export function addressOf({ method, path, headers = [], body }: ApiRoute): RouteAddress {
  return { method, path, headers, hasBody: body !== undefined };
}

export function addressesOf<N extends string>(
  routes: Readonly<Record<N, ApiRoute>>,
): Readonly<Record<N, RouteAddress>> {
  const entries = Object.entries<ApiRoute>(routes).map(([name, route]) => [name, addressOf(route)]);
  return Object.fromEntries(entries) as Readonly<Record<N, RouteAddress>>;
}
