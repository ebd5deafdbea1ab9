// The values that every handler finds in its context.

import type { HttpBindings } from "@hono/node-server";
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Principal } from "./principal.ts";

/** The bindings exist on a socket, not when a test passes a request to the app. */
export type AppEnv = {
  Bindings: Partial<HttpBindings>;
  /** `refused`: the problem code of the answer. */
  Variables: { principal: Principal; requestId: string; refused?: string };
};
export type App = OpenAPIHono<AppEnv>;
