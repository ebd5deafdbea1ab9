// The same API for agents that speak MCP: one endpoint, behind the same guards.

import { z } from "zod";
import { json, type ApiRoutes } from "../route.ts";
import { json as anything } from "../schemas/common.ts";

/** Checks only the keys; MCP itself defines the meaning of a message and the errors. */
const messageSchema = z
  .strictObject({
    jsonrpc: anything.optional(),
    id: anything.optional(),
    method: anything.optional(),
    params: anything.optional(),
    result: anything.optional(),
    error: anything.optional(),
  })
  .meta({ id: "McpMessage", description: "a JSON-RPC 2.0 message of the Model Context Protocol" });

export const MCP_ROUTES = {
  mcp: {
    method: "post",
    path: "/mcp",
    scope: "read",
    tag: "mcp",
    summary: "Streamable HTTP of the Model Context Protocol; every tool is a call of this API with the same token",
    body: messageSchema,
    headers: ["Idempotency-Key"],
    answer: json(messageSchema, "the answer to a request; 202 without a body for what asks for none"),
    problems: ["too_many_calls", "idempotency_key_reused"],
  },
} as const satisfies ApiRoutes;
