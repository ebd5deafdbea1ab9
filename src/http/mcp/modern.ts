// MCP without a handshake (revision 2026-07-28): every request names its revision and is answered independently. Over HTTP the head must
// say the same as the body.
// https://modelcontextprotocol.io/specification/2026-07-28/basic

import type { Json, JsonObject } from "../../core/json.ts";
import { isObject } from "../../core/verdict/report-fields.ts";
import { optional } from "../../core/optional.ts";
import type { ClientSide, Elicitation, Elicited } from "../../runner/desk/client-side.ts";
import type { Reply } from "../../runner/desk/reply.ts";
import {
  answerResources,
  callTool,
  instructionsOf,
  isId,
  NO_RESOURCE,
  result,
  SERVER_INFO,
  unknownTool,
  VERSIONS,
} from "../../runner/desk/rpc.ts";
import { INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, rpcError } from "../../runner/desk/rpc-error.ts";
import type { Tools } from "../../runner/desk/tools.ts";
import { canElicit, readElicited } from "./stdio-questions.ts";

const MODERN = "2026-07-28";
const SUPPORTED: readonly string[] = [MODERN, ...[...VERSIONS].toReversed()];

const HEADER_MISMATCH = -32020;
const UNSUPPORTED_VERSION = -32022;

const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";

/** All callers with the same token get the same tools, which change only with the program. */
const CACHE: JsonObject = { ttlMs: 300_000, cacheScope: "private" };

/** Runs change all the time. */
const FRESH: JsonObject = { ttlMs: 0, cacheScope: "private" };

/** A header of the request; null if it was not sent. Absent without a head, as on standard input. */
export type HeaderOf = (name: string) => string | null;

/** Whether a message is meant for this revision and not for those with a handshake. */
export function isModern(message: Json, headerOf?: HeaderOf): boolean {
  if (!isObject(message) || message["method"] === undefined || message["method"] === "initialize") return false;
  const said = headerOf?.("mcp-protocol-version") ?? null;
  return (
    message["method"] === "server/discover" ||
    metaOf(message)?.[VERSION_KEY] !== undefined ||
    (said !== null && !VERSIONS.has(said))
  );
}

export async function answerModern(
  message: Json,
  tools: Tools,
  { headerOf, signal, notify }: Pick<ClientSide, "signal" | "notify"> & { readonly headerOf?: HeaderOf },
): Promise<Reply> {
  if (!isObject(message) || message["jsonrpc"] !== "2.0" || typeof message["method"] !== "string")
    return bad(null, INVALID_REQUEST, "A JSON-RPC 2.0 message is expected.");
  const { id, method } = message;
  if (id === undefined) return { status: 202 };
  if (!isId(id)) return bad(null, INVALID_REQUEST, '"id" must be a short string or a number.');
  const meta = metaOf(message);
  const version = meta?.[VERSION_KEY];
  if (typeof version !== "string") return bad(id, INVALID_PARAMS, `"_meta" must hold ${VERSION_KEY}.`);
  const mismatch = headerOf === undefined ? undefined : headerFault(message, version, headerOf);
  if (mismatch !== undefined) return bad(id, HEADER_MISMATCH, mismatch);
  if (version !== MODERN) return unsupported(id, version);
  if (meta === undefined || !isObject(meta[CAPABILITIES_KEY]))
    return bad(id, INVALID_PARAMS, `"_meta" must hold ${CAPABILITIES_KEY}.`);
  const params = isObject(message["params"]) ? message["params"] : {};
  switch (method) {
    case "server/discover":
      return complete(id, {
        supportedVersions: SUPPORTED,
        capabilities: { tools: {}, ...(tools.resources === undefined ? {} : { resources: {} }) },
        instructions: instructionsOf(tools),
        ...CACHE,
      });
    case "tools/list":
      return complete(id, { tools: tools.list(), ...CACHE });
    case "tools/call": {
      const rounds = createRounds(params, meta[CAPABILITIES_KEY]);
      const called = await callTool(params, tools, optional({ signal, notify, elicit: rounds.elicit }));
      if (called === undefined) return { status: 200, body: unknownTool(id, tools) };
      const wanted = rounds.wanted();
      return wanted === undefined ? complete(id, called) : answered(id, "input_required", wanted);
    }
    default: {
      const found = await answerResources(method, params, tools, signal);
      if (found === "no such resource") return { status: 200, body: rpcError(id, INVALID_PARAMS, NO_RESOURCE) };
      if (found === undefined) return { status: 404, body: rpcError(id, METHOD_NOT_FOUND, "Method not found.") };
      return complete(id, { ...found, ...FRESH });
    }
  }
}

const FORM = "decision";

/** A question ends the request; the client sends the call again with the answer and with the state that the question had. */
function createRounds(
  { inputResponses, requestState }: JsonObject,
  capabilities: JsonObject,
): { readonly elicit: ClientSide["elicit"] | undefined; wanted(): JsonObject | undefined } {
  let asked: Elicitation | undefined;
  const given = isObject(inputResponses) ? inputResponses[FORM] : undefined;
  const elicit = async (question: Elicitation): Promise<Elicited> => {
    if (given !== undefined) return readElicited(given, typeof requestState === "string" ? requestState : "");
    asked = question;
    return { action: "pending" };
  };
  return {
    elicit: canElicit(capabilities) ? elicit : undefined,
    wanted() {
      if (asked === undefined) return undefined;
      const { message, requestedSchema, state } = asked;
      const params = { mode: "form", message, requestedSchema };
      return { inputRequests: { [FORM]: { method: "elicitation/create", params } }, requestState: state };
    },
  };
}

function complete(id: Json, value: JsonObject): Reply {
  return answered(id, "complete", value);
}

function answered(id: Json, resultType: "complete" | "input_required", value: JsonObject): Reply {
  const meta = isObject(value["_meta"]) ? value["_meta"] : {};
  const _meta = { ...meta, "io.modelcontextprotocol/serverInfo": SERVER_INFO };
  return { status: 200, body: result(id, { resultType, ...value, _meta }) };
}

function unsupported(id: Json, requested: string): Reply {
  const error = {
    code: UNSUPPORTED_VERSION,
    message: "Unsupported protocol version",
    data: { supported: SUPPORTED, requested: requested.slice(0, 100) },
  };
  return { status: 400, body: { jsonrpc: "2.0", id, error } };
}

function headerFault(message: JsonObject, version: string, headerOf: HeaderOf): string | undefined {
  const { method, params } = message;
  const named = method === "tools/call" ? "name" : method === "resources/read" ? "uri" : undefined;
  const name = isObject(params) && named !== undefined ? params[named] : undefined;
  const wanted: readonly (readonly [string, Json | undefined])[] = [
    ["MCP-Protocol-Version", version],
    ["Mcp-Method", method],
    ...(named === undefined ? [] : [["Mcp-Name", name] as const]),
  ];
  const wrong = wanted.find(([header, value]) => decoded(headerOf(header.toLowerCase())) !== value);
  return wrong === undefined ? undefined : `The header ${wrong[0]} must be there and say the same as the body.`;
}

/** Text that is not plain ASCII comes as `=?base64?…?=`. */
function decoded(value: string | null): string | null {
  const inner = /^=\?base64\?([A-Za-z0-9+/]{0,400}={0,2})\?=$/.exec(value ?? "")?.[1];
  return inner === undefined ? value : Buffer.from(inner, "base64").toString("utf8");
}

function bad(id: Json, code: number, why: string): Reply {
  return { status: 400, body: rpcError(id, code, why) };
}

function metaOf({ params }: JsonObject): JsonObject | undefined {
  return isObject(params) && isObject(params["_meta"]) ? params["_meta"] : undefined;
}
