// The conversations of the agents' own MCP clients with the desk, over real HTTP, in their observed order and with their observed headers.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import type { Desk, DeskAnswer, DeskPlace, OpenPlace } from "./desk.ts";
import { createDesk } from "./server.ts";

const SCHEMA: JsonObject = {
  type: "object",
  properties: {
    verdict: { type: "string", enum: ["SHIP", "REVISE"], description: "The word." },
    summary: { type: "string" },
    issues: { type: "array", items: { type: "object", properties: { line: { type: "integer" } } } },
  },
  required: ["summary"],
  additionalProperties: false,
};
const ACCEPTED: DeskAnswer = { accepted: true, text: "Accepted." };

let desk: Desk;
let problems: string[];
beforeEach(() => {
  problems = [];
  desk = createDesk({ onProblem: (text) => problems.push(text) });
});
afterEach(() => desk.close());

function openPlace(more: Partial<DeskPlace> = {}): Promise<OpenPlace> {
  const submit = () => Promise.resolve(ACCEPTED);
  return desk.open({ verdictSchema: SCHEMA, mayAsk: true, submit, ask: submit, ...more });
}

async function post(place: OpenPlace, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(place.url, {
    method: "POST",
    headers: { authorization: `Bearer ${place.token}`, "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, json: text === "" ? null : JSON.parse(text) };
}

const request = (method: string, params: object = {}, id: number | string = 1) => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});
const call = (name: string, args: object) => request("tools/call", { name, arguments: args });

async function submit(place: OpenPlace, args: object) {
  return (await post(place, call("submit_verdict", args))).json.result;
}

describe("how each client begins", () => {
  const both = { accept: "application/json, text/event-stream" };
  const clients = {
    claude: {
      version: "2025-11-25",
      probe: "2026-07-28",
      stream: true,
      headers: { ...both, "accept-encoding": "identity" },
    },
    codex: {
      version: "2025-06-18",
      probe: null,
      stream: false,
      headers: { accept: "text/event-stream, application/json" },
    },
    gemini: {
      version: "2025-06-18",
      probe: null,
      stream: true,
      headers: { ...both, "sec-fetch-mode": "cors", "accept-language": "*" },
    },
    opencode: { version: "2025-11-25", probe: null, stream: true, headers: both },
  };

  test.each(Object.entries(clients))(
    "%s finds the tools and submits",
    async (_, { version, probe, stream, headers }) => {
      const sent: string[] = [];
      const place = await openPlace({
        submit: async (text) => {
          sent.push(text);
          return ACCEPTED;
        },
      });
      if (probe !== null) {
        const probed = await post(place, request("server/discover", {}, "probe"), {
          ...headers,
          "mcp-protocol-version": probe,
        });
        expect(probed).toMatchObject({ status: 200, json: { id: "probe", error: { code: -32601 } } });
      }
      const hello = await post(
        place,
        request("initialize", { protocolVersion: version, capabilities: {} }, 0),
        headers,
      );
      expect(hello.headers.get("content-type")).toBe("application/json");
      expect(hello.headers.get("mcp-session-id")).toBeNull();
      expect(hello.json).toMatchObject({
        jsonrpc: "2.0",
        id: 0,
        result: { protocolVersion: version, capabilities: { tools: {} }, serverInfo: { name: "passrail" } },
      });
      const later = { ...headers, "mcp-protocol-version": version };
      const noted = await post(place, { jsonrpc: "2.0", method: "notifications/initialized" }, later);
      expect(noted).toMatchObject({ status: 202, json: null });
      if (stream) {
        const listened = await fetch(place.url, {
          headers: { authorization: `Bearer ${place.token}`, accept: "text/event-stream" },
        });
        expect(listened.status).toBe(405);
        await listened.text();
      }
      const { tools } = (await post(place, request("tools/list"), later)).json.result;
      expect(tools.map((tool: { name: string }) => tool.name)).toEqual(["submit_verdict", "ask_human"]);
      expect(tools[0].inputSchema).toEqual(SCHEMA);
      expect(tools[0].annotations).toMatchObject({
        readOnlyHint: false,
        destructiveHint: false,
        openWorldHint: false,
        idempotentHint: true,
      });
      const done = await post(place, call("submit_verdict", { verdict: "SHIP", summary: "s" }), later);
      expect(done.json.result).toEqual({
        content: [{ type: "text", text: "Accepted." }],
        isError: false,
        _meta: { "claude/endTurn": true },
      });
      expect(sent).toEqual(['{"verdict":"SHIP","summary":"s"}']);
    },
  );

  test.each([
    ["2024-11-05", "2024-11-05"],
    ["2025-03-26", "2025-03-26"],
    ["2026-07-28", "2025-11-25"],
    ["", "2025-11-25"],
    [7, "2025-11-25"],
  ])("version %j is answered with %s", async (wanted, given) => {
    const { json } = await post(await openPlace(), request("initialize", { protocolVersion: wanted }));
    expect(json.result.protocolVersion).toBe(given);
  });

  test("a client may end its session and ping", async () => {
    const place = await openPlace();
    expect((await post(place, request("ping"))).json).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
    const ended = await fetch(place.url, { method: "DELETE", headers: { authorization: `Bearer ${place.token}` } });
    expect(ended.status).toBe(405);
    expect(ended.headers.get("allow")).toBe("POST");
  });

  test("a place offers only the tools that were asked for", async () => {
    const names = async (place: OpenPlace) =>
      (await post(place, request("tools/list"))).json.result.tools.map((tool: { name: string }) => tool.name);
    const silent = await openPlace({ mayAsk: false });
    expect(await names(silent)).toEqual(["submit_verdict"]);
    expect((await post(silent, call("ask_human", { question: "?" }))).json.error.code).toBe(-32602);
    const curious = await openPlace({ verdictSchema: null });
    expect(await names(curious)).toEqual(["ask_human"]);
    expect((await post(curious, call("submit_verdict", { summary: "s" }))).json.error.code).toBe(-32602);
  });
});

describe("messages that are not what they should be", () => {
  test.each([
    ["no JSON", "{", -32700],
    ["duplicate keys", '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32700],
    [
      "a duplicate key in the arguments",
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"submit_verdict","arguments":{"verdict":"REVISE","verdict":"SHIP","summary":"s"}}}',
      -32700,
    ],
    ["a prototype", '{"jsonrpc":"2.0","id":1,"method":"ping","__proto__":{}}', -32700],
    ["nesting without end", "[".repeat(500_000), -32700],
    ["a string", '"ping"', -32600],
    ["another protocol", '{"id":1,"method":"ping"}', -32600],
    ["no method", '{"jsonrpc":"2.0","id":1}', -32600],
    ["a null id", '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
  ])("S07: %s is refused with 400", async (_, body, code) => {
    let calls = 0;
    const place = await openPlace({
      submit: async () => {
        calls += 1;
        return ACCEPTED;
      },
    });
    expect(await post(place, body)).toMatchObject({ status: 400, json: { error: { code } } });
    expect(calls).toBe(0);
  });

  test.each([
    ["params that are a list", { jsonrpc: "2.0", id: 1, method: "tools/call", params: [] }, -32602],
    ["an unknown tool", call("rm", {}), -32602],
    ["a tool of every object", call("constructor", {}), -32602],
    ["an unknown method", request("resources/list"), -32601],
  ])("%s is an error of the request", async (_, body, code) => {
    expect(await post(await openPlace(), body)).toMatchObject({ status: 200, json: { id: 1, error: { code } } });
  });

  test("batches are answered in the versions that had them, and refused in later ones", async () => {
    const place = await openPlace();
    const batch = [request("ping", {}, 1), { jsonrpc: "2.0", method: "notifications/x" }, request("nothing", {}, 2)];
    const old = await post(place, batch, { "mcp-protocol-version": "2025-03-26" });
    expect(old.json).toMatchObject([
      { id: 1, result: {} },
      { id: 2, error: { code: -32601 } },
    ]);
    expect((await post(place, batch, { "mcp-protocol-version": "2025-11-25" })).status).toBe(400);
    expect((await post(place, [])).status).toBe(400);
    expect(
      (
        await post(
          place,
          Array.from({ length: 21 }, () => request("ping")),
        )
      ).status,
    ).toBe(400);
    expect((await post(place, [{ jsonrpc: "2.0", method: "notifications/x" }])).status).toBe(202);
  });
});

describe("calls", () => {
  test("what is wrong by the schema is told with path and choice, and can be corrected", async () => {
    const sent: string[] = [];
    const place = await openPlace({
      submit: async (text) => {
        sent.push(text);
        return ACCEPTED;
      },
    });
    const refused = await submit(place, { verdict: "LGTM", isues: [], issues: [{ line: "12" }] });
    expect(refused.isError).toBe(true);
    expect(refused._meta).toBeUndefined();
    const [{ text }] = refused.content;
    expect(text).toContain('"verdict" must be exactly one of "SHIP", "REVISE", not "LGTM".');
    expect(text).toContain('"isues" is not a known key. Known keys: verdict, summary, issues.');
    expect(text).toContain('"issues[0].line" must be a whole number, not a string.');
    expect(text).toContain('"summary" is missing.');
    expect(sent).toEqual([]);
    expect((await submit(place, { verdict: "SHIP", summary: "s", issues: null })).isError).toBe(false);
    expect(sent).toHaveLength(1);
  });

  test("Gemini's own key is taken out before anything is checked", async () => {
    const sent: string[] = [];
    const place = await openPlace({
      submit: async (text) => {
        sent.push(text);
        return ACCEPTED;
      },
    });
    expect((await submit(place, { wait_for_previous: true, summary: "s" })).isError).toBe(false);
    expect(sent).toEqual(['{"summary":"s"}']);
  });

  test("the place's own refusal is passed on as it is, also for a second verdict", async () => {
    let taken = false;
    const place = await openPlace({
      submit: async () => {
        const answer = taken ? { accepted: false, text: "A verdict was accepted already." } : ACCEPTED;
        taken = true;
        return answer;
      },
    });
    expect((await submit(place, { summary: "s" })).isError).toBe(false);
    expect(await submit(place, { summary: "s" })).toEqual({
      content: [{ type: "text", text: "A verdict was accepted already." }],
      isError: true,
    });
  });

  test("submissions at the same time are taken one after another", async () => {
    let running = 0;
    let most = 0;
    let accepted = 0;
    const place = await openPlace({
      submit: async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => void setImmediate(resolve));
        running -= 1;
        accepted += 1;
        return { accepted: accepted === 1, text: String(accepted) };
      },
    });
    const results = await Promise.all(Array.from({ length: 8 }, () => submit(place, { summary: "s" })));
    expect(most).toBe(1);
    expect(results.filter((result) => result.isError === false)).toHaveLength(1);
  });

  test("an error of ours is told without its cause, and does not stop the next call", async () => {
    let fails = true;
    const place = await openPlace({
      submit: async () => {
        if (!fails) return ACCEPTED;
        fails = false;
        throw new Error("disk full at /secret/place");
      },
    });
    const failed = await submit(place, { summary: "s" });
    expect(failed.isError).toBe(true);
    expect(JSON.stringify(failed)).not.toContain("disk");
    expect(problems).toEqual(["A call of submit_verdict failed: disk full at /secret/place"]);
    expect((await submit(place, { summary: "s" })).isError).toBe(false);
  });

  test("a question reaches the person with its options; one that asks nothing does not", async () => {
    const asked: object[] = [];
    const place = await openPlace({
      ask: async (question) => {
        asked.push(question);
        return { accepted: true, text: "Asked. End your turn." };
      },
    });
    const ask = async (args: object) => (await post(place, call("ask_human", args))).json.result;
    expect((await ask({ question: " Which port? ", options: ["80", "8080"] })).isError).toBe(false);
    expect((await ask({ question: "Why?" })).content[0].text).toBe("Asked. End your turn.");
    for (const args of [
      {},
      { question: " " },
      { question: 1 },
      { question: "?", options: "80" },
      { question: "?", options: [""] },
    ])
      expect((await ask(args)).isError).toBe(true);
    expect((await ask({ question: "x".repeat(5000) })).content[0].text).toContain("longer than 4096");
    expect((await ask({ question: "?", options: Array.from({ length: 21 }, String) })).isError).toBe(true);
    expect(asked).toEqual([
      { question: "Which port?", options: ["80", "8080"] },
      { question: "Why?", options: [] },
    ]);
  });

  test("a schema that would not be checked in full is refused when the place is opened", async () => {
    const schema = { ...SCHEMA, properties: { a: { type: "string", maxLength: 3 } } };
    await expect(openPlace({ verdictSchema: schema })).rejects.toThrow('"maxLength"');
  });
});
