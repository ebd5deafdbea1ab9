// The part of MCP that a server of tools and resources needs, without state between requests. These are the revisions that begin with a
// handshake; http/mcp/modern.ts speaks the later ones.
// https://modelcontextprotocol.io/specification/2025-11-25/basic

import type { Json, JsonObject } from "../../core/json.ts";
import { optional } from "../../core/optional.ts";
import { isList, isObject } from "../../core/verdict/report-fields.ts";
import { type ClientSide, progressOf } from "./client-side.ts";
import type { Reply } from "./reply.ts";
import { INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, rpcError } from "./rpc-error.ts";
import type { Tools } from "./tools.ts";

export const VERSIONS: ReadonlySet<string> = new Set(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]);
const NEWEST = "2025-11-25";
/** Batches were part of MCP up to this version. */
const LAST_WITH_BATCHES = "2025-03-26";
const MAX_BATCH = 20;
const MAX_ID_CHARS = 200;

export async function answerMessage(
  message: Json,
  version: string | readonly string[] | undefined,
  tools: Tools,
  side: ClientSide = {},
): Promise<Reply> {
  if (!isList(message)) return toReply(await answerOne(message, tools, side));
  const mayBatch = version === undefined || (typeof version === "string" && version <= LAST_WITH_BATCHES);
  if (!mayBatch) return refuse(null, "Batches are not part of this version of MCP; send one message per request.");
  if (message.length === 0 || message.length > MAX_BATCH)
    return refuse(null, `A batch holds 1 to ${MAX_BATCH} messages.`);
  const answers: JsonObject[] = [];
  for (const each of message) {
    const one = await answerOne(each, tools, side);
    if (one.type !== "none") answers.push(one.body);
  }
  return answers.length === 0 ? { status: 202 } : { status: 200, body: answers };
}

type Answer = { readonly type: "answer" | "malformed"; readonly body: JsonObject } | { readonly type: "none" };

async function answerOne(message: Json, tools: Tools, side: ClientSide): Promise<Answer> {
  if (!isObject(message) || message["jsonrpc"] !== "2.0") return malformed(null, "A JSON-RPC 2.0 message is expected.");
  const { id, method, params } = message;
  // Notifications, and answers to requests that we never made: they get no reply.
  if (method === undefined && (message["result"] !== undefined || message["error"] !== undefined))
    return { type: "none" };
  if (typeof method !== "string") return malformed(null, '"method" must be a string.');
  if (id === undefined) return { type: "none" };
  if (!isId(id)) return malformed(null, '"id" must be a short string or a number.');
  if (params !== undefined && !isObject(params))
    return answer(rpcError(id, INVALID_PARAMS, '"params" must be an object.'));
  return answer(await answerRequest(id, method, params ?? {}, tools, side));
}

async function answerRequest(
  id: Json,
  method: string,
  params: JsonObject,
  tools: Tools,
  side: ClientSide,
): Promise<JsonObject> {
  switch (method) {
    case "initialize":
      return result(id, initialize(params["protocolVersion"], tools));
    case "ping":
      return result(id, {});
    case "tools/list":
      return result(id, { tools: tools.list() });
    case "tools/call": {
      const called = await callTool(params, tools, side);
      return called === undefined ? unknownTool(id, tools) : result(id, called);
    }
    default: {
      const found = await answerResources(method, params, tools, side.signal);
      if (found === "no such resource") return rpcError(id, RESOURCE_NOT_FOUND, NO_RESOURCE);
      return found === undefined ? rpcError(id, METHOD_NOT_FOUND, "Method not found.") : result(id, found);
    }
  }
}

const RESOURCE_NOT_FOUND = -32002;
export const NO_RESOURCE = "Resource not found.";

/** Undefined for a method that is not about resources, or for a server without any. */
export async function answerResources(
  method: string,
  { uri }: JsonObject,
  { resources }: Tools,
  signal: AbortSignal | undefined,
): Promise<JsonObject | "no such resource" | undefined> {
  if (resources === undefined) return undefined;
  switch (method) {
    case "resources/list":
      return { resources: await resources.list(signal) };
    case "resources/templates/list":
      return { resourceTemplates: resources.templates() };
    case "resources/read": {
      const contents = typeof uri === "string" ? await resources.read(uri, signal) : undefined;
      return contents === undefined ? "no such resource" : { contents };
    }
    default:
      return undefined;
  }
}

/** Undefined for a tool that is not offered. */
export async function callTool(
  params: JsonObject,
  tools: Tools,
  { signal, notify, elicit }: ClientSide,
): Promise<JsonObject | undefined> {
  const { name, arguments: args } = params;
  const asked = optional({ signal, elicit, progress: progressOf(params, notify) });
  return typeof name === "string" ? tools.call(name, args ?? {}, asked) : undefined;
}

export function unknownTool(id: Json, tools: Tools): JsonObject {
  const known = tools.list().map((tool) => tool.name);
  return rpcError(id, INVALID_PARAMS, `Unknown tool. Tools: ${known.join(", ")}.`);
}

export const SERVER_INFO = { name: "passrail", title: "Passrail", version: "1" };

function initialize(wanted: Json | undefined, tools: Tools): JsonObject {
  return {
    protocolVersion: typeof wanted === "string" && VERSIONS.has(wanted) ? wanted : NEWEST,
    capabilities: {
      tools: { listChanged: false },
      ...(tools.resources === undefined ? {} : { resources: { subscribe: false, listChanged: false } }),
    },
    serverInfo: SERVER_INFO,
    instructions: instructionsOf(tools),
  };
}

/** Codex shows this text instead of the tools when its model has to search for them. */
export function instructionsOf(tools: Tools): string {
  const lines = tools.list().map((tool) => `${tool.name}: ${tool.description}`);
  return [...(tools.about === undefined ? [] : [tools.about]), ...lines].join("\n");
}

export function result(id: Json, value: JsonObject): JsonObject {
  return { jsonrpc: "2.0", id, result: value };
}

export function isId(id: Json): boolean {
  return typeof id === "number" || (typeof id === "string" && id.length <= MAX_ID_CHARS);
}

function answer(body: JsonObject): Answer {
  return { type: "answer", body };
}

function malformed(id: Json, message: string): Answer {
  return { type: "malformed", body: rpcError(id, INVALID_REQUEST, message) };
}

function refuse(id: Json, message: string): Reply {
  return { status: 400, body: rpcError(id, INVALID_REQUEST, message) };
}

function toReply(one: Answer): Reply {
  switch (one.type) {
    case "none":
      return { status: 202 };
    case "answer":
      return { status: 200, body: one.body };
    case "malformed":
      return { status: 400, body: one.body };
  }
}
