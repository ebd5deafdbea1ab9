import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type HostAddress, type Resolve, vetTarget } from "./address.ts";
import { checkEndpoint } from "./endpoint.ts";
import { endpointTo, type Receiver, startReceiver, until } from "./receiver.testsuite.ts";
import { send } from "./send.ts";

const signal = new AbortController().signal;
const PUBLIC: HostAddress = { address: "93.184.216.34", family: 4 };
const LOOPBACK: HostAddress = { address: "127.0.0.1", family: 4 };

/** Answers of public name servers, hostile ones included. */
const NAMES: Readonly<Record<string, readonly HostAddress[]>> = {
  "localhost.": [LOOPBACK],
  localhost: [LOOPBACK],
  "app.localhost": [{ address: "::1", family: 6 }],
  "127.0.0.1.nip.example": [LOOPBACK],
  "metadata.google.internal": [{ address: "169.254.169.254", family: 4 }],
  "one-of-two.example": [PUBLIC, LOOPBACK],
  "mapped.example": [{ address: "::ffff:10.0.0.1", family: 6 }],
  "zone.example": [{ address: "fe80::1%eth0", family: 6 }],
  "garbage.example": [{ address: "not an address", family: 4 }],
};
const resolve: Resolve = async (host) => {
  const found = NAMES[host];
  if (found === undefined) throw Object.assign(new Error("no such name"), { code: "ENOTFOUND" });
  return found;
};

let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

function to(url: string, permissions = { allowHttp: true, allowPrivate: false }, timeoutMs = 5000, by = resolve) {
  return send({ url, headers: {}, body: "{}", permissions, ca: null }, { resolve: by, timeoutMs, signal });
}

describe("S18: no spelling of an address inside reaches it", () => {
  test.each([
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f.1",
    "0x7f000001",
    "0177.0.0.1",
    "017700000001",
    "0",
    "0.0.0.0",
    "１２７.０.０.１",
    "127。0。0。1",
    "%31%32%37.0.0.1",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[2001:0:4136:e378:8000:63bf:80ff:fffe]",
    "[fd00::1]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.0.1",
    "100.64.0.1",
    "169.254.169.254",
    "[::ffff:169.254.169.254]",
    "[fd00:ec2::254]",
    "255.255.255.255",
    "224.0.0.1",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "app.localhost",
    "127.0.0.1.nip.example",
    "metadata.google.internal",
    "one-of-two.example",
    "mapped.example",
    "zone.example",
    "garbage.example",
    "example.com@127.0.0.1",
    "user:password@93.184.216.34",
    "127.0.0.1\\@example.com",
  ])("%s", async (host) => {
    expect(await to(`http://${host}:${receiver.port}/`)).toMatchObject({ type: "refused" });
    expect(receiver.got).toEqual([]);
  });

  test.each([
    "file:///etc/passwd",
    "ftp://example.com/",
    "gopher://127.0.0.1/",
    "data:,x",
    "//x",
    "",
    "https://",
    "http://[",
  ])("%s is no target", async (url) => {
    expect(await to(url)).toMatchObject({ type: "refused" });
  });

  test("http has to be allowed", async () => {
    expect(await to("http://example.com/", { allowHttp: false, allowPrivate: true })).toEqual({
      type: "refused",
      reason: "the URL is not https",
    });
  });

  test.each([
    "http://169.254.169.254/",
    "http://100.100.100.200/",
    "http://[fd00:ec2::254]/",
    "http://[fe80::1]/",
    "http://0.0.0.0/",
  ])("also where private targets are allowed, %s is none", async (url) => {
    expect(await to(url, { allowHttp: true, allowPrivate: true })).toMatchObject({ type: "refused" });
  });

  test.each(["93.184.216.34", "[2606:2800:220:1:248:1893:25c8:1946]", "[::ffff:93.184.216.34]"])(
    "a public address is allowed: %s",
    async (host) => {
      const target = await vetTarget(new URL(`https://${host}/`), { allowHttp: false, allowPrivate: false }, resolve);
      expect(target.ok).toBe(true);
    },
  );
});

describe("rebinding", () => {
  test("S18: a name is resolved once, and the connection goes to the address that was looked at", async () => {
    let asked = 0;
    const rebinding: Resolve = async () => {
      asked += 1;
      return asked === 1 ? [LOOPBACK] : [{ address: "127.9.9.9", family: 4 }];
    };
    const url = `http://hooks.example:${receiver.port}/`;
    const outcome = await to(url, { allowHttp: true, allowPrivate: true }, 5000, rebinding);
    expect(outcome).toMatchObject({ type: "answered", status: 204 });
    expect(asked).toBe(1);
    expect(receiver.got[0]?.headers["host"]).toBe(`hooks.example:${receiver.port}`);
  });

  test("a name that becomes private is refused from then on", async () => {
    let asked = 0;
    const rebinding: Resolve = async () => (++asked === 1 ? [PUBLIC] : [LOOPBACK]);
    const permissions = { allowHttp: true, allowPrivate: false };
    const url = new URL("http://hooks.example/");
    expect(await vetTarget(url, permissions, rebinding)).toEqual({ ok: true, value: [PUBLIC] });
    expect(await to(url.href, permissions, 5000, rebinding)).toMatchObject({ type: "refused" });
  });
});

describe("answers", () => {
  const inside = { allowHttp: true, allowPrivate: true };
  const here = () => `http://127.0.0.1:${receiver.port}/`;

  test("a redirect is not followed", async () => {
    receiver.answer = (response) => void response.writeHead(302, { location: "/other" }).end();
    expect(await to(here(), inside)).toMatchObject({ type: "answered", status: 302 });
    expect(receiver.got.map(({ url }) => url)).toEqual(["/"]);
  });

  test("an endless answer is not read to its end", async () => {
    let isClosed = false;
    receiver.answer = (response) => {
      response.on("close", () => (isClosed = true));
      response.writeHead(200);
      const write = () => {
        while (!response.destroyed && response.write(Buffer.alloc(16 * 1024)));
        response.once("drain", write);
      };
      write();
    };
    expect(await to(here(), inside)).toMatchObject({ status: 200 });
    await until(() => isClosed);
  });

  test("a receiver that does not answer is left after the time limit", async () => {
    receiver.answer = () => {};
    expect(await to(here(), inside, 100)).toEqual({ type: "unreachable", reason: "no answer in time" });
  });

  test("a name server that does not answer is left as well", async () => {
    const never: Resolve = () => new Promise(() => {});
    expect(await to("http://hooks.example/", inside, 100, never)).toMatchObject({ reason: "no answer in time" });
  });

  test("a receiver that hangs up, or switches protocols, has not answered", async () => {
    receiver.answer = (response) => void response.socket?.destroy();
    expect(await to(here(), inside)).toEqual({ type: "unreachable", reason: "ECONNRESET" });
    receiver.answer = (response) => {
      response.socket?.end("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n");
    };
    expect(await to(here(), inside)).toMatchObject({ type: "unreachable" });
  });

  test("Retry-After in seconds is understood", async () => {
    receiver.answer = (response) => void response.writeHead(503, { "retry-after": "120" }).end();
    expect(await to(here(), inside)).toMatchObject({ status: 503, retryAfterMs: 120_000 });
  });

  test("a name that does not exist is unreachable, not refused: it may exist later", async () => {
    expect(await to("http://nowhere.example/")).toMatchObject({ type: "unreachable" });
  });
});

describe("checkEndpoint", () => {
  test.each([
    ["a name with a slash", { name: "a/b" }],
    ["http without leave", { allowHttp: false }],
    ["no secret for the standard format", { secrets: [] }],
    ["a secret that is too short", { secrets: ["whsec_AAAA"] }],
    ["a topic that is missing", { format: "ntfy", url: "https://ntfy.sh/" }],
  ] as const)("%s is told before anything is sent", (_, changes) => {
    expect(checkEndpoint(endpointTo(1, changes))).toMatchObject({ ok: false, error: { code: "invalid_setting" } });
  });

  test("messages do not repeat the URL, which may be a secret", () => {
    const checked = checkEndpoint(endpointTo(1, { url: "http://hooks.example/T0/B0/token", allowHttp: false }));
    expect(JSON.stringify(checked)).not.toContain("token");
  });
});
