// One message of a person's agent, in any supported revision of MCP.

import type { Json } from "../../core/json.ts";
import type { ClientSide } from "../../runner/desk/client-side.ts";
import type { Reply } from "../../runner/desk/reply.ts";
import { answerMessage, VERSIONS } from "../../runner/desk/rpc.ts";
import type { Tools } from "../../runner/desk/tools.ts";
import { answerModern, type HeaderOf, isModern } from "./modern.ts";

export type ToolCall = ClientSide & {
  /** Over HTTP: the headers of the request. */
  readonly headerOf?: HeaderOf;
  /** On standard input: the revision of the handshake, after one. */
  readonly version?: string;
};

export function answerOperator(message: Json, tools: Tools, asked: ToolCall): Promise<Reply> {
  if (isModern(message, asked.headerOf)) return answerModern(message, tools, asked);
  const said = asked.headerOf?.("mcp-protocol-version") ?? asked.version;
  const version = said !== undefined && VERSIONS.has(said) ? said : undefined;
  return answerMessage(message, version, tools, asked);
}
