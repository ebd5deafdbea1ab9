// One message of a person's own agent, in whatever revision of MCP it speaks.

import type { Json } from "../../core/json.ts";
import type { Reply } from "../../runner/desk/reply.ts";
import { answerMessage, VERSIONS } from "../../runner/desk/rpc.ts";
import type { Tools } from "../../runner/desk/tools.ts";
import { answerModern, type HeaderOf, isModern } from "./modern.ts";

export type ToolCall = {
  /** Over HTTP: the headers of the request. */
  readonly headerOf?: HeaderOf;
  /** On standard input: the revision of the handshake, once there was one. */
  readonly version?: string;
  readonly signal?: AbortSignal;
};

export function answerOperator(message: Json, tools: Tools, asked: ToolCall): Promise<Reply> {
  if (isModern(message, asked.headerOf)) return answerModern(message, tools, asked);
  const said = asked.headerOf?.("mcp-protocol-version") ?? asked.version;
  const version = said !== undefined && VERSIONS.has(said) ? said : undefined;
  return answerMessage(message, version, tools, asked.signal);
}
