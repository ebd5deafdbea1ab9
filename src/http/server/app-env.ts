// What every handler finds in its context.

import type { HttpBindings } from "@hono/node-server";
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Principal } from "./principal.ts";

/** The bindings are there on a socket, not where a test hands a request to the app. */
export type AppEnv = {
  Bindings: Partial<HttpBindings>;
  /** `refused`: the code of the problem that is the answer. */
  Variables: { principal: Principal; requestId: string; refused?: string };
};
export type App = OpenAPIHono<AppEnv>;
