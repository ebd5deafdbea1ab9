// The lines of `gemini -o stream-json`: init, messages in pieces, tool calls, and one result at the end.

import type { Usage } from "../../core/budget/usage.ts";
import { failureOf, type AcpTrouble, troubleInText } from "../acp/failure.ts";
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
import { resetTime } from "../reset-time.ts";
import { LONGEST_SLEEP_MS } from "../vendor-limit.ts";
import { GEMINI, leftGemini, withDailyReset } from "./program.ts";

/** Everything the stream has shown so far. */
type GeminiState = {
  session: { readonly id: string; readonly model: string | null } | null;
  /** Pieces of the message that is being printed. */
  pieces: string[];
  /** The agent's messages since its last tool call. */
  said: string;
  toolCalls: number;
  /** For people. */
  lastCall: string;
  result: Fields | null;
  /** Its own words about a circle in which the model turned; it ends with success all the same. */
  loop: string | null;
  /** The request that failed and when it is repeated, if nothing came since; only stderr says that. */
  retry: { readonly words: string; readonly at: string } | null;
  /** Names of tools by the id of their call. */
  readonly names: Map<string, string>;
  readonly denials: string[];
  readonly clean: (text: string) => string;
};

export function createGeminiReader(
  clean: (text: string) => string = (each) => each,
  now: () => number = Date.now,
): StreamReader {
  const state: GeminiState = {
    session: null,
    pieces: [],
    said: "",
    toolCalls: 0,
    lastCall: "",
    result: null,
    loop: null,
    retry: null,
    names: new Map(),
    denials: [],
    clean,
  };
  return {
    get over() {
      return state.result !== null;
    },
    get parkInMs() {
      return state.retry !== null && Date.parse(state.retry.at) - now() > LONGEST_SLEEP_MS ? 0 : null;
    },
    readError: (line) => readRetry(state, line, now()),
    read: (line) => {
      state.retry = null;
      return readEvent(state, fields(parseLine(line)));
    },
    conclude: (end) => ({
      finalText: finalText(clean(state.said)),
      conversation: {
        session: state.session === null ? null : { id: state.session.id, totals: null },
        model: state.session?.model ?? null,
        version: null,
        usage: state.result === null ? null : usageOf(state.result),
        turns: null,
        toolCalls: state.toolCalls,
        structured: null,
        denials: state.denials,
        failure: failureOfEnd(state, end, now()),
      },
    }),
  };
}

function readEvent(state: GeminiState, event: Fields): readonly AgentEvent[] {
  const type = text(event["type"]);
  if (type === "message") {
    const content = text(event["content"]);
    if (event["role"] !== "assistant" || content === null) return [];
    state.pieces.push(content);
    state.said = growingText(state.said + content);
    return [];
  }
  return [...wholeMessage(state), ...readOther(state, event, type)];
}

/** The message whose pieces came before this event. */
function wholeMessage(state: GeminiState): AgentEvent[] {
  const message = state.pieces.join("");
  state.pieces = [];
  return message === "" ? [] : [{ type: "message", text: eventText(state.clean(message)) }];
}

function readOther(state: GeminiState, event: Fields, type: string | null): readonly AgentEvent[] {
  switch (type) {
    case "init": {
      const id = text(event["session_id"]);
      if (id === null) return [];
      state.session = { id, model: text(event["model"]) };
      return [{ type: "session", ...state.session }];
    }
    case "tool_use":
      return readCall(state, event);
    case "tool_result":
      return readReturn(state, event);
    case "error": {
      const words = text(event["message"]) ?? "an error";
      if (words.toLowerCase().includes("loop detected")) state.loop = words;
      return [{ type: "notice", kind: "warning", text: eventText(words) }];
    }
    case "result": {
      state.result = event;
      const usage = usageOf(event);
      return usage === null ? [] : [{ type: "usage", usage }];
    }
    case null:
      return [];
    default:
      return [{ type: "unknown", name: eventText(type) }];
  }
}

function readCall(state: GeminiState, event: Fields): AgentEvent[] {
  const id = text(event["tool_id"]) ?? `tool-${state.toolCalls}`;
  const name = text(event["tool_name"]) ?? "tool";
  state.names.set(id, name);
  state.lastCall = `${name} ${toolText(event["parameters"])}`.slice(0, 300);
  state.toolCalls += 1;
  state.said = "";
  return [{ type: "tool.called", id, name, input: toolText(event["parameters"]) }];
}

function readReturn(state: GeminiState, event: Fields): AgentEvent[] {
  const id = text(event["tool_id"]) ?? "tool";
  const error = fields(event["error"]);
  const output = toolText(event["output"] ?? error["message"]);
  state.said = "";
  const done: AgentEvent = { type: "tool.returned", id, ok: event["status"] === "success", output };
  if (!REFUSALS.has(text(error["type"]) ?? "")) return [done];
  const line = `${state.names.get(id) ?? "tool"}: ${(text(error["message"]) ?? "refused").slice(0, 300)}`;
  state.denials.push(line);
  return [{ type: "notice", kind: "denied", text: eventText(line) }, done];
}

/** Errors of a tool call that are decisions of the program, not of the tool. */
const REFUSALS = new Set(["policy_violation", "tool_not_registered", "permission_denied"]);

/** `… Suggested retry after 60s.. Retrying after 62000ms...`; the words before it may stand in earlier lines. */
function readRetry(state: GeminiState, line: string, nowMs: number): AgentEvent[] {
  const found = /Retrying after (\d{1,9})ms/.exec(line.slice(-4_000));
  if (found === null) return [];
  const words = line.slice(0, found.index).trim().slice(-500);
  // It sleeps a little longer than it was asked to.
  const at = resetTime(words, nowMs) ?? new Date(nowMs + Number(found[1])).toISOString();
  state.retry = { words, at };
  return [{ type: "notice", kind: "retry", text: eventText(line) }];
}

function failureOfEnd({ result, loop, lastCall, retry }: GeminiState, end: ProgramEnd, nowMs: number): Failure | null {
  if (retry !== null && (end.reason === "finished" || end.reason.endsWith("timeout"))) {
    const failure = failureOf(GEMINI, { status: null, message: retry.words, resetsAt: retry.at }, nowMs);
    // It repeats requests that failed at the provider; that its words name no limit means another failure there.
    return failure.kind === "agent_crashed"
      ? failureOf(
          GEMINI,
          { status: retry.words.includes("retry after") ? 429 : 503, message: retry.words, resetsAt: retry.at },
          nowMs,
        )
      : failure;
  }
  const ended = end.reason === "exited" || end.reason === "signaled";
  if (result === null) return ended ? leftGemini(end) : null;
  if (loop !== null) {
    const call = lastCall === "" ? "" : ` Its last call: ${lastCall}.`;
    return { kind: "tool_loop", message: `${GEMINI.title} stopped because the model turned in a circle.${call}` };
  }
  if (result["status"] === "success") {
    if (!ended || (end.reason === "exited" && end.exitCode === 0)) return null;
    return leftGemini(end);
  }
  const error = fields(result["error"]);
  if (text(error["type"]) === "FatalTurnLimitedError") {
    return { kind: "turn_limit", message: `${GEMINI.title} reached its limit of turns before it was done.` };
  }
  return failureOf(GEMINI, withDailyReset(withoutAdvice(troubleInText(text(error["message"]) ?? "")), nowMs), nowMs);
}

/** The program adds this to every answer with 429. It mentions quotas and logins; only the text before it is the provider's. */
const ADVICE = "Please wait and try again later.";

function withoutAdvice({ status, message }: AcpTrouble): AcpTrouble {
  const at = message.indexOf(ADVICE);
  return at < 0 ? { status, message } : { status: status ?? 429, message: message.slice(0, at) };
}

/** Of this run alone, also in a resumed session. */
function usageOf(result: Fields): Usage | null {
  const stats = fields(result["stats"]);
  const inputTokens = count(stats["input_tokens"]);
  const outputTokens = count(stats["output_tokens"]);
  if (inputTokens === null && outputTokens === null) return null;
  return { usd: null, inputTokens, outputTokens, cachedTokens: count(stats["cached"]) };
}
