// What Codex' app server tells, in the words of `codex exec --json`, so that one reader (stream.ts) knows what they mean. Pure.

import { type Fields, fields, list, text } from "../loose-json.ts";

/** The event of a notification; null for one that says nothing about the work. `usage`: the tokens of the whole conversation so far. */
export function execEvent(method: string, params: Fields, usage: Fields): Fields | null {
  switch (method) {
    case "turn/started":
      return { type: "turn.started" };
    case "turn/completed":
      return endOfTurn(fields(params["turn"]), usage);
    case "error":
      return trouble(params);
    case "item/started":
      return itemEvent("item.started", params);
    case "item/completed":
      return itemEvent("item.completed", params);
    case "warning":
    case "configWarning":
      return { type: "item.completed", item: { type: "error", message: text(params["message"]) ?? params["summary"] } };
    default:
      return null;
  }
}

/** Pieces of what comes whole later. */
export const DELTAS = [
  "item/agentMessage/delta",
  "item/plan/delta",
  "item/commandExecution/outputDelta",
  "item/fileChange/outputDelta",
  "item/fileChange/patchUpdated",
  "item/reasoning/summaryTextDelta",
  "item/reasoning/textDelta",
  "turn/diff/updated",
];

/** `tokenUsage` of a notification, as the end of a turn has it. */
export function execUsage(params: Fields): Fields {
  const total = fields(fields(params["tokenUsage"])["total"]);
  return {
    input_tokens: total["inputTokens"],
    cached_input_tokens: total["cachedInputTokens"],
    output_tokens: total["outputTokens"],
  };
}

function endOfTurn(turn: Fields, usage: Fields): Fields {
  if (turn["status"] === "completed") return { type: "turn.completed", usage };
  const why = text(fields(turn["error"])["message"]) ?? `the turn ended as ${text(turn["status"]) ?? "unknown"}`;
  return { type: "turn.failed", error: { message: why } };
}

function trouble(params: Fields): Fields {
  const { message, additionalDetails } = fields(params["error"]);
  const words = [text(message), text(additionalDetails)].filter((each) => each !== null).join(": ");
  const said = words === "" ? "an error without words" : words;
  // The beginning by which `exec` announces a retry.
  const isRetry = params["willRetry"] === true && !said.startsWith("Reconnecting");
  return { type: "error", message: isRetry ? `Reconnecting... ${said}` : said };
}

const QUIET: ReadonlySet<unknown> = new Set(["userMessage", "contextCompaction", "plan", "sleep"]);

function itemEvent(type: string, params: Fields): Fields | null {
  const item = fields(params["item"]);
  if (QUIET.has(item["type"])) return null;
  return { type, item: { id: item["id"], ...execItem(item) } };
}

function execItem(item: Fields): Fields {
  switch (item["type"]) {
    case "agentMessage":
      return { type: "agent_message", text: item["text"] };
    case "reasoning": {
      const said = [...list(item["summary"]), ...list(item["content"])].map(text);
      return { type: "reasoning", text: said.filter((each) => each !== null).join("\n") };
    }
    case "commandExecution": {
      const { command, aggregatedOutput, exitCode, status } = item;
      return { type: "command_execution", command, aggregated_output: aggregatedOutput, exit_code: exitCode, status };
    }
    case "fileChange": {
      const changes = list(item["changes"]).map(fields);
      const told = changes.map(({ path, kind }) => ({ path, kind: fields(kind)["type"] }));
      return { type: "file_change", changes: told, status: item["status"] };
    }
    case "mcpToolCall": {
      const { server, tool, arguments: input, result, error, status } = item;
      return { type: "mcp_tool_call", server, tool, arguments: input, result, error, status };
    }
    case "webSearch":
      return { type: "web_search", query: item["query"] };
    case "collabAgentToolCall":
      return { type: "collab_tool_call", tool: item["tool"], prompt: item["prompt"], status: item["status"] };
    default:
      return { type: item["type"] };
  }
}
