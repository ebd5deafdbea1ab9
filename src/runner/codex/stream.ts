// Reads what `codex exec --json` prints. Only the end of a turn decides: a top-level `error` also comes in runs that succeed. Its
// numbers go over the whole conversation, also over one that is gone on with, and it tells no cost.

import type { Json } from "../../core/json.ts";
import { type Usage, usageSince } from "../../core/budget/usage.ts";
import {
  count,
  eventText,
  type Fields,
  fields,
  finalText,
  growingText,
  isFields,
  list,
  parseLine,
  text,
  toolText,
} from "../loose-json.ts";
import type { AgentEvent, Failure, Session } from "../runner.ts";
import type { ProgramEnd, StreamReader } from "../process/stream.ts";
import { failureOf, failureWithoutTurn } from "./failure.ts";

export type CodexReading = {
  /** The conversation that is gone on with. */
  readonly resumed?: Session;
  /** As it was asked for: Codex does not say which one it uses. */
  readonly model: string | null;
  /** A shape was asked for, so the last message is to be JSON. Codex does not check it. */
  readonly structured: boolean;
};

export function createCodexReader({ resumed, model, structured }: CodexReading): StreamReader {
  let threadId: string | null = null;
  let total: Usage | null = null;
  let turn: { readonly failed: string | null } | null = null;
  let toolCalls = 0;
  /** What the agent said since its last tool call. */
  let said = "";
  let lastMessage = "";
  /** The last thing that was told is a request that is made again; it may wait for an hour before. */
  let retry: string | null = null;
  const called = new Set<string>();
  const denials: string[] = [];

  const call = (item: Fields, id: string): AgentEvent[] => {
    const tool = toolOf(item);
    if (tool === null || called.has(id)) return [];
    called.add(id);
    toolCalls += 1;
    said = "";
    return [{ type: "tool.called", id, name: eventText(tool.name), input: toolText(tool.input) }];
  };

  const readItem = (type: string, item: Fields): readonly AgentEvent[] => {
    const id = text(item["id"]) ?? "";
    const words = text(item["text"]);
    const finished = type === "item.completed";
    switch (item["type"]) {
      case "agent_message":
        if (!finished || words === null) return [];
        lastMessage = growingText(words);
        said = growingText(said === "" ? words : `${said}\n${words}`);
        return [{ type: "message", text: eventText(words) }];
      case "reasoning":
        return finished && words !== null ? [{ type: "thinking", text: eventText(words) }] : [];
      case "error":
        return [notice("warning", text(item["message"]) ?? "an error without words")];
      case "todo_list":
        return [];
      default: {
        const tool = toolOf(item);
        if (tool === null) return [{ type: "unknown", name: `item/${text(item["type"]) ?? "?"}`.slice(0, 100) }];
        const begun = call(item, id);
        if (!finished) return begun;
        const refused = refusal(item);
        if (refused !== null) denials.push(`${tool.name}: ${refused}`.slice(0, 300));
        const returned: AgentEvent = { type: "tool.returned", id, ok: tool.ok, output: toolText(tool.output) };
        return [...begun, returned, ...(refused === null ? [] : [notice("denied", `${tool.name}: ${refused}`)])];
      }
    }
  };

  const failure = (end: ProgramEnd): Failure | null => {
    if (resumed !== undefined && threadId !== null && threadId !== resumed.id) {
      const message = `Codex began a new conversation instead of going on with ${resumed.id}, which it does not know.`;
      return { kind: "session_lost", message };
    }
    if (turn === null && (end.reason === "exited" || end.reason === "signaled")) return failureWithoutTurn(end);
    if (turn === null) return retry !== null && isSilence(end) ? failureOf(retry) : null;
    if (turn.failed !== null) return failureOf(turn.failed);
    const left = end.reason === "signaled" || (end.reason === "exited" && end.exitCode !== 0);
    if (!left) return null;
    const how = end.signal === null ? `code ${end.exitCode ?? "unknown"}` : end.signal;
    return { kind: "agent_crashed", message: `Codex said that its turn was completed, but ended with ${how}.` };
  };

  return {
    read(line) {
      const event = parseLine(line);
      if (!isFields(event)) return [{ type: "unknown", name: "text" }];
      const type = text(event["type"]) ?? "?";
      retry = null;
      switch (type) {
        case "thread.started":
          threadId = text(event["thread_id"]);
          return threadId === null ? [] : [{ type: "session", id: threadId, model }];
        case "turn.started":
          turn = null;
          return [];
        case "turn.completed":
          turn = { failed: null };
          total = usageOf(event["usage"]);
          return [{ type: "usage", usage: usageSince(total, resumed?.totals ?? null) }];
        case "turn.failed":
          turn = { failed: text(fields(event["error"])["message"]) ?? "no reason was told" };
          return [];
        case "error": {
          const words = text(event["message"]) ?? "an error without words";
          if (!words.startsWith("Reconnecting")) return [notice("warning", words)];
          retry = words;
          return [notice("retry", words)];
        }
        case "item.started":
        case "item.updated":
        case "item.completed":
          return readItem(type, fields(event["item"]));
        default:
          return [{ type: "unknown", name: type.slice(0, 100) }];
      }
    },
    get over() {
      return turn !== null;
    },
    conclude(end) {
      const failed = failure(end);
      const id = threadId ?? resumed?.id ?? null;
      const before = resumed?.totals ?? null;
      return {
        conversation: {
          session: id === null || failed?.kind === "session_lost" ? null : { id, totals: total ?? before },
          model,
          version: null,
          usage: total === null ? null : usageSince(total, before),
          turns: null,
          toolCalls,
          structured: structured && failed === null ? ((parseLine(lastMessage.trim()) ?? null) as Json) : null,
          denials,
          failure: failed,
        },
        finalText: finalText(said),
      };
    },
  };
}

type Tool = { readonly name: string; readonly input: unknown; readonly output: unknown; readonly ok: boolean };

/** An item that is the use of a tool; null for any other. */
function toolOf(item: Fields): Tool | null {
  const ok = item["status"] === "completed";
  switch (item["type"]) {
    case "command_execution":
      return {
        name: "shell",
        input: item["command"],
        output: item["aggregated_output"],
        ok: ok && (count(item["exit_code"]) ?? 0) === 0,
      };
    case "file_change": {
      const changes = list(item["changes"]).map(fields);
      const lines = changes.map((change) => `${text(change["kind"]) ?? "change"} ${text(change["path"]) ?? "?"}`);
      return { name: "apply_patch", input: lines.join("\n"), output: text(item["status"]) ?? "", ok };
    }
    case "mcp_tool_call": {
      const result = fields(item["result"]);
      const texts = list(result["content"]).map((block) => text(fields(block)["text"]) ?? "");
      return {
        name: `mcp__${text(item["server"]) ?? "?"}__${text(item["tool"]) ?? "?"}`,
        input: item["arguments"],
        output: text(fields(item["error"])["message"]) ?? texts.join("\n"),
        ok,
      };
    }
    case "web_search":
      // It has no status; that it came to an end is all that is told.
      return { name: "web_search", input: item["query"], output: "", ok: true };
    case "collab_tool_call":
      return { name: text(item["tool"]) ?? "collaboration", input: item["prompt"], output: "", ok };
    default:
      return null;
  }
}

/** Why a tool was not let through; null when it was. */
function refusal(item: Fields): string | null {
  const message = text(fields(item["error"])["message"]);
  if (message?.includes("requires approval") === true) return eventText(message);
  return item["status"] === "declined" ? (text(item["command"]) ?? "declined") : null;
}

/** It was ended because nothing came of its waiting. */
const isSilence = ({ reason }: ProgramEnd): boolean => reason === "idle_timeout" || reason === "timeout";

const notice = (kind: Extract<AgentEvent, { type: "notice" }>["kind"], words: string): AgentEvent => ({
  type: "notice",
  kind,
  text: eventText(words),
});

function usageOf(value: unknown): Usage {
  const told = fields(value);
  return {
    usd: null,
    inputTokens: count(told["input_tokens"]),
    outputTokens: count(told["output_tokens"]),
    cachedTokens: count(told["cached_input_tokens"]),
  };
}
