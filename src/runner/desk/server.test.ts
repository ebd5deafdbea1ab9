// Who the desk lets in, and which hostile input it survives: over raw sockets, because a well-behaved client cannot send most of this.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Desk, DeskPlace, OpenPlace } from "./desk.ts";
import { createDesk } from "./server.ts";

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const SUBMIT =
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"submit_verdict","arguments":{"summary":"s"}}}';

let desk: Desk;
let submitted: string[];
beforeEach(() => {
  desk = createDesk();
  submitted = [];
});
afterEach(() => desk.close());

function openPlace(more: Partial<DeskPlace> = {}): Promise<OpenPlace> {
  const verdictSchema = { type: "object", properties: { summary: { type: "string" } }, additionalProperties: false };
  const submit = async (text: string) => {
    submitted.push(text);
    return { accepted: true, text: "Accepted." };
  };
  return desk.open({ verdictSchema, mayAsk: true, submit, ask: submit as never, ...more });
}

const portOf = (place: OpenPlace) => Number(new URL(place.url).port);
const pathOf = (place: OpenPlace) => new URL(place.url).pathname;

type Head = { method?: string; path?: string; headers?: readonly string[]; version?: string };

/** A valid head, in which `headers` replace those of the same name; a value of "-" removes one. */
function head(place: OpenPlace, { method = "POST", path = pathOf(place), headers = [], version = "1.1" }: Head = {}) {
  const right = [
    `Host: 127.0.0.1:${portOf(place)}`,
    `Authorization: Bearer ${place.token}`,
    "Content-Type: application/json",
  ];
  const name = (line: string) => line.slice(0, line.indexOf(":")).toLowerCase();
  const kept = right.filter((line) => !headers.some((other) => name(other) === name(line)));
  const all = [...kept, ...headers.filter((line) => !line.endsWith(": -"))];
  return `${method} ${path} HTTP/${version}\r\n${all.join("\r\n")}\r\n`;
}

function whole(place: OpenPlace, given: Head = {}, body = SUBMIT): string {
  return `${head(place, given)}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** Everything received until the server closes. */
async function talk(place: OpenPlace, bytes: string): Promise<string> {
  const socket = connect(portOf(place), "127.0.0.1");
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk.toString();
  });
  const closed = closing(socket);
  socket.write(bytes);
  await closed;
  return answer;
}

/** A reset also closes a connection: the bytes before it count. */
function closing(socket: Socket): Promise<void> {
  socket.on("error", () => {});
  return new Promise((resolve) => void socket.once("close", () => resolve()));
}

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 ([0-9]{3})/.exec(answer)?.[1] ?? 0);

async function until(isTrue: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!isTrue()) {
    if (Date.now() > deadline) throw new Error("It did not happen within 10 s.");
    await new Promise((resolve) => void setTimeout(resolve, 5));
  }
}

describe("where a request comes from", () => {
  test("S01: the desk listens on loopback only, on a port of its own, with a token of 256 bit", async () => {
    const place = await openPlace();
    expect(place.url).toMatch(/^http:\/\/127\.0\.0\.1:[0-9]+\/mcp\/[0-9a-f]{32}$/);
    expect(place.token).toMatch(/^pr_at_[A-Za-z0-9_-]{43}$/);
    const outside = Object.values(networkInterfaces()).flatMap((all) =>
      (all ?? []).filter(({ internal }) => !internal),
    );
    for (const { address } of [...outside.filter(({ family }) => family === "IPv4"), { address: "::1" }])
      await expect(once(connect(portOf(place), address), "connect")).rejects.toThrow(/connect E/);
  });

  test("S02: the two names of loopback are let in", async () => {
    const place = await openPlace();
    for (const host of ["127.0.0.1", "localhost", "LocalHost"]) {
      expect(statusOf(await talk(place, whole(place, { headers: [`Host: ${host}:${portOf(place)}`] }, PING)))).toBe(
        200,
      );
    }
  });

  const HOSTS: readonly ((port: number) => readonly string[])[] = [
    () => ["evil.example"],
    (port) => [`evil.example:${port}`],
    () => ["127.0.0.1"],
    () => ["localhost"],
    (port) => [`127.0.0.1:${port + 1}`],
    (port) => [`127.0.0.1:0${port}`],
    (port) => [`127.0.0.1.evil.example:${port}`],
    (port) => [`localhost.:${port}`],
    (port) => [`127.1:${port}`],
    (port) => [`2130706433:${port}`],
    (port) => [`[::1]:${port}`],
    (port) => [`0.0.0.0:${port}`],
    (port) => [`user@127.0.0.1:${port}`],
    (port) => [`127.0.0.1:${port}, evil.example`],
    (port) => [`127.0.0.1:${port}`, "evil.example"],
    (port) => [`127.0.0.1:${port}`, `127.0.0.1:${port}`],
    () => ["["],
    () => [""],
    () => ["-"],
  ];
  test("S02: every other Host is refused, also with the right token", async () => {
    const place = await openPlace();
    for (const spell of HOSTS) {
      const headers = spell(portOf(place)).map((host) => `Host: ${host}`);
      const status = statusOf(await talk(place, whole(place, { headers })));
      expect({ headers, isRefused: status === 403 || status === 400 }).toEqual({ headers, isRefused: true });
    }
    const old = await talk(place, whole(place, { headers: ["Host: -"], version: "1.0" }));
    expect(statusOf(old)).toBe(403);
    const absolute = await talk(place, whole(place, { path: `http://evil.example${pathOf(place)}` }));
    expect(statusOf(absolute)).toBe(404);
    expect(submitted).toEqual([]);
  });

  test("S03: nothing that a browser sends is let in", async () => {
    const place = await openPlace();
    const port = portOf(place);
    const headers = [
      "Origin: null",
      "Origin: ",
      `Origin: http://127.0.0.1:${port}`,
      `origin: http://localhost:${port}`,
      "ORIGIN: https://evil.example",
      "Origin: file://",
      "Sec-Fetch-Site: cross-site",
      "Sec-Fetch-Site: same-site",
      "Sec-Fetch-Site: same-origin",
      "Sec-Fetch-Site: none",
      "sec-fetch-site: ",
      "Sec-Fetch-Site: anything",
    ];
    for (const header of headers) {
      const answer = await talk(place, whole(place, { headers: [header] }));
      expect([header, statusOf(answer)]).toEqual([header, 403]);
      expect(answer.toLowerCase()).not.toContain("access-control");
    }
    const preflight = {
      method: "OPTIONS",
      headers: ["Origin: https://evil.example", "Access-Control-Request-Method: POST"],
    };
    expect(statusOf(await talk(place, whole(place, preflight, "")))).toBe(403);
    expect(submitted).toEqual([]);
  });

  test("S03: only JSON is read, as one media type, and never unpacked", async () => {
    const place = await openPlace();
    const bad = [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "Application/JSON;x",
    ];
    const types = [
      ...bad,
      "application/json, text/plain",
      "application/json; charset=utf-16",
      "application/jsonp",
      "-",
    ];
    for (const type of types) {
      const status = statusOf(await talk(place, whole(place, { headers: [`Content-Type: ${type}`] })));
      expect([type, status]).toEqual([type, 415]);
    }
    expect(statusOf(await talk(place, whole(place, { headers: ["Content-Encoding: gzip"] })))).toBe(415);
    expect(submitted).toEqual([]);
    const fine = whole(place, { headers: ["Content-Type: Application/JSON\t; charset=UTF-8"] });
    expect(statusOf(await talk(place, fine))).toBe(200);
  });
});

describe("who may speak", () => {
  test("S01, S05: without this place's own token nothing is done, and the answer tells nothing", async () => {
    const place = await openPlace();
    const other = await openPlace();
    const given = [
      "-",
      "",
      "Bearer",
      "Bearer null",
      `Bearer ${place.token.slice(0, -1)}`,
      `Bearer ${place.token}x`,
      `Bearer ${place.token.toUpperCase()}`,
      `Bearer ${other.token}`,
      `Basic ${place.token}`,
      place.token,
      `Bearer ${place.token}, Bearer ${other.token}`,
    ];
    const answers = new Set<string>();
    for (const value of given) {
      const answer = await talk(place, whole(place, { headers: [`Authorization: ${value}`] }));
      expect([value, statusOf(answer)]).toEqual([value, 401]);
      expect(answer.toLowerCase()).toContain("www-authenticate: bearer");
      answers.add(answer.replace(/^Date: .*$/m, ""));
    }
    const unknown = await talk(place, whole(place, { path: `/mcp/${"0".repeat(32)}` }));
    answers.add(unknown.replace(/^Date: .*$/m, ""));
    expect([...answers]).toHaveLength(1);
    const twice = { headers: [`Authorization: Bearer ${place.token}`, `Authorization: Bearer ${place.token}`] };
    expect(statusOf(await talk(place, whole(place, twice)))).toBe(401);
    expect(submitted).toEqual([]);
  });

  test("S07: whatever is sent with whichever token, a submission only ever reaches the place of its path and token", async () => {
    const taken = [[], [], []] as string[][];
    const places = await Promise.all(
      taken.map((own) =>
        openPlace({
          submit: async (text) => {
            own.push(text);
            return { accepted: true, text: "Accepted." };
          },
        }),
      ),
    );
    const index = fc.integer({ min: 0, max: 2 });
    const one = fc.record({ path: index, token: index, text: fc.uuid() });
    await fc.assert(
      fc.asyncProperty(fc.array(one, { minLength: 1, maxLength: 6 }), async (sent) => {
        const answers = await Promise.all(
          sent.map(({ path, token, text }) => {
            const [to, from] = [places[path] as OpenPlace, places[token] as OpenPlace];
            const body = SUBMIT.replace('"s"', JSON.stringify(text));
            return talk(to, whole(to, { headers: [`Authorization: Bearer ${from.token}`] }, body));
          }),
        );
        expect(answers.map(statusOf)).toEqual(sent.map(({ path, token }) => (path === token ? 200 : 401)));
        for (const [at, own] of taken.entries()) {
          const right = sent.filter(({ path, token }) => path === at && token === at).map(({ text }) => text);
          const took = own.splice(0).map((text): string => JSON.parse(text).summary);
          expect(took.toSorted((a, b) => a.localeCompare(b))).toEqual(right.toSorted((a, b) => a.localeCompare(b)));
        }
      }),
      { numRuns: 25 },
    );
  });

  test("S05: headers and fields that claim another right change nothing", async () => {
    const place = await openPlace();
    const other = await openPlace({ submit: async () => ({ accepted: false, text: "other" }) });
    const headers = ["X-Forwarded-User: operator", "X-Scopes: operator", `X-Original-URL: ${pathOf(place)}`];
    const answer = await talk(other, whole(other, { headers }));
    expect(answer).toContain('"other"');
    expect(submitted).toEqual([]);
  });

  test("S06: a token ends with its place, and the other places go on", async () => {
    const place = await openPlace();
    const other = await openPlace();
    expect(statusOf(await talk(place, whole(place)))).toBe(200);
    place.close();
    expect(statusOf(await talk(place, whole(place)))).toBe(401);
    expect(statusOf(await talk(other, whole(other)))).toBe(200);
    place.close();
    expect(submitted).toHaveLength(2);
  });

  test.each(["/", "/mcp", "/mcp/", "/mcp/x", "/mcp/../mcp/x", "/.well-known/oauth-protected-resource", "*"])(
    "another path (%s) is not found, with or without a token",
    async (path) => {
      const place = await openPlace();
      expect(statusOf(await talk(place, whole(place, { path })))).toBe(404);
      expect(statusOf(await talk(place, whole(place, { path, headers: ["Authorization: -"] })))).toBe(404);
    },
  );

  test("a query or a longer path is not the place", async () => {
    const place = await openPlace();
    for (const more of ["?a=1", "/", "/x", "#a", "%20"])
      expect(statusOf(await talk(place, whole(place, { path: `${pathOf(place)}${more}` })))).toBe(404);
    expect(submitted).toEqual([]);
  });

  test.each(["GET", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])("S03: %s changes nothing", async (method) => {
    const place = await openPlace();
    expect(statusOf(await talk(place, whole(place, { method })))).toBe(405);
    expect(submitted).toEqual([]);
  });
});

describe("how much may be said", () => {
  test("S23: 1 MiB is read, one byte more is not", async () => {
    const place = await openPlace();
    const fill = (size: number) => PING.padEnd(size, " ");
    expect(statusOf(await talk(place, whole(place, {}, fill(1024 * 1024))))).toBe(200);
    expect(statusOf(await talk(place, whole(place, {}, fill(1024 * 1024 + 1))))).toBe(413);
  });

  test("S01: whoever has no right is sent away after the head, however much would follow", async () => {
    const place = await openPlace();
    const first = head(place, { headers: ["Authorization: Bearer wrong"] });
    expect(statusOf(await talk(place, `${first}Content-Length: 1000000000\r\n\r\n{`))).toBe(401);
    expect(statusOf(await talk(place, `${head(place)}Content-Length: 1000000000\r\n\r\n{`))).toBe(413);
  });

  test("nobody is invited to send a body before the token was seen", async () => {
    const place = await openPlace();
    const expecting = (headers: readonly string[]) =>
      `${head(place, { headers })}Expect: 100-continue\r\nContent-Length: ${PING.length}\r\n\r\n`;
    const refused = await talk(place, expecting(["Authorization: Bearer wrong"]));
    expect(statusOf(refused)).toBe(401);
    expect(refused).not.toContain("100 Continue");
    const invited = await talk(place, `${expecting([])}${PING}`);
    expect(invited).toContain("100 Continue");
    expect(invited).toContain("HTTP/1.1 200");
  });

  test("S23: a chunked body without end is cut off", async () => {
    const place = await openPlace();
    const socket = connect(portOf(place), "127.0.0.1");
    let answer = "";
    let sent = 0;
    socket.on("data", (chunk) => {
      answer += chunk.toString();
    });
    const closed = closing(socket);
    socket.write(`${head(place)}Transfer-Encoding: chunked\r\n\r\n`);
    const chunk = `10000\r\n${" ".repeat(65_536)}\r\n`;
    const flood = (): void => {
      if (socket.destroyed || !socket.writable || sent > 64 * 1024 * 1024) return;
      sent += chunk.length;
      if (socket.write(chunk)) setImmediate(flood);
      else socket.once("drain", flood);
    };
    flood();
    await closed;
    expect(statusOf(answer)).toBe(413);
    expect(sent).toBeLessThan(32 * 1024 * 1024);
  });

  test.each(["{", "[", '{"a":', '"', "\\", "[{", '{"jsonrpc":"2.0",'])(
    "S15: 10 MB of %j are dealt with at once",
    async (piece) => {
      const place = await openPlace();
      const from = process.cpuUsage().user;
      expect(statusOf(await talk(place, whole(place, {}, piece.repeat(10_000_000 / piece.length))))).toBe(413);
      const inside = piece.repeat(Math.floor((1024 * 1024) / piece.length));
      expect(statusOf(await talk(place, whole(place, {}, inside)))).toBe(400);
      expect((process.cpuUsage().user - from) / 1000).toBeLessThan(3000);
    },
  );

  test("S23: a large head is refused", async () => {
    const place = await openPlace();
    expect(statusOf(await talk(place, whole(place, { headers: [`X-A: ${"a".repeat(20_000)}`] })))).toBe(431);
  });

  test("S23: at most 16 requests of a place are under way at once", async () => {
    let waiting = 0;
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const place = await openPlace({
      ask: async () => {
        waiting += 1;
        await held;
        return { accepted: true, text: "Asked." };
      },
    });
    const ask = SUBMIT.replace("submit_verdict", "ask_human").replace('"summary"', '"question"');
    const asked = Array.from({ length: 16 }, () => talk(place, whole(place, {}, ask)));
    await until(() => waiting === 16);
    expect(statusOf(await talk(place, whole(place, {}, PING)))).toBe(429);
    const other = await openPlace();
    expect(statusOf(await talk(other, whole(other, {}, PING)))).toBe(200);
    release();
    expect((await Promise.all(asked)).map(statusOf)).toEqual(Array.from({ length: 16 }, () => 200));
    expect(statusOf(await talk(place, whole(place, {}, PING)))).toBe(200);
  });

  test("what is not HTTP gets 400 and no explanation", async () => {
    const place = await openPlace();
    const answer = await talk(place, "\0\x01\x02hello\r\n\r\n");
    expect(statusOf(answer)).toBe(400);
    expect(answer).not.toContain("at ");
  });

  test("a second request in the same breath is not answered", async () => {
    const place = await openPlace();
    const answer = await talk(place, `${whole(place)}${whole(place)}`);
    expect(answer.match(/HTTP\/1\.1 200/g)).toHaveLength(1);
    expect(submitted).toHaveLength(1);
  });
});

describe("the end", () => {
  test("S06: a place that ends while a body comes takes nothing of it", async () => {
    const place = await openPlace();
    const socket = connect(portOf(place), "127.0.0.1");
    const text = whole(place);
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk.toString();
    });
    socket.write(text.slice(0, -10));
    // A full round trip on another connection: everything written before it has arrived.
    await talk(place, whole(place, {}, PING));
    place.close();
    const closed = closing(socket);
    socket.write(text.slice(-10));
    await closed;
    expect(statusOf(answer)).toBe(401);
    expect(submitted).toEqual([]);
  });

  test("a submission that waits for another is not taken when the place ends before its turn", async () => {
    let release = () => {};
    let begun = 0;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const place = await openPlace({
      submit: async () => {
        begun += 1;
        await held;
        return { accepted: false, text: "No." };
      },
    });
    const first = talk(place, whole(place));
    await until(() => begun === 1);
    const second = talk(place, whole(place));
    await talk(place, whole(place, {}, PING));
    place.close();
    release();
    expect(await first).toContain('"No."');
    const answer = await second;
    expect(answer.includes("has ended") || statusOf(answer) === 401).toBe(true);
    expect(begun).toBe(1);
  });

  test("closing the desk ends requests under way and idle sockets, and can be repeated", async () => {
    let begun = false;
    const place = await openPlace({
      submit: () => {
        begun = true;
        return new Promise(() => {});
      },
    });
    const port = portOf(place);
    const idle = connect(port, "127.0.0.1");
    await once(idle, "connect");
    const gone = closing(idle);
    const waiting = talk(place, whole(place));
    await until(() => begun);
    await desk.close();
    expect(await waiting).toBe("");
    await gone;
    await desk.close();
    await expect(openPlace()).rejects.toThrow("closed");
    const late: Socket = connect(port, "127.0.0.1");
    await expect(once(late, "connect")).rejects.toThrow("ECONNREFUSED");
  });

  test("closing a desk that never opened a place is fine", async () => {
    await expect(createDesk().close()).resolves.toBeUndefined();
  });

  test("whoever goes away in the middle disturbs nobody", async () => {
    const place = await openPlace();
    const socket = connect(portOf(place), "127.0.0.1");
    socket.write(whole(place).slice(0, -10));
    await talk(place, whole(place, {}, PING));
    socket.destroy();
    expect(statusOf(await talk(place, whole(place)))).toBe(200);
    expect(submitted).toHaveLength(1);
  });

  test("the desk does not keep a process alive, even with a client that stays connected", async () => {
    const program = `
      import { connect } from "node:net";
      const { createDesk } = await import(${JSON.stringify(new URL("./server.ts", import.meta.url).href)});
      const never = () => new Promise(() => {});
      const place = await createDesk().open({ verdictSchema: null, mayAsk: true, submit: never, ask: never });
      const socket = connect(Number(new URL(place.url).port), "127.0.0.1").unref();
      await new Promise((resolve) => socket.once("connect", resolve));
      // A later client was answered, so the first one was let in.
      console.log((await fetch(place.url)).status);
    `;
    const child = spawn(process.execPath, ["--experimental-strip-types", "--input-type=module", "-e", program], {
      stdio: ["ignore", "pipe", "ignore"],
      // Less than the desk's own timeout for such a client.
      timeout: 8000,
    });
    let said = "";
    child.stdout.on("data", (chunk) => {
      said += String(chunk);
    });
    const [code, signal] = await once(child, "close");
    expect([said.trim(), code, signal]).toEqual(["401", 0, null]);
  });
});
