// Bytes on the daemon's socket that no client sends: heads that do not end, crowds that say nothing, requests hidden in requests, packed
// bodies, callers that are gone in the middle. What a well-formed request can do wrong is tested beside the server.

import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../../harness/until.ts";
import { sendRaw } from "../http/raw-socket.ts";
import { type Running, startDaemon } from "./running.ts";

const SLOW = 60_000;

let daemon: Running;
let port: number;
beforeAll(async () => {
  daemon = await startDaemon();
  port = Number(new URL(daemon.url).port);
}, SLOW);
afterAll(() => daemon.close());
const WANTED = JSON.stringify({ action: "start", storyId: "v0.1:1.1.1" });
const post = (lines: readonly string[], body = "", path = "/api/run") =>
  [
    `POST ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    `Authorization: Bearer ${daemon.token}`,
    "Content-Type: application/json",
    ...lines,
    "",
    body,
  ].join("\r\n");

test("two lengths, a length beside chunks, folded and broken lines: refused, and what hides behind them is not carried out", async () => {
  const hidden = post([`Content-Length: ${WANTED.length}`, "Connection: close"], WANTED);
  const broken = [
    ["Content-Length: 0", "Transfer-Encoding: chunked"],
    ["Transfer-Encoding: chunked", "Content-Length: 5"],
    ["Content-Length: 0", `Content-Length: ${hidden.length}`],
    ["Transfer-Encoding: chunked, identity"],
    ["Transfer-Encoding: identity, chunked", "Transfer-Encoding: x"],
    ["Transfer-Encoding : chunked"],
    ["Content-Length: +1"],
    ["Content-Length: 0x10"],
    ["Content-Length: 0", "X-Folded: a", " Transfer-Encoding: chunked"],
    ["X-Null: a\0b", "Content-Length: 0"],
    ["X-Line: a\rTransfer-Encoding: chunked", "Content-Length: 0"],
  ];
  const replies = await Promise.all(broken.map((lines) => sendRaw(port, `${post(lines)}0\r\n\r\n${hidden}`)));
  for (const [index, { status, head, body }] of replies.entries()) {
    expect([broken[index], status]).toEqual([broken[index], 400]);
    expect(head).toContain("application/problem+json");
    expect(body).not.toMatch(/HTTP\/1\.1 \d/);
  }
  await expectUnharmed();
});

test("what is no HTTP/1.1 is answered and closed: HTTP/2, TLS, a proxy's words, noise", async () => {
  for (const bytes of [
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    `CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`,
    "PROXY TCP4 1.2.3.4 127.0.0.1 1 2\r\n",
    `GET http://127.0.0.1:${port}/api/runs HTTP/9.9\r\n\r\n`,
    "\0".repeat(1000),
    `${"G".repeat(100_000)}\r\n\r\n`,
  ]) {
    const { status, tookMs } = await sendRaw(port, bytes);
    // Nothing at all is an answer too, where there is nobody to understand it.
    expect([bytes.slice(0, 20), [0, 400, 403, 431].includes(status)]).toEqual([bytes.slice(0, 20), true]);
    expect(tookMs).toBeLessThan(5000);
  }
  await expectUnharmed();
});

test("a packed body is refused before it is read, whatever it would become", async () => {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 0x20)).toString("latin1");
  const packings = ["gzip", "deflate", "br", "zstd", "gzip, identity", "x-unknown"];
  const wishes = packings.flatMap((packing) => ["/api/run", "/api/runs"].map((path) => [packing, path] as const));
  const replies = await Promise.all(
    wishes.map(([packing, path]) => {
      const lines = [`Content-Encoding: ${packing}`, `Content-Length: ${bomb.length}`, "Connection: close"];
      return sendRaw(port, post(lines, bomb, path));
    }),
  );
  for (const [index, { status, body }] of replies.entries()) {
    expect([wishes[index], status]).toEqual([wishes[index], 415]);
    expect(body).toContain("unsupported_media_type");
  }
  const transfer = await sendRaw(port, post(["Transfer-Encoding: gzip, chunked", "Connection: close"], "0\r\n\r\n"));
  expect(transfer.status).toBeGreaterThanOrEqual(400);
  await expectUnharmed();
});

test("two hundred that are gone in the middle of what they send leave nothing behind", async () => {
  const half = post([`Content-Length: ${WANTED.length}`], WANTED.slice(0, -1));
  await Promise.all(
    Array.from(
      { length: 200 },
      (_, index) =>
        new Promise<void>((resolve) => {
          const socket = connect(port, "127.0.0.1", () => {
            socket.write(half.slice(0, 1 + ((index * 7) % half.length)), () => {
              if (index % 2 === 0) socket.resetAndDestroy();
              else socket.destroy();
            });
          });
          socket.on("error", () => {}).on("close", () => resolve());
        }),
    ),
  );
  await expectUnharmed();
});

test(
  "heads that never end and sockets that say nothing are closed in time; others are served meanwhile, and again after a crowd of more than it takes",
  async () => {
    const started = performance.now();
    const sockets: Socket[] = [];
    const open = (bytes: string): void => {
      const socket = connect(port, "127.0.0.1", () => bytes === "" || socket.write(bytes));
      socket.on("error", () => {}).resume();
      sockets.push(socket);
    };
    for (let count = 0; count < 100; count += 1) open(`GET /api/runs HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-Slow: `);
    const dripping = setInterval(() => {
      for (const socket of sockets.slice(0, 100)) if (socket.writable) socket.write("a");
    }, 500);
    try {
      for (let count = 0; count < 400; count += 1) open("");
      await until("all are connected", () => (sockets.every(({ connecting }) => !connecting) ? true : undefined));
      const asked = performance.now();
      expect((await daemon.call("GET", "/api/runs")).status).toBe(200);
      expect(performance.now() - asked).toBeLessThan(5000);
      // More than it takes: those who come then are turned away until the first have been closed.
      for (let count = 0; count < 700; count += 1) open("");
      await until("all were closed", () => (sockets.every(({ closed }) => closed) ? true : undefined), 40_000);
      expect(performance.now() - started, "milliseconds until the last one was closed").toBeLessThan(30_000);
      expect((await daemon.call("GET", "/api/runs")).status).toBe(200);
    } finally {
      clearInterval(dripping);
      for (const socket of sockets) socket.destroy();
    }
    await expectUnharmed();
  },
  SLOW,
);

/** Nothing is in the history, and nothing surprised the daemon. */
async function expectUnharmed(): Promise<void> {
  expect((await daemon.call("GET", "/api/health")).body).toMatchObject({ status: "ok", lastSeq: 0 });
  expect(readFileSync(join(daemon.home, "logs", "daemon.log"), "utf8")).not.toMatch(/\n\s+at /);
}
