// Selects the requests for the audit log: every refusal for lack of rights, every act with its outcome, and the first use of a token in an
// hour. Other reads are not recorded.

import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Context } from "hono";
import { type Refusal, statusOf } from "../contract/problem.ts";
import { ROUTES } from "../contract/routes.ts";
import type { AppEnv } from "./app-env.ts";
import type { Settings } from "../../settings/settings.ts";
import type { Audit, AuditNote, AuditType } from "./audit.ts";
import { nameOf, type Principal } from "./principal.ts";

const HOUR_MS = 3600_000;
const HOLDERS_AT_MOST = 1000;

/** Codes for a caller without the right. */
const NO_RIGHT: ReadonlySet<string> = new Set(["scope_missing", "host_not_allowed", "origin_not_allowed"]);

/** Called when the answer is known. */
export function createRequestAudit(audit: Audit, now: () => string): (context: Context<AppEnv>) => void {
  const seen = new Map<string, number>();

  function isFirstUse(principal: Principal): boolean {
    const hour = Math.floor(Date.parse(now()) / HOUR_MS);
    if (seen.get(principal.id) === hour) return false;
    if (seen.size >= HOLDERS_AT_MOST) seen.clear();
    seen.set(principal.id, hour);
    return true;
  }

  return (context) => {
    // There is no principal if the token itself was wrong.
    const principal: Principal | undefined = context.get("principal");
    const code = context.get("refused") ?? null;
    const { method, path } = context.req;
    const { status } = context.res;
    const note = (type: AuditType) =>
      audit.record({
        type,
        principal: principal?.id ?? null,
        who: principal === undefined ? null : nameOf(principal),
        from: fromOf(context),
        what: `${method} ${path}`,
        status,
        code,
        requestId: context.get("requestId"),
      });
    if (status === 401 || status === 429) return note("auth.failed");
    if (code !== null && NO_RIGHT.has(code)) return note("request.refused");
    // A call over MCP arrives as a separate request.
    // A worker's acts are recorded with the attempts that it carries out.
    const isWorkers = principal?.kind === "worker" && status < 400;
    const isLook = method === "GET" || method === "HEAD" || path === ROUTES.mcp.path || isWorkers;
    if (!isLook) {
      // A request with invalid input changed nothing; a refused decision is still recorded.
      return note(status < 400 ? "request.made" : "request.refused");
    }
    if (principal !== undefined && isFirstUse(principal)) note("token.used");
  };
}

/** For requests that are refused before they reach the app. */
export function headNote({ method = "", url = "", socket, headers }: IncomingMessage, { code }: Refusal): AuditNote {
  const [path = ""] = url.split("?", 1);
  return {
    type: "request.refused",
    principal: null,
    who: null,
    from: [socket.remoteAddress, headers["user-agent"]?.slice(0, 100)].filter((part) => part !== undefined).join(" "),
    what: `${method} ${path}`,
    status: statusOf({ code }),
    code,
    requestId: null,
  };
}

/** For the daemon's start; the hash of the settings shows whether they have changed since the last start. */
export function settingsNote(config: Settings, who: string, version: string): AuditNote {
  const mark = createHash("sha256").update(JSON.stringify(config)).digest("hex").slice(0, 16);
  return {
    type: "settings.loaded",
    principal: null,
    who,
    from: `process ${process.pid}, version ${version}`,
    what: `settings ${mark}`,
    status: null,
    code: null,
    requestId: null,
  };
}

function fromOf({ env, req }: Context<AppEnv>): string {
  const address = env?.incoming?.socket.remoteAddress ?? "this process";
  const program = req.header("user-agent");
  return program === undefined ? address : `${address} ${program.slice(0, 100)}`;
}
