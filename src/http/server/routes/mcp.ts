// MCP over HTTP. Its tools call this app with the caller's token, so that every guard checks again and no right is granted twice.

import { createHash } from "node:crypto";
import { ROUTES } from "../../contract/routes.ts";
import { createClient } from "../../client/client.ts";
import type { Json } from "../../../core/json.ts";
import { answerOperator } from "../../mcp/answer.ts";
import { createOperatorTools } from "../../mcp/tools.ts";
import { streamed, wantsStream } from "../mcp-stream.ts";
import { problem } from "../answer-problem.ts";
import type { App } from "../app-env.ts";
import type { MountRoute } from "../mount.ts";
import type { ServerDeps } from "../deps.ts";

/** Including one that waits for a run. */
const MAX_RUNNING = 64;

export function mountMcp(app: App, mount: MountRoute, { onProblem }: Pick<ServerDeps, "onProblem">): void {
  let running = 0;
  mount.response(ROUTES.mcp, async ({ body, requestId }, context) => {
    if (running >= MAX_RUNNING)
      return problem(context, {
        code: "too_many_calls",
        detail: `${MAX_RUNNING} calls over MCP are under way.`,
        headers: { "retry-after": "1" },
      });
    running += 1;
    try {
      const { headers, signal } = context.req.raw;
      const key = headers.get("idempotency-key");
      const tools = createOperatorTools({
        client: clientOf(app, headers, key),
        readOnly: false,
        onProblem: (text) => onProblem(text, requestId),
      });
      const headerOf = (name: string) => headers.get(name);
      if (wantsStream(body as Json, headers)) {
        running += 1;
        const stream = streamed((notify) => answerOperator(body as Json, tools, { headerOf, signal, notify }));
        void stream.over.finally(() => {
          running -= 1;
        });
        return stream.response;
      }
      const reply = await answerOperator(body as Json, tools, { headerOf, signal });
      if (reply.body === undefined) return new Response(null, { status: reply.status });
      return new Response(JSON.stringify(reply.body), {
        status: reply.status,
        headers: { "content-type": "application/json" },
      });
    } finally {
      running -= 1;
    }
  });
}

/** Calls the app as the caller does: same Host, same token. Both have passed the guards once. */
function clientOf(app: App, headers: Headers, key: string | null) {
  const host = headers.get("host") ?? "";
  const token = (headers.get("authorization") ?? "").replace(/^\S+ +/, "");
  return createClient({
    url: `http://${host}`,
    token,
    retries: 0,
    fetch: async (url, init) => {
      const sent = new Headers(init.headers);
      sent.set("host", host);
      // One tool call may make several requests: each gets a separate key, which is the same when the call is repeated.
      if (key !== null && sent.has("idempotency-key")) sent.set("idempotency-key", keyFor(key, url));
      return app.request(url, { ...init, headers: sent });
    },
  });
}

function keyFor(key: string, url: string | URL): string {
  return createHash("sha256")
    .update(JSON.stringify([key, String(url)]))
    .digest("hex");
}
