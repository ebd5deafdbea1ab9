// Reads `opencode run --format json`: steps, texts, finished tool calls and errors. There is no final line: the last step says whether the
// model had finished.

import { addUsage, type Usage } from "../../core/budget/usage.ts";
import { type AcpTrouble, failureOf } from "../acp/failure.ts";
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
import { isLimit, LONGEST_SLEEP_MS } from "../vendor-limit.ts";
import { leftOpencode, OPENCODE } from "./program.ts";

/** Everything the stream has shown so far. */
type OpencodeState = {
  session: string | null;
  /** The agent's messages since its last tool call. */
  said: string;
  toolCalls: number;
  steps: number;
  usage: Usage | null;
  /** Why the last step ended; null while one is under way. */
  reason: string | null;
  error: Fields | null;
  /** The words of a request that failed and that it repeats by itself; null after the next event. Only its log has them. */
  retry: string | null;
  readonly denials: string[];
};

export function createOpencodeReader(model: string | null, now: () => number = Date.now): StreamReader {
  const state: OpencodeState = {
    session: null,
    said: "",
    toolCalls: 0,
    steps: 0,
    usage: null,
    reason: null,
    error: null,
    retry: null,
    denials: [],
  };
  return {
    get over() {
      return state.reason === "stop" || state.error !== null;
    },
    get parkInMs() {
      if (state.retry === null) return null;
      const { kind, resetsAt } = failureOf(OPENCODE, troubleInLog(state.retry), now());
      if (!isLimit(kind)) return null;
      return resetsAt !== undefined && Date.parse(resetsAt) - now() > LONGEST_SLEEP_MS ? 0 : LONGEST_SLEEP_MS;
    },
    readError: (line) => {
      const words = failedRequest(line);
      if (words === null) return [];
      state.retry = words;
      return [{ type: "notice", kind: "retry", text: eventText(`A request to the model failed: ${words}`) }];
    },
    read: (line) => {
      state.retry = null;
      const event = fields(parseLine(line));
      const type = text(event["type"]);
      if (type === null) return [];
      const id = text(event["sessionID"]);
      if (state.session !== null || id === null) return readEvent(state, event, type);
      state.session = id;
      return [{ type: "session", id, model }, ...readEvent(state, event, type)];
    },
    conclude: (end) => ({
      finalText: finalText(state.said),
      conversation: {
        session: state.session === null ? null : { id: state.session, totals: null },
        model,
        version: null,
        usage: state.usage,
        turns: state.steps === 0 ? null : state.steps,
        toolCalls: state.toolCalls,
        structured: null,
        denials: state.denials,
        failure: failureOfEnd(state, end),
      },
    }),
  };
}

function readEvent(state: OpencodeState, event: Fields, type: string): AgentEvent[] {
  const part = fields(event["part"]);
  switch (type) {
    case "step_start":
      state.reason = null;
      return [];
    case "text": {
      const words = text(part["text"]);
      if (words === null) return [];
      state.said = growingText(state.said === "" ? words : `${state.said}\n\n${words}`);
      return [{ type: "message", text: eventText(words) }];
    }
    case "reasoning":
      return [{ type: "thinking", text: eventText(text(part["text"]) ?? "") }];
    case "tool_use":
      return readTool(state, part);
    case "step_finish": {
      state.steps += 1;
      state.reason = text(part["reason"]);
      const step = usageOf(part);
      state.usage = state.usage === null ? step : addUsage(state.usage, step);
      return [{ type: "usage", usage: state.usage }];
    }
    case "error":
      state.error = fields(event["error"]);
      return [{ type: "notice", kind: "warning", text: eventText(errorText(state.error)) }];
    default:
      return [{ type: "unknown", name: eventText(type) }];
  }
}

function readTool(state: OpencodeState, part: Fields): AgentEvent[] {
  const result = fields(part["state"]);
  const id = text(part["callID"]) ?? `tool-${state.toolCalls}`;
  const name = text(part["tool"]) ?? "tool";
  const input = fields(result["input"]);
  const failed = text(result["error"]);
  state.toolCalls += 1;
  state.said = "";
  const called: AgentEvent = { type: "tool.called", id, name, input: toolText(input) };
  const returned: AgentEvent = {
    type: "tool.returned",
    id,
    ok: result["status"] === "completed",
    output: toolText(failed ?? result["output"]),
  };
  if (failed === null || !REFUSALS.some((words) => failed.includes(words))) return [called, returned];
  const line = `${name}: ${(text(input["command"]) ?? text(input["filePath"]) ?? failed).slice(0, 300)}`;
  state.denials.push(line);
  return [called, { type: "notice", kind: "denied", text: eventText(line) }, returned];
}

const REFUSALS = ["rejected permission", "prevents you from using", "denied"];

/** `level=ERROR … message="stream error" … error.error="AI_APICallError: Too Many Requests"`: it repeats the request and prints nothing. */
function failedRequest(line: string): string | null {
  if (!line.includes('message="stream error"') || line.includes("small=true")) return null;
  const at = line.indexOf('error.error="');
  if (at < 0) return null;
  const words = line
    .slice(at + 'error.error="'.length, at + 2_000)
    .replace(/"\s*$/, "")
    .replaceAll('\\"', '"');
  return words.replace(/^AI_[A-Za-z]{1,40}: /, "");
}

/** It was silent for longer than a throttle lasts, and does not say when it will ask again. */
function asleep(failure: Failure): Failure {
  return failure.kind === "rate_limit" && failure.resetsAt === undefined ? { ...failure, kind: "quota" } : failure;
}

/** Its log has the words and not the status; a request that it repeats and that no word explains failed at the provider. */
function troubleInLog(words: string): AcpTrouble {
  const { kind } = failureOf(OPENCODE, { status: null, message: words });
  return { status: kind === "agent_crashed" ? 503 : null, message: words };
}

function failureOfEnd({ reason, error, retry, denials }: OpencodeState, end: ProgramEnd): Failure | null {
  const isCut = end.reason.endsWith("timeout") || end.reason === "finished";
  if (retry !== null && error === null && isCut) return asleep(failureOf(OPENCODE, troubleInLog(retry)));
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
      return {
        kind: "request_refused",
        message: `${OPENCODE.title}: the model refused to continue with this request.`,
      };
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
  return failureOf(OPENCODE, { status, message: errorText(error) });
}

function errorText(error: Fields): string {
  return text(fields(error["data"])["message"]) ?? text(error["message"]) ?? text(error["name"]) ?? "an error";
}

/** Of one step. Its input excludes tokens read from the cache or written to it. */
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
