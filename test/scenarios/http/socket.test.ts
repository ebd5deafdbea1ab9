// What only a real socket shows: Host spellings, heads that are no heads, bodies that do not end, a server that ends.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Listening } from "../../../src/http/server/listen.ts";
import { sendRaw } from "./raw-socket.ts";
import { type Served, serve } from "./served.ts";

let served: Served;
let socket: Listening;
let port: number;
beforeAll(async () => {
  served = await serve();
  socket = await served.listen();
  port = socket.port;
});
afterAll(() => served.close());

const codeOf = (body: string): unknown => (JSON.parse(body) as { code: unknown }).code;
const auth = () => `Authorization: Bearer ${served.operator}\r\n`;
const get = (lines: string, target = "/api/health", version = "1.1") =>
  sendRaw(port, `GET ${target} HTTP/${version}\r\n${lines}${auth()}Connection: close\r\n\r\n`);

test("the three names of this machine lead here", async () => {
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LocalHost:${port}`, `[::1]:${port}`])
    expect(await get(`Host: ${host}\r\n`)).toMatchObject({ status: 200 });
});

test("S02: twelve spellings of Host do not, although the token is right", async () => {
  const before = await served.seq();
  const spellings = [
    "Host: evil.example\r\n",
    `Host: evil.example:${port}\r\n`,
    "Host: 127.0.0.1\r\n",
    `Host: 127.0.0.1:${port}.evil.example\r\n`,
    `Host: user@127.0.0.1:${port}\r\n`,
    "Host: [\r\n",
    "Host: \r\n",
    `Host: 127.0.0.1:${port}\r\nHost: evil.example\r\n`,
    `Host: evil.example\r\nHost: 127.0.0.1:${port}\r\n`,
    `Host: localhost.:${port}\r\n`,
    `Host: 0.0.0.0:${port}\r\n`,
    `Host: 2130706433:${port}\r\n`,
    `Host: 127.1:${port}\r\n`,
    `Host: 127.0.0.1:${port}, evil.example\r\n`,
    `Host: 127.0.0.1:${port}/\r\n`,
    `Host: http://127.0.0.1:${port}\r\n`,
    `X-Forwarded-Host: 127.0.0.1:${port}\r\nHost: evil.example\r\n`,
  ];
  for (const host of spellings) {
    const reply = await get(host);
    expect({ host, status: reply.status, code: codeOf(reply.body) }).toEqual({
      host,
      status: 403,
      code: "host_not_allowed",
    });
    expect(reply.head).toContain("content-type: application/problem+json");
    expect(reply.head).toContain("content-security-policy: default-src 'none'");
  }
  // Without any Host: HTTP/1.0 does not ask for one, HTTP/1.1 does, and Node says so itself.
  expect(codeOf((await get("", "/api/health", "1.0")).body)).toBe("host_not_allowed");
  expect((await get("")).status).toBe(400);
  expect(await served.seq()).toBe(before);
});

test("S03: pages of others, forms and images change nothing", async () => {
  const before = await served.seq();
  const host = `Host: 127.0.0.1:${port}\r\n`;
  for (const line of [
    "Origin: http://evil.example",
    "Origin: null",
    `Origin: http://127.0.0.1:${port + 1}`,
    `Origin: http://127.0.0.1:${port}\r\nOrigin: null`,
    "Sec-Fetch-Site: cross-site",
    "Sec-Fetch-Site: same-site",
  ])
    expect(codeOf((await get(`${host}${line}\r\n`)).body)).toBe("origin_not_allowed");
  const body = JSON.stringify({ flow: "feature", title: "x" });
  const post = (type: string) =>
    sendRaw(
      port,
      `POST /api/runs HTTP/1.1\r\n${host}${auth()}${type}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    );
  for (const type of [
    "",
    "Content-Type: text/plain\r\n",
    "Content-Type: application/x-www-form-urlencoded\r\n",
    "Content-Type: Application/JSON;x\r\n",
    "Content-Type: application/json\t;x=y\r\n",
    "Content-Type: text/plain\r\nContent-Type: application/json\r\n",
  ])
    expect(await post(type)).toMatchObject({ status: 415 });
  expect(await served.seq()).toBe(before);
});

test("31: an upgrade is refused and does not hang", async () => {
  const lines = `Host: 127.0.0.1:${port}\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\n`;
  const reply = await sendRaw(port, `GET /api/events HTTP/1.1\r\n${lines}${auth()}Connection: Upgrade\r\n\r\n`);
  expect({ status: reply.status, code: codeOf(reply.body) }).toEqual({ status: 426, code: "upgrade_refused" });
  expect(reply.tookMs).toBeLessThan(3000);
});

test("32: a head or a URL that is too long", async () => {
  const host = `Host: 127.0.0.1:${port}\r\n`;
  const head = await get(`${host}X-Long: ${"x".repeat(64 * 1024)}\r\n`);
  expect({ status: head.status, code: codeOf(head.body) }).toEqual({ status: 431, code: "headers_too_large" });
  const url = await get(host, `/api/runs?status=${"x".repeat(9 * 1024)}`);
  expect({ status: url.status, code: codeOf(url.body) }).toEqual({ status: 414, code: "uri_too_long" });
});

test("targets that are no paths, and bytes that are no HTTP", async () => {
  const host = `Host: 127.0.0.1:${port}\r\n`;
  for (const target of ["/api/runs/%zz", "http://evil.example/api/runs", "*", "/api\\runs"])
    expect((await get(host, target)).status).toBe(400);
  expect((await sendRaw(port, "nonsense\r\n\r\n")).status).toBe(400);
  expect((await get(host, "//evil.example/api/runs")).status).toBe(404);
  expect((await get(host)).status).toBe(200);
});

test("S01: who has no token is answered before the body, which is not waited for", async () => {
  const head = (length: string, extra = "") =>
    `POST /api/runs HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${extra}Content-Type: application/json\r\n${length}\r\n`;
  const huge = await sendRaw(port, `${head("Content-Length: 1073741824\r\n")}{`);
  expect({ status: huge.status, code: codeOf(huge.body) }).toEqual({ status: 401, code: "auth_required" });
  expect(huge.tookMs).toBeLessThan(3000);
  const polite = await sendRaw(port, head("Content-Length: 10\r\nExpect: 100-continue\r\n"));
  expect(polite).toMatchObject({ status: 401 });
  expect(polite.head).not.toContain("100 continue");
});

test("9, 10: a body that is announced as too large, and one that never ends", async () => {
  const before = await served.seq();
  const head = `POST /api/runs HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${auth()}Content-Type: application/json\r\n`;
  const announced = await sendRaw(port, `${head}Content-Length: 1048577\r\n\r\n{`);
  expect({ status: announced.status, code: codeOf(announced.body) }).toEqual({ status: 413, code: "body_too_large" });
  const chunk = `10000\r\n${" ".repeat(0x10000)}\r\n`;
  const endless = await sendRaw(port, `${head}Transfer-Encoding: chunked\r\n\r\n`, (write) => {
    const timer = setInterval(() => write(chunk), 1);
    return () => clearInterval(timer);
  });
  expect(endless.status).toBe(413);
  expect(endless.body).toContain("body_too_large");
  expect(endless.tookMs).toBeLessThan(5000);
  expect(await served.seq()).toBe(before);
});

test("a body that was asked for first is taken once everything else is right", async () => {
  const body = JSON.stringify({ flow: "nothing", title: "x" });
  const head = `POST /api/runs HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${auth()}Content-Type: application/json\r\nConnection: close\r\n`;
  const reply = await sendRaw(
    port,
    `${head}Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`,
    (write) => {
      const timer = setTimeout(() => write(body), 20);
      return () => clearTimeout(timer);
    },
  );
  expect(reply.head).toContain("100 continue");
  expect(reply.body).toContain("unknown_flow");
});

test("it listens on loopback only, and ends without leaving anybody waiting", async () => {
  const other = await served.listen();
  const url = `${other.url}/api/health`;
  const headers = { authorization: `Bearer ${served.operator}` };
  expect((await fetch(url, { headers })).status).toBe(200);
  expect(other.url).toMatch(/^http:\/\/127\.0\.0\.1:/);
  const started = performance.now();
  await other.close();
  expect(performance.now() - started).toBeLessThan(3000);
  await expect(fetch(url, { headers })).rejects.toThrow("fetch failed");
});
