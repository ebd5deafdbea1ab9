// The app: guards first, then the routes, then answers for unknown paths, wrong methods and internal errors. An unauthenticated caller
// learns nothing, not even which paths exist.

import { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { StoreError } from "../../store/store.ts";
import { createReach } from "./agent-reach.ts";
import { problem } from "./answer-problem.ts";
import type { App, AppEnv } from "./app-env.ts";
import { createRequestAudit } from "./audit-request.ts";
import { headOfRequest, type HeadRules, refuseHead } from "./guard/head.ts";
import { ANSWER_HEADERS } from "./guard/headers.ts";
import { findPrincipal } from "./guard/token.ts";
import { createMount, type MountRoute } from "./mount.ts";
import type { ServerDeps } from "./deps.ts";
import { mountWeb, type Web } from "./web.ts";
import { createIdempotency } from "./idempotency.ts";
import { mountActivity } from "./routes/activity.ts";
import { mountAttemptFiles } from "./routes/attempt-files.ts";
import { mountCatalog } from "./routes/catalog.ts";
import { mountActs } from "./routes/acts.ts";
import { mountControl } from "./routes/control.ts";
import { mountCost } from "./routes/cost.ts";
import { mountDeliveries } from "./routes/deliveries.ts";
import { mountDocs } from "./routes/docs.ts";
import { mountEvents } from "./routes/events.ts";
import { mountHandoffs } from "./routes/handoffs.ts";
import { mountInbox } from "./routes/inbox.ts";
import { mountKeys } from "./routes/keys.ts";
import { mountLanding } from "./routes/landing.ts";
import { mountDiff } from "./routes/diff.ts";
import { mountLogs } from "./routes/logs.ts";
import { mountMachine } from "./routes/machine.ts";
import { mountMcp } from "./routes/mcp.ts";
import { mountNow } from "./routes/now.ts";
import { mountReport } from "./routes/report.ts";
import { mountExport } from "./routes/export.ts";
import { mountRuns } from "./routes/runs.ts";
import { mountSystem } from "./routes/system.ts";
import { mountTickets } from "./routes/tickets.ts";
import { mountTrust } from "./routes/trust.ts";
import { mountHolds } from "./routes/holds.ts";
import { mountStatusMirror } from "./routes/status-mirror.ts";
import { mountWorkers } from "./routes/workers.ts";

export type AppOptions = HeadRules & {
  /** Routes of other parts of the server, behind the same guards: the live stream, handoffs. */
  readonly more?: (mount: MountRoute) => void;
  /**
   * For senders that sign their requests instead of holding a token. These routes check the signature themselves, after the checks of Host
   * and Origin.
   */
  readonly signed?: readonly SignedRoute[];
  /** The dashboard's files, if it was built. They are public; the data they show is not. */
  readonly web?: Web;
};

export type SignedRoute = {
  /** In Hono's form: `/hooks/:source`. */
  readonly path: string;
  readonly handle: (context: Context<AppEnv>) => Promise<Response>;
};

export function createApp(deps: ServerDeps, options: AppOptions): App {
  const app: App = new OpenAPIHono<AppEnv>();
  const mount = createMount(app, createIdempotency(deps), createReach(deps.store));

  const record = deps.audit === undefined ? undefined : createRequestAudit(deps.audit, deps.now);

  app.use("*", async (context, next) => {
    context.set("requestId", deps.newId());
    const head = headOfRequest(context.req.raw);
    const refusal = refuseHead(head, options);
    if (refusal === undefined) await next();
    else context.res = problem(context, refusal);
    for (const [name, value] of Object.entries(ANSWER_HEADERS)) {
      if (!context.res.headers.has(name)) context.res.headers.set(name, value);
    }
    context.res.headers.set("x-request-id", context.get("requestId"));
    record?.(context);
  });
  for (const { path, handle } of options.signed ?? []) app.post(path, handle);
  if (options.web !== undefined) mountWeb(app, options.web);
  app.use("*", async (context, next) => {
    const found = findPrincipal(headOfRequest(context.req.raw).values("authorization"), deps);
    if (!found.ok) return problem(context, found.error);
    context.set("principal", found.value);
    return next();
  });

  mountRuns(mount, deps);
  mountActivity(mount, deps);
  mountAttemptFiles(mount, deps);
  mountExport(mount, deps);
  mountLogs(mount, deps);
  mountDiff(mount, deps);
  mountActs(mount, deps);
  mountControl(mount, deps);
  mountLanding(mount, deps);
  mountTickets(mount, deps);
  mountInbox(mount, deps);
  mountNow(mount, deps);
  mountReport(mount, deps);
  mountHandoffs(mount, deps);
  mountEvents(mount, deps);
  mountCatalog(mount, deps);
  mountCost(mount, deps);
  mountKeys(mount, deps);
  mountHolds(mount, deps);
  mountStatusMirror(mount, deps);
  mountWorkers(mount, deps);
  mountMachine(mount, deps);
  mountTrust(mount, deps);
  mountSystem(mount, deps);
  mountDeliveries(mount, deps);
  mountMcp(app, mount, deps);
  options.more?.(mount);
  mountDocs(app, mount, deps);

  app.notFound((context) => {
    const methods = mount.methodsAt(context.req.path);
    if (methods.length === 0)
      return problem(context, { code: "route_not_found", detail: "There is nothing at this path.", hint: "GET /docs" });
    const allow = methods.join(", ");
    return problem(context, {
      code: "method_not_allowed",
      detail: `${context.req.method} is not allowed here.`,
      hint: `Allowed: ${allow}`,
      headers: { allow },
    });
  });
  app.onError((error, context) => {
    deps.onProblem(error instanceof Error ? (error.stack ?? error.message) : String(error), context.get("requestId"));
    if (error instanceof StoreError)
      return problem(context, { code: "store_unavailable", detail: error.message, hint: error.hint });
    return problem(context, { code: "internal_error", detail: "The request could not be answered; the log has more." });
  });
  return app;
}
