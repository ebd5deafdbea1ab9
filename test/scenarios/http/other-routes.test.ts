// Where other parts of the server come in: streams behind the same guards, and senders that sign instead of holding a token.

import { afterEach, beforeEach, expect, test } from "vitest";
import type { ApiRoute } from "../../../src/http/contract/route.ts";
import { createApp } from "../../../src/http/server/app.ts";
import { listen } from "../../../src/http/server/listen.ts";
import { type Served, serve } from "./served.ts";

let served: Served;
beforeEach(async () => {
  served = await serve();
});
afterEach(() => served.close());

const STREAM = {
  method: "get",
  path: "/api/ticks",
  scope: "read",
  tag: "test",
  summary: "Ticks",
  answer: { status: 200, description: "ticks", type: "text/event-stream" },
  problems: [],
} as const satisfies ApiRoute;

test("a stream comes through as it is made, and ends with its client", async () => {
  let ended = false;
  const make = ({ port }: { readonly port: number }) =>
    createApp(served.deps, {
      port,
      more: (mount) =>
        mount.response(STREAM, async () => {
          const body = new ReadableStream<Uint8Array>({
            start: (controller) => controller.enqueue(Buffer.from("data: 1\n\n")),
            cancel: () => {
              ended = true;
            },
          });
          const headers = { "content-type": "text/event-stream", "cache-control": "no-store, no-transform" };
          return new Response(body, { headers });
        }),
    });
  const socket = await listen(make, { port: 0 });
  const leave = new AbortController();
  const headers = { authorization: `Bearer ${served.operator}` };
  expect((await fetch(`${socket.url}/api/ticks`)).status).toBe(401);
  const response = await fetch(`${socket.url}/api/ticks`, { headers, signal: leave.signal });
  expect(response.headers.get("cache-control")).toBe("no-store, no-transform");
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  const reader = response.body?.getReader();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("data: 1\n\n");
  leave.abort();
  await expect.poll(() => ended).toBe(true);
  await socket.close(0);
});

test("a signed sender needs no token, but the right Host, and opens nothing else", async () => {
  served.app = createApp(served.deps, {
    port: 4321,
    signed: [
      { path: "/hooks/:source", handle: async (context) => context.json({ source: context.req.param("source") }) },
    ],
  });
  expect(await served.call("POST", "/hooks/tracker", { token: null, body: {} })).toMatchObject({
    status: 200,
    body: { source: "tracker" },
  });
  const evil = { token: null, body: {}, headers: { host: "evil.example" } };
  expect(await served.call("POST", "/hooks/tracker", evil)).toMatchObject({ status: 403 });
  expect(await served.call("GET", "/hooks/tracker", { token: null })).toMatchObject({ status: 401 });
  expect(await served.call("POST", "/api/runs", { token: null, body: {} })).toMatchObject({ status: 401 });
});
