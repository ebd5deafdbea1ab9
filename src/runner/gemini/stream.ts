// The lines of `gemini -o stream-json`: init, messages in pieces, tool calls, and one result at the end.

import type { Usage } from "../../core/budget/usage.ts";
import { failureOf, type Trouble, troubleInText } from "../acp/failure.ts";
import {
  count,
  eventText,
  type Fields,
  fields,
  finalText,
  growingText,
  parseLine,
  text,
  toolText,
} from "../loose-json.ts";
import type { AgentEvent, Failure } from "../runner.ts";
import type { ProgramEnd, StreamReader } from "../process/stream.ts";
import { GEMINI, leftGemini } from "./program.ts";

export function createGeminiReader(clean: (text: string) => string = (each) => each): StreamReader {
  const names = new Map<string, string>();
  const denials: string[] = [];
  let session: { id: string; model: string | null } | null = null;
  let pieces: string[] = [];
  let said = "";
  let toolCalls = 0;
  let result: Fields | null = null;

  const flush = (): AgentEvent[] => {
    const message = pieces.join("");
    pieces = [];
    return message === "" ? [] : [{ type: "message", text: eventText(clean(message)) }];
  };
  const called = (event: Fields): AgentEvent[] => {
    const id = text(event["tool_id"]) ?? `tool-${toolCalls}`;
    const name = text(event["tool_name"]) ?? "tool";
    names.set(id, name);
    toolCalls += 1;
    said = "";
    return [{ type: "tool.called", id, name, input: toolText(event["parameters"]) }];
  };
  const returned = (event: Fields): AgentEvent[] => {
    const id = text(event["tool_id"]) ?? "tool";
    const error = fields(event["error"]);
    const output = toolText(event["output"] ?? error["message"]);
    said = "";
    const done: AgentEvent = { type: "tool.returned", id, ok: event["status"] === "success", output };
    if (!REFUSALS.has(text(error["type"]) ?? "")) return [done];
    const line = `${names.get(id) ?? "tool"}: ${(text(error["message"]) ?? "refused").slice(0, 300)}`;
    denials.push(line);
    return [{ type: "notice", kind: "denied", text: eventText(line) }, done];
  };

  return {
    get over() {
      return result !== null;
    },
    read: (line) => {
      const event = fields(parseLine(line));
      const type = text(event["type"]);
      if (type === "message") {
        const content = text(event["content"]);
        if (event["role"] !== "assistant" || content === null) return [];
        pieces.push(content);
        said = growingText(said + content);
        return [];
      }
      const before = flush();
      switch (type) {
        case "init": {
          const id = text(event["session_id"]);
          if (id === null) return before;
          session = { id, model: text(event["model"]) };
          return [...before, { type: "session", ...session }];
        }
        case "tool_use":
          return [...before, ...called(event)];
        case "tool_result":
          return [...before, ...returned(event)];
        case "error":
          return [
            ...before,
            { type: "notice", kind: "warning", text: eventText(text(event["message"]) ?? "an error") },
          ];
        case "result": {
          result = event;
          const usage = usageOf(event);
          return usage === null ? before : [...before, { type: "usage", usage }];
        }
        case null:
          return before;
        default:
          return [...before, { type: "unknown", name: eventText(type) }];
      }
    },
    conclude: (end) => ({
      finalText: finalText(clean(said)),
      conversation: {
        session: session === null ? null : { id: session.id, totals: null },
        model: session?.model ?? null,
        version: null,
        usage: result === null ? null : usageOf(result),
        turns: null,
        toolCalls,
        structured: null,
        denials,
        failure: failureOfEnd(result, end),
      },
    }),
  };
}

/** Errors of a tool call that are decisions of the program, not of the tool. */
const REFUSALS = new Set(["policy_violation", "tool_not_registered", "permission_denied"]);

function failureOfEnd(result: Fields | null, end: ProgramEnd): Failure | null {
  const ended = end.reason === "exited" || end.reason === "signaled";
  if (result === null) return ended ? leftGemini(end) : null;
  if (result["status"] === "success") {
    if (!ended || (end.reason === "exited" && end.exitCode === 0)) return null;
    return leftGemini(end);
  }
  const error = fields(result["error"]);
  if (text(error["type"]) === "FatalTurnLimitedError") {
    return { kind: "turn_limit", message: `${GEMINI.title} reached its limit of turns before it was done.` };
  }
  return failureOf(GEMINI, withoutAdvice(troubleInText(text(error["message"]) ?? "")));
}

/** What the program adds to every answer with 429. It speaks of quotas and logins; only what stands before it is the provider's word. */
const ADVICE = "Please wait and try again later.";

function withoutAdvice({ status, message }: Trouble): Trouble {
  const at = message.indexOf(ADVICE);
  return at < 0 ? { status, message } : { status: status ?? 429, message: message.slice(0, at) };
}

/** Of this run alone, also in a session that was gone on with. */
function usageOf(result: Fields): Usage | null {
  const stats = fields(result["stats"]);
  const inputTokens = count(stats["input_tokens"]);
  const outputTokens = count(stats["output_tokens"]);
  if (inputTokens === null && outputTokens === null) return null;
  return { usd: null, inputTokens, outputTokens, cachedTokens: count(stats["cached"]) };
}
