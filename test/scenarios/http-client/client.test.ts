// The client against the real app on a real socket, and against whatever else may sit on a port.

import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createClient } from "../../../src/http/client/client.ts";
import type { Listening } from "../../../src/http/server/listen.ts";
import { type Served, serve } from "../http/served.ts";
import { type Front, openFront } from "./front.ts";

let served: Served;
let socket: Listening;
beforeAll(async () => {
  served = await serve();
  served.play({});
  socket = await served.listen();
});
afterAll(async () => {
  await served.close();
});

const fronts: Front[] = [];
const others: Server[] = [];
afterEach(async () => {
  for (const front of fronts.splice(0)) await front.close();
  for (const other of others.splice(0)) other.close().closeAllConnections();
});

async function door(slams: number): Promise<Front> {
  const front = await openFront(socket.url, slams);
  fronts.push(front);
  return front;
}

/** Something on a port that is no daemon. */
async function stranger(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  others.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const client = (more: Partial<Parameters<typeof createClient>[0]> = {}) =>
  createClient({ url: socket.url, token: served.operator, ...more });

test("a run is started, shown, found in the list and answered, each with the types of its route", async () => {
  const started = await client().call("startRun", { body: { flow: "feature", title: "Logout" } });
  if (!started.ok) throw new Error(started.error.detail);
  const { id, number } = started.value.run;
  await served.bench.run("feature", {}, { wait: true });
  const shown = await client().call("showRun", { params: { run: number } });
  expect(shown).toMatchObject({ ok: true, value: { id, subject: { title: "Logout" } } });
  const listed = await client().call("listRuns", { query: { limit: 1, flow: "feature" } });
  expect(listed.ok && listed.value.runs).toHaveLength(1);
  expect(await client().call("health")).toMatchObject({ ok: true, value: { status: "ok" } });
});

test("a refusal comes with the code, the place and the hint of the API", async () => {
  const wrong = await client().call("startRun", { body: { flow: "featur", title: "x" } });
  expect(wrong).toMatchObject({
    ok: false,
    error: { code: "unknown_flow", status: 422, pointer: "/flow", hint: expect.stringContaining("feature") },
  });
  expect(await client().call("showRun", { params: { run: "999" } })).toMatchObject({
    ok: false,
    error: { code: "run_not_found", status: 404, requestId: expect.any(String) },
  });
  expect(await client({ token: "pr_op_wrong" }).call("health")).toMatchObject({
    ok: false,
    error: { code: "auth_invalid", status: 401 },
  });
});

test("a version that was looked at is sent, and what has changed since comes back", async () => {
  const { id } = await served.bench.run("feature", {});
  const item = `${id}.1`;
  const looked = await client().call("showItem", { params: { item } });
  if (!looked.ok) throw new Error(looked.error.detail);
  const body = { answer: "approve" };
  expect(await client().call("answerItem", { params: { item }, body })).toMatchObject({
    error: { code: "version_required" },
  });
  served.commit = "f".repeat(40);
  const { version } = looked.value;
  expect(await client().call("answerItem", { params: { item }, body }, { ifMatch: version })).toMatchObject({
    error: { code: "version_mismatch", status: 412, current: expect.any(String) },
  });
  served.commit = null;
  expect(await client().call("answerItem", { params: { item }, body }, { ifMatch: version })).toMatchObject({
    ok: true,
    value: { id: item, answer: "approve" },
  });
});

test("an answer that is lost on the way is asked for again, and nothing happens twice", async () => {
  const front = await door(2);
  const title = "Only once";
  const started = await client({ url: front.url }).call("startRun", { body: { flow: "feature", title } });
  expect(started).toMatchObject({ ok: true, value: { run: { subject: { title } } } });
  expect(front.count()).toBe(3);
  const all = await client().call("listRuns", { query: { limit: 200 } });
  expect(all.ok && all.value.runs.filter((run) => run.subject.title === title)).toHaveLength(1);
});

test("a lost answer that held a secret is not given again: the repeat says that the key is spent", async () => {
  const front = await door(1);
  const code = await client({ url: front.url }).call("createLoginCode");
  expect(code).toMatchObject({ ok: false, error: { code: "idempotency_key_spent" } });
  expect(front.count()).toBe(2);
});

test("a daemon that is not there is daemon_unreachable, with what to do", async () => {
  const gone = await stranger(() => {});
  others.splice(0).forEach((other) => other.close());
  expect(await client({ url: gone }).call("health")).toEqual({
    ok: false,
    error: {
      code: "daemon_unreachable",
      detail: expect.stringContaining("ECONNREFUSED"),
      hint: "Start the daemon with: passrail up",
      status: 0,
    },
  });
});

test("a daemon that dies in the middle of every answer is daemon_unreachable", async () => {
  const url = await stranger((_request, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
    response.write('{"runs":[');
    setImmediate(() => response.destroy());
  });
  expect(await client({ url }).call("listRuns")).toMatchObject({ error: { code: "daemon_unreachable" } });
});

test("a server that never answers is given up in time, and by the caller's own wish", async () => {
  const url = await stranger(() => {});
  expect(await client({ url, timeoutMs: 50 }).call("health")).toMatchObject({ error: { code: "daemon_timeout" } });
  const signal = AbortSignal.abort();
  expect(await client({ url }).call("health", {}, { signal })).toMatchObject({ error: { code: "call_aborted" } });
});

test.each([
  ["a page", 200, "text/html", "<html>hello</html>"],
  ["a page as an error", 502, "text/html", "<html>bad gateway</html>"],
  ["JSON that is none", 200, "application/json", "{"],
  ["JSON of another kind", 200, "application/json", '{"status":"ok"}'],
  ["a problem that is none", 500, "application/problem+json", "[]"],
  ["a redirect", 302, "text/html", ""],
])("%s is daemon_answer_unexpected", async (_what, status, type, body) => {
  let elsewhere = 0;
  const target = await stranger(() => {
    elsewhere += 1;
  });
  const url = await stranger((_request, response) => {
    response.writeHead(status, { "content-type": type, location: target });
    response.end(body);
  });
  expect(await client({ url }).call("health")).toMatchObject({
    ok: false,
    error: { code: "daemon_answer_unexpected" },
  });
  expect(elsewhere).toBe(0);
});

test("fields that a newer daemon adds are kept", async () => {
  const url = await stranger((_request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ code: "x", expiresAt: "later", novelty: { deep: 1 } }));
  });
  const read = await client({ url }).call("createLoginCode");
  expect(read).toEqual({ ok: true, value: { code: "x", expiresAt: "later", novelty: { deep: 1 } } });
});
