import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { EgressRules, Gateway, GatewayNews } from "./gateway.ts";
import { openGateway } from "./server.ts";

const KEY = "sk-ant-api03-real0000000000000000000000000000000";

let vendor: Server;
let seen: { readonly url: string; readonly headers: IncomingMessage["headers"]; readonly body: string }[];
let answer: { status: number; headers: Record<string, string>; body: string };
let news: GatewayNews[];
let refusal: string | undefined;
let gateway: Gateway | undefined;

beforeEach(async () => {
  seen = [];
  news = [];
  refusal = undefined;
  answer = { status: 200, headers: { "content-type": "application/json" }, body: "{}" };
  vendor = createServer((asked, response) => {
    void text(asked).then((body) => {
      seen.push({ url: asked.url ?? "", headers: asked.headers, body });
      response.writeHead(answer.status, answer.headers).end(answer.body);
    });
  });
  vendor.listen(0, "127.0.0.1");
  await once(vendor, "listening");
});
afterEach(async () => {
  await gateway?.close();
  vendor.closeAllConnections();
  vendor.close();
});

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

async function open(egress: Partial<EgressRules> | null = null): Promise<Gateway> {
  gateway = await openGateway({
    routes: [{ name: "anthropic", upstream: `http://127.0.0.1:${portOf(vendor)}/base`, headers: { "x-api-key": KEY } }],
    egress: egress === null ? null : { hosts: [], private: [], own: () => [], ...egress },
    proxyEnv: {},
    admit: () => refusal,
    onNews: (each) => void news.push(each),
    record: null,
  });
  return gateway;
}

async function ask(path: string, headers: Record<string, string> = {}, method = "POST"): Promise<Response> {
  const { url, token } = gateway?.address ?? { url: "", token: "" };
  const body = method === "POST" ? { body: '{"model":"m"}' } : {};
  return fetch(`${url}${path}`, { method, headers: { "x-api-key": token, ...headers }, ...body });
}

describe("requests to models", () => {
  test("the key is added, the program's own is dropped, and what the answer used is counted before it ends", async () => {
    const usage = { input_tokens: 5, output_tokens: 2 };
    answer.body = JSON.stringify({ type: "message", model: "claude-sonnet-4-5", usage });
    const { address } = await open();
    const response = await ask("/anthropic/v1/messages?beta=true", { authorization: "Bearer mine", cookie: "a=b" });
    expect(await response.json()).toMatchObject({ usage });
    expect(news).toMatchObject([{ type: "answered", status: 200, usage: { inputTokens: 5, outputTokens: 2 } }]);
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({ url: "/base/v1/messages?beta=true", body: '{"model":"m"}' });
    const headers = seen[0]?.headers;
    expect(headers?.["x-api-key"]).toBe(KEY);
    expect(headers?.authorization).toBeUndefined();
    expect(headers?.cookie).toBeUndefined();
    expect(JSON.stringify(headers)).not.toContain(address.token);
  });

  test("without the attempt's token, beyond a model, or out of its path nothing leaves the machine", async () => {
    await open();
    expect((await ask("/anthropic/v1/messages", { "x-api-key": "guessed" })).status).toBe(401);
    expect((await ask("/other/v1/messages")).status).toBe(403);
    const paths = ["/anthropic/v1/files", "/anthropic/v1/organizations/keys", "/anthropic/%2e%2e/x/v1/messages"];
    for (const path of paths) expect((await ask(path)).status).toBe(403);
    expect((await ask("/anthropic/v1/messages", {}, "DELETE")).status).toBe(403);
    expect(seen).toEqual([]);
    expect(news.filter(({ type }) => type === "refused").length).toBeGreaterThan(2);
  });

  test("a request beyond the budget is refused with the reason", async () => {
    await open();
    refusal = "the run's budget of $5.00 is used up ($5.02)";
    const response = await ask("/anthropic/v1/messages");
    expect(response.status).toBe(403);
    expect(await response.text()).toContain(refusal);
    expect(seen).toEqual([]);
  });

  test("limits in headers are told, and a refusal for hours says when it ends", async () => {
    await open();
    answer.headers = {
      "x-ratelimit-limit-requests": "100",
      "x-ratelimit-remaining-requests": "8",
      "x-ratelimit-reset-requests": "6m0s",
      "anthropic-ratelimit-unified-5h-utilization": "0.93",
    };
    await ask("/anthropic/v1/messages");
    expect(news.find(({ type }) => type === "limits")).toMatchObject({
      uses: [
        { window: "5h", share: 0.93 },
        { window: "requests per minute", share: expect.closeTo(0.92) },
      ],
    });
    answer.status = 429;
    answer.headers = { "retry-after": "10800" };
    expect((await ask("/anthropic/v1/messages")).status).toBe(429);
    expect(news.find(({ type }) => type === "limited")).toMatchObject({ failure: { kind: "quota" } });
    news.length = 0;
    answer.headers = { "retry-after": "5" };
    await ask("/anthropic/v1/messages");
    expect(news.map(({ type }) => type)).toEqual(["answered"]);
  });

  test("a vendor that is not there is an answer, not a hang", async () => {
    await open();
    vendor.closeAllConnections();
    vendor.close();
    expect((await ask("/anthropic/v1/messages")).status).toBe(502);
  });
});

describe("other hosts", () => {
  async function through(target: string): Promise<{ readonly status: number; readonly body: string }> {
    const { token, url } = gateway?.address ?? { token: "", url: "" };
    const authorization = `Basic ${Buffer.from(`passrail:${token}`).toString("base64")}`;
    const asked = request(url, {
      method: "GET",
      path: target,
      headers: { "proxy-authorization": authorization },
    }).end();
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    return { status: response.statusCode ?? 0, body: await text(response) };
  }

  async function tunnelTo(target: string): Promise<string> {
    const { token, url } = gateway?.address ?? { token: "", url: "" };
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    const authorization = Buffer.from(`passrail:${token}`).toString("base64");
    socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic ${authorization}\r\n\r\n`);
    const [first] = (await once(socket, "data")) as [Buffer];
    socket.destroy();
    return String(first).split("\r\n", 1)[0] ?? "";
  }

  test("names on no list, addresses, and names that lead to this machine are refused and shown", async () => {
    await open({ hosts: ["localhost", "github"] });
    for (const target of [
      "other.example:443",
      "127.0.0.1:443",
      "[::1]:443",
      "localhost:443",
      "github.com:22",
      "nonsense",
    ])
      expect(await tunnelTo(target)).toBe("HTTP/1.1 403 Forbidden");
    expect((await through("http://other.example/x")).status).toBe(403);
    expect((await through(`http://127.0.0.1:${portOf(vendor)}/x`)).status).toBe(403);
    expect(news.map((each) => (each.type === "refused" ? each.what : ""))).toContain("other.example:443");
    expect(seen).toEqual([]);
  });

  test("what the user's own settings name may be here, and Passrail's own services are", async () => {
    const port = portOf(vendor);
    await open({ private: [`localhost:${port}`], own: () => [`127.0.0.1:${port}`] });
    expect(await through(`http://localhost:${port}/x`)).toEqual({ status: 200, body: "{}" });
    expect(await tunnelTo(`localhost:${port}`)).toBe("HTTP/1.1 200 Connection Established");
    expect(await tunnelTo(`127.0.0.1:${port}`)).toBe("HTTP/1.1 200 Connection Established");
    expect(seen[0]?.headers["proxy-authorization"]).toBeUndefined();
  });

  test("without the token, or without a list, nobody is let through", async () => {
    await open({ private: [`localhost:${portOf(vendor)}`] });
    const { url } = gateway?.address ?? { url: "" };
    const asked = request(url, { path: `http://localhost:${portOf(vendor)}/x` }).end();
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(407);
    await gateway?.close();
    await open(null);
    expect(await tunnelTo("github.com:443")).toBe("HTTP/1.1 403 Forbidden");
    expect(seen).toEqual([]);
  });
});
