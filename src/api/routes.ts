// The table of routes: the contract between the server and whoever calls it. Every route names the one scope that opens it. A route's
// name here is its operationId in OpenAPI and its name in clients.

import type { Routes } from "./route.ts";
import { CATALOG_ROUTES } from "./routes/catalog.ts";
import { INBOX_ROUTES } from "./routes/inbox.ts";
import { RUN_ROUTES } from "./routes/runs.ts";
import { SYSTEM_ROUTES } from "./routes/system.ts";

export const ROUTES = {
  ...RUN_ROUTES,
  ...INBOX_ROUTES,
  ...CATALOG_ROUTES,
  ...SYSTEM_ROUTES,
} as const satisfies Routes;

export type RouteName = keyof typeof ROUTES;
