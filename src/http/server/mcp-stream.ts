// A call over MCP whose caller wants to hear of its progress: the answer is a stream of events, the result comes last. Every other call is
// answered with one JSON text.

import type { Json, JsonObject } from "../../core/json.ts";
import { isObject } from "../../core/verdict/report-fields.ts";
import type { Reply } from "../../runner/desk/reply.ts";

/** Only a request with a token for progress, from a client that reads streams. */
export function wantsStream(message: Json, headers: Headers): boolean {
  const params = isObject(message) && message["method"] === "tools/call" ? message["params"] : undefined;
  const meta = isObject(params) ? params["_meta"] : undefined;
  const hasToken = isObject(meta) && meta["progressToken"] !== undefined;
  return hasToken && (headers.get("accept") ?? "").includes("text/event-stream");
}

export function streamed(call: (notify: (note: JsonObject) => void) => Promise<Reply>): {
  readonly response: Response;
  /** Settles when the call has ended, whether or not its caller still listens. */
  readonly over: Promise<void>;
} {
  const encoder = new TextEncoder();
  let over: Promise<void> = Promise.resolve();
  let isGone = false;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (message: Json): void => {
        if (!isGone) controller.enqueue(encoder.encode(`event: message\ndata: ${JSON.stringify(message)}\n\n`));
      };
      over = call(send).then((reply) => {
        if (reply.body !== undefined) send(reply.body);
        if (!isGone) controller.close();
      });
    },
    cancel() {
      isGone = true;
    },
  });
  const headers = { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" };
  return { response: new Response(body, { status: 200, headers }), over };
}
