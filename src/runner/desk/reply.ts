// HTTP answers of the desk: short JSON or nothing, never cached, and each closes its connection.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Json } from "../../core/json.ts";

export type Reply = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Json;
};

/** How much of an unwanted body is discarded, and for how long, so that the sender can read the answer. */
const LINGER_BYTES = 4 * 1024 * 1024;
const LINGER_MS = 200;

export function send(response: ServerResponse, reply: Reply): void {
  response.end(head(response, reply));
}

/** Answers before the request has been read: sends at once, then closes the connection, however much is still coming. */
export function sendEarly(request: IncomingMessage, response: ServerResponse, reply: Reply): void {
  if (request.complete) return send(response, reply);
  response.write(head(response, reply));
  let left = LINGER_BYTES;
  const end = () => {
    clearTimeout(timer);
    request.removeAllListeners("data");
    if (!response.writableEnded) response.end(() => request.socket.destroy());
  };
  const timer = setTimeout(end, LINGER_MS).unref();
  request.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) end();
  });
  request.once("end", end);
  request.once("close", () => clearTimeout(timer));
  request.resume();
}

function head(response: ServerResponse, { status, headers, body }: Reply): string {
  const text = body === undefined ? "" : JSON.stringify(body);
  response.writeHead(status, {
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    "content-length": Buffer.byteLength(text),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    connection: "close",
    ...headers,
  });
  return text;
}
