// The table of routes: the contract between the server and its callers. Every route names the one scope that opens it. A route's name here
// is its operationId in OpenAPI and its name in clients.

import type { ApiRoutes } from "./route.ts";
import { ACT_ROUTES } from "./routes/acts.ts";
import { CATALOG_ROUTES } from "./routes/catalog.ts";
import { EVENT_ROUTES } from "./routes/events.ts";
import { HANDOFF_ROUTES } from "./routes/handoffs.ts";
import { HOLD_ROUTES } from "./routes/holds.ts";
import { STATUS_MIRROR_ROUTES } from "./routes/status-mirror.ts";
import { INBOX_ROUTES } from "./routes/inbox.ts";
import { KEY_ROUTES } from "./routes/keys.ts";
import { LANDING_ROUTES } from "./routes/landing.ts";
import { ACTIVITY_ROUTES } from "./routes/activity.ts";
import { DIFF_ROUTES } from "./routes/diff.ts";
import { LOG_ROUTES } from "./routes/logs.ts";
import { MACHINE_ROUTES } from "./routes/machine.ts";
import { MCP_ROUTES } from "./routes/mcp.ts";
import { NOW_ROUTES } from "./routes/now.ts";
import { RUN_ROUTES } from "./routes/runs.ts";
import { SYSTEM_ROUTES } from "./routes/system.ts";
import { WEBHOOK_ROUTES } from "./routes/webhooks.ts";
import { TRUST_ROUTES } from "./routes/trust.ts";
import { TICKET_ROUTES } from "./routes/tickets.ts";
import { WORKER_ROUTES } from "./routes/workers.ts";

export const ROUTES = {
  ...RUN_ROUTES,
  ...ACT_ROUTES,
  ...LANDING_ROUTES,
  ...ACTIVITY_ROUTES,
  ...LOG_ROUTES,
  ...DIFF_ROUTES,
  ...TICKET_ROUTES,
  ...INBOX_ROUTES,
  ...NOW_ROUTES,
  ...HANDOFF_ROUTES,
  ...EVENT_ROUTES,
  ...CATALOG_ROUTES,
  ...KEY_ROUTES,
  ...WORKER_ROUTES,
  ...HOLD_ROUTES,
  ...STATUS_MIRROR_ROUTES,
  ...MACHINE_ROUTES,
  ...TRUST_ROUTES,
  ...MCP_ROUTES,
  ...SYSTEM_ROUTES,
  ...WEBHOOK_ROUTES,
} as const satisfies ApiRoutes;

export type RouteName = keyof typeof ROUTES;
