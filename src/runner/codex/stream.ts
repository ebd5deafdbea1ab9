// Reads the output of `codex exec --json`. Only the end of a turn decides: Codex also prints a top-level `error` in runs that succeed.
// Its token counts cover the whole conversation, including the part before a resume, and it reports no cost.

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
import { resetTime } from "../reset-time.ts";
import { isLimit, LONGEST_SLEEP_MS } from "../vendor-limit.ts";
import { failureOf, failureWithoutTurn } from "./failure.ts";

export type CodexReading = {
  /** The conversation that this run continues. */
  readonly resumed?: Session;
  /** The requested model: Codex does not report which one it uses. */
  readonly model: string | null;
  /** Milliseconds since 1970; the clock of the machine by default. */
  readonly now?: () => number;
  /** A schema was requested, so the last message should be JSON. Codex does not check it. */
  readonly structured: boolean;
};

/** Everything the stream has shown so far. */
type CodexState = {
  threadId: string | null;
  total: Usage | null;
  turn: { readonly failed: string | null } | null;
  toolCalls: number;
  /** The agent's messages since its last tool call. */
  said: string;
  lastMessage: string;
  /** The last event announced a retry of a request; Codex may wait an hour before it. */
  retry: string | null;
  /** When it wants to retry; only its log says that. */
  retryAt: string | null;
  readonly called: Set<string>;
  readonly denials: string[];
};

/** `take`: an event that came some other way than as a line. */
export type CodexReader = StreamReader & { take(event: Fields): readonly AgentEvent[] };

export function createCodexReader(reading: CodexReading): CodexReader {
  const state: CodexState = {
    threadId: null,
    total: null,
    turn: null,
    toolCalls: 0,
    said: "",
    lastMessage: "",
    retry: null,
    retryAt: null,
    called: new Set(),
    denials: [],
  };
  return {
    take: (event) => readEvent(state, event, reading),
    read(line) {
      const event = parseLine(line);
      return isFields(event) ? readEvent(state, event, reading) : [{ type: "unknown", name: "text" }];
    },
    readError(line) {
      // The log comes before the event that announces the retry, or after it.
      if (line.includes("retrying sampling request")) state.retryAt = resetTime(line, nowOf(reading)());
      return [];
    },
    get parkInMs() {
      const { retry, retryAt } = state;
      if (retry === null || retryAt === null || !isLimit(failureOf(retry, 0).kind)) return null;
      return Date.parse(retryAt) - nowOf(reading)() > LONGEST_SLEEP_MS ? 0 : null;
    },
    get over() {
      return state.turn !== null;
    },
    conclude: (end) => conclude(state, end, reading),
  };
}

const nowOf = ({ now = Date.now }: CodexReading): (() => number) => now;

function readEvent(state: CodexState, event: Fields, { model, resumed }: CodexReading): readonly AgentEvent[] {
  const type = text(event["type"]) ?? "?";
  state.retry = null;
  switch (type) {
    case "thread.started":
      state.threadId = text(event["thread_id"]);
      return state.threadId === null ? [] : [{ type: "session", id: state.threadId, model }];
    case "turn.started":
      state.turn = null;
      return [];
    case "turn.completed":
      state.turn = { failed: null };
      state.total = usageOf(event["usage"]);
      return [{ type: "usage", usage: usageSince(state.total, resumed?.totals ?? null) }];
    case "turn.failed":
      state.turn = { failed: text(fields(event["error"])["message"]) ?? "no reason given" };
      return [];
    case "error": {
      const words = text(event["message"]) ?? "an error without words";
      if (!words.startsWith("Reconnecting")) return [notice("warning", words)];
      state.retry = words;
      return [notice("retry", words)];
    }
    case "item.started":
    case "item.updated":
    case "item.completed":
      return readItem(state, fields(event["item"]), type === "item.completed");
    default:
      return [{ type: "unknown", name: type.slice(0, 100) }];
  }
}

function readItem(state: CodexState, item: Fields, isFinished: boolean): readonly AgentEvent[] {
  const words = text(item["text"]);
  switch (item["type"]) {
    case "agent_message":
      if (!isFinished || words === null) return [];
      state.lastMessage = growingText(words);
      state.said = growingText(state.said === "" ? words : `${state.said}\n${words}`);
      return [{ type: "message", text: eventText(words) }];
    case "reasoning":
      return isFinished && words !== null ? [{ type: "thinking", text: eventText(words) }] : [];
    case "error":
      return [notice("warning", text(item["message"]) ?? "an error without words")];
    case "todo_list":
      return [];
    default: {
      const tool = toolOf(item);
      if (tool === null) return [{ type: "unknown", name: `item/${text(item["type"]) ?? "?"}`.slice(0, 100) }];
      return readTool(state, item, tool, isFinished);
    }
  }
}

function readTool(state: CodexState, item: Fields, tool: Tool, isFinished: boolean): readonly AgentEvent[] {
  const id = text(item["id"]) ?? "";
  const begun: AgentEvent[] = [];
  if (!state.called.has(id)) {
    state.called.add(id);
    state.toolCalls += 1;
    state.said = "";
    begun.push({ type: "tool.called", id, name: eventText(tool.name), input: toolText(tool.input) });
  }
  if (!isFinished) return begun;
  const returned: AgentEvent = { type: "tool.returned", id, ok: tool.ok, output: toolText(tool.output) };
  const refused = refusal(item);
  if (refused === null) return [...begun, returned];
  const line = `${tool.name}: ${refused}`;
  state.denials.push(line.slice(0, 300));
  return [...begun, returned, notice("denied", line)];
}

function conclude(state: CodexState, end: ProgramEnd, reading: CodexReading): ReturnType<StreamReader["conclude"]> {
  const { resumed, model, structured } = reading;
  const failure = failureIn(state, end, nowOf(reading)(), resumed);
  const id = state.threadId ?? resumed?.id ?? null;
  const before = resumed?.totals ?? null;
  return {
    conversation: {
      session: id === null || failure?.kind === "session_lost" ? null : { id, totals: state.total ?? before },
      model,
      version: null,
      usage: state.total === null ? null : usageSince(state.total, before),
      turns: null,
      toolCalls: state.toolCalls,
      structured: structured && failure === null ? ((parseLine(state.lastMessage.trim()) ?? null) as Json) : null,
      denials: state.denials,
      failure,
    },
    finalText: finalText(state.said),
  };
}

function failureIn(
  { threadId, turn, retry, retryAt }: CodexState,
  end: ProgramEnd,
  nowMs: number,
  resumed?: Session,
): Failure | null {
  if (resumed !== undefined && threadId !== null && threadId !== resumed.id) {
    const message = `Codex began a new conversation instead of continuing ${resumed.id}, which it does not know.`;
    return { kind: "session_lost", message };
  }
  if (turn === null && (end.reason === "exited" || end.reason === "signaled")) return failureWithoutTurn(end);
  if (turn === null) return retry !== null && isStopped(end) ? failureOf(retry, nowMs, retryAt) : null;
  if (turn.failed !== null) return failureOf(turn.failed, nowMs);
  const crashed = end.reason === "signaled" || (end.reason === "exited" && end.exitCode !== 0);
  if (!crashed) return null;
  const how = end.signal === null ? `code ${end.exitCode ?? "unknown"}` : end.signal;
  return { kind: "agent_crashed", message: `Codex said that its turn was completed, but ended with ${how}.` };
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
      // It has no status; Codex reports only its end.
      return { name: "web_search", input: item["query"], output: "", ok: true };
    case "collab_tool_call":
      return { name: text(item["tool"]) ?? "collaboration", input: item["prompt"], output: "", ok };
    default:
      return null;
  }
}

/** Why a tool call was refused; null if it was allowed. */
function refusal(item: Fields): string | null {
  const message = text(fields(item["error"])["message"]);
  if (message?.includes("requires approval") === true) return eventText(message);
  return item["status"] === "declined" ? (text(item["command"]) ?? "declined") : null;
}

/** Passrail ended the program while it waited for a retry: at a limit of time, or because the wait is long. */
const isStopped = ({ reason }: ProgramEnd): boolean =>
  reason === "idle_timeout" || reason === "timeout" || reason === "finished";

const notice = (kind: Extract<AgentEvent, { type: "notice" }>["kind"], words: string): AgentEvent => ({
  type: "notice",
  kind,
  text: eventText(words),
});

function usageOf(value: unknown): Usage {
  const counts = fields(value);
  return {
    usd: null,
    inputTokens: count(counts["input_tokens"]),
    outputTokens: count(counts["output_tokens"]),
    cachedTokens: count(counts["cached_input_tokens"]),
  };
}
