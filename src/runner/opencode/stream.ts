// The lines of `opencode run --format json`: steps, texts, finished tool calls and errors. There is no last line: the last step says
// whether the model had finished.

import { addUsage, type Usage } from "../../core/budget/usage.ts";
import { failureOf } from "../acp/failure.ts";
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
import { leftOpencode, OPENCODE } from "./program.ts";

export function createOpencodeReader(model: string | null): StreamReader {
  const denials: string[] = [];
  let session: string | null = null;
  let said = "";
  let toolCalls = 0;
  let steps = 0;
  let usage: Usage | null = null;
  let reason: string | null = null;
  let error: Fields | null = null;

  const tool = (part: Fields): AgentEvent[] => {
    const state = fields(part["state"]);
    const id = text(part["callID"]) ?? `tool-${toolCalls}`;
    const name = text(part["tool"]) ?? "tool";
    const input = fields(state["input"]);
    const failed = text(state["error"]);
    toolCalls += 1;
    said = "";
    const called: AgentEvent = { type: "tool.called", id, name, input: toolText(input) };
    const returned: AgentEvent = {
      type: "tool.returned",
      id,
      ok: state["status"] === "completed",
      output: toolText(failed ?? state["output"]),
    };
    if (failed === null || !REFUSALS.some((words) => failed.includes(words))) return [called, returned];
    const line = `${name}: ${(text(input["command"]) ?? text(input["filePath"]) ?? failed).slice(0, 300)}`;
    denials.push(line);
    return [called, { type: "notice", kind: "denied", text: eventText(line) }, returned];
  };
  const read = (event: Fields, type: string): AgentEvent[] => {
    const part = fields(event["part"]);
    switch (type) {
      case "step_start":
        reason = null;
        return [];
      case "text": {
        const words = text(part["text"]);
        if (words === null) return [];
        said = growingText(said === "" ? words : `${said}\n\n${words}`);
        return [{ type: "message", text: eventText(words) }];
      }
      case "reasoning":
        return [{ type: "thinking", text: eventText(text(part["text"]) ?? "") }];
      case "tool_use":
        return tool(part);
      case "step_finish": {
        steps += 1;
        reason = text(part["reason"]);
        const step = usageOf(part);
        usage = usage === null ? step : addUsage(usage, step);
        return [{ type: "usage", usage }];
      }
      case "error":
        error = fields(event["error"]);
        return [{ type: "notice", kind: "warning", text: eventText(messageOf(error)) }];
      default:
        return [{ type: "unknown", name: eventText(type) }];
    }
  };

  return {
    get over() {
      return reason === "stop" || error !== null;
    },
    read: (line) => {
      const event = fields(parseLine(line));
      const type = text(event["type"]);
      if (type === null) return [];
      const id = text(event["sessionID"]);
      if (session !== null || id === null) return read(event, type);
      session = id;
      return [{ type: "session", id, model }, ...read(event, type)];
    },
    conclude: (end) => ({
      finalText: finalText(said),
      conversation: {
        session: session === null ? null : { id: session, totals: null },
        model,
        version: null,
        usage,
        turns: steps === 0 ? null : steps,
        toolCalls,
        structured: null,
        denials,
        failure: failureOfEnd({ reason, error, denials, end }),
      },
    }),
  };
}

const REFUSALS = ["rejected permission", "prevents you from using", "denied"];

type Outcome = {
  readonly reason: string | null;
  readonly error: Fields | null;
  readonly denials: readonly string[];
  readonly end: ProgramEnd;
};

function failureOfEnd({ reason, error, denials, end }: Outcome): Failure | null {
  const ended = end.reason === "exited" || end.reason === "signaled" || end.reason === "finished";
  if (!ended) return null;
  if (error !== null) return failureOfError(error);
  const clean = end.reason === "finished" || (end.reason === "exited" && end.exitCode === 0);
  if (reason === "stop" && clean) return null;
  if (!clean || reason === null) return leftOpencode(end);
  switch (reason) {
    case "tool-calls":
      if (denials.length === 0) return leftOpencode(end);
      return {
        kind: "denied",
        message: `${OPENCODE.title} ended because it was refused: ${denials.join("; ").slice(0, 500)}.`,
      };
    case "length":
      return {
        kind: "agent_crashed",
        message: `${OPENCODE.title}: the answer of the model was cut off at its limit of output tokens.`,
      };
    case "content-filter":
      return { kind: "request_refused", message: `${OPENCODE.title}: the model refused to go on with this request.` };
    default:
      return {
        kind: "agent_crashed",
        message: `${OPENCODE.title} ended for an unknown reason: ${reason.slice(0, 100)}.`,
      };
  }
}

function failureOfError(error: Fields): Failure {
  const data = fields(error["data"]);
  const name = text(error["name"]);
  const status = count(data["statusCode"]) ?? (name === "ProviderAuthError" ? 401 : null);
  return failureOf(OPENCODE, { status, message: messageOf(error) });
}

function messageOf(error: Fields): string {
  return text(fields(error["data"])["message"]) ?? text(error["message"]) ?? text(error["name"]) ?? "an error";
}

/** Of one step. Its input is counted without what came from the cache or went into it. */
function usageOf(part: Fields): Usage {
  const tokens = fields(part["tokens"]);
  const cache = fields(tokens["cache"]);
  const [input, output, cached] = [count(tokens["input"]), count(tokens["output"]), count(cache["read"])];
  return {
    usd: count(part["cost"]),
    inputTokens: input === null ? null : input + (cached ?? 0) + (count(cache["write"]) ?? 0),
    outputTokens: output === null ? null : output + (count(tokens["reasoning"]) ?? 0),
    cachedTokens: cached,
  };
}
