// Reads the output of `claude -p --output-format=stream-json`. One run can print several `init` and `result` events, because background
// agents give the lead another turn: the last result counts. Text of sub-agents is left out; their usage is counted.

import type { Json } from "../../core/json.ts";
import { UNKNOWN_USAGE } from "../../core/budget/usage.ts";
import { optional } from "../../core/optional.ts";
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
import { epochTime, resetTime } from "../reset-time.ts";
import { limitKind, LONGEST_SLEEP_MS } from "../vendor-limit.ts";
import { limitUses } from "./limit-uses.ts";
import { entry, failureOf, failureWithoutResult, type ClaudeTrouble } from "./failure.ts";
import { createUsageCount, type UsageCount } from "./usage.ts";

/** Everything the stream has shown so far. */
type ClaudeState = {
  sessionId: string | null;
  model: string | null;
  version: string | null;
  turns: number | null;
  toolCalls: number;
  result: Fields | null;
  /** The last event of the conversation is a result: no turn is under way. */
  isBetweenTurns: boolean;
  /** The message that Claude Code prints for a failed request. */
  failedRequest: Fields;
  /** The last event announced a retry of a request. */
  retry: Fields | null;
  /** It has announced a retry since the last answer of the model. */
  retried: boolean;
  resetsAt: string | null;
  readonly now: () => number;
  lastText: { readonly messageId: string; readonly text: string };
  readonly used: UsageCount;
  /** Ids of tasks that run in the background. */
  readonly background: Set<string>;
  /** Sub-agents and teammates at work, by their task. */
  readonly mates: Map<string, Mate>;
  /** Open tool calls by id, as a line for people. */
  readonly calls: Map<string, string>;
  readonly denials: Map<string, string>;
  /** MCP servers that a notice has named already. */
  readonly brokenServers: Set<string>;
  readonly onHeard: OnHeard;
};

type Mate = { readonly name: string; readonly isTeammate: boolean };

type EventReader = (state: ClaudeState, event: Fields) => readonly AgentEvent[];

/** The program has taken the message with this id from its stdin. */
type OnHeard = (id: string, way: "now" | "turn") => void;

/** `resumed` is the session that this run continues, with its usage so far. */
export function createClaudeReader(
  resumed?: Session,
  onHeard: OnHeard = () => {},
  now: () => number = Date.now,
): StreamReader {
  const state: ClaudeState = {
    sessionId: null,
    model: null,
    version: null,
    turns: null,
    toolCalls: 0,
    result: null,
    isBetweenTurns: false,
    failedRequest: {},
    retry: null,
    retried: false,
    resetsAt: null,
    now,
    lastText: { messageId: "", text: "" },
    used: createUsageCount(resumed?.totals ?? null),
    background: new Set(),
    mates: new Map(),
    calls: new Map(),
    denials: new Map(),
    brokenServers: new Set(),
    onHeard,
  };
  return {
    read(line) {
      const event = parseLine(line);
      if (!isFields(event)) return [{ type: "unknown", name: "text" }];
      if (event["subtype"] !== "api_retry") state.retry = null;
      return entry(EVENTS, event["type"])?.(state, event) ?? [unknown(event)];
    },
    get parkInMs() {
      return isLongRetry(state.retry) ? 0 : null;
    },
    get over() {
      return state.isBetweenTurns && state.background.size === 0;
    },
    conclude: (end) => conclude(state, end, resumed),
  };
}

const EVENTS: Readonly<Record<string, EventReader>> = {
  system: (state, event) => entry(SYSTEM_EVENTS, event["subtype"])?.(state, event) ?? [unknown(event)],
  assistant: readAssistant,
  user: readUser,
  result: readResult,
  rate_limit_event: readLimit,
  // Pieces of messages that Claude Code also prints whole.
  stream_event: () => [],
  control_response: () => [],
  // Where each message from stdin stands; its replay says that it was taken.
  command_lifecycle: () => [],
};

function readAssistant(state: ClaudeState, event: Fields): readonly AgentEvent[] {
  state.isBetweenTurns = false;
  const message = fields(event["message"]);
  const id = text(message["id"]) ?? "";
  if (event["is_api_error_message"] === true) {
    state.failedRequest = event;
    state.resetsAt = resetOf(fields(event["api_error_params"])["rate_limit_info"]) ?? state.resetsAt;
    return [];
  }
  state.retried = false;
  // A message comes in pieces, with the same numbers.
  const isNew = state.used.addMessage(id, message["usage"]);
  const named = text(message["model"]);
  if (state.model === null && named !== "<synthetic>") state.model = named;
  const ofSubAgent = text(event["parent_tool_use_id"]) !== null;
  const shown = list(message["content"]).flatMap((block) =>
    readBlock(state, fields(block), { messageId: id, ofSubAgent }),
  );
  const usage = isNew ? state.used.ofThisRun() : null;
  return usage === null ? shown : [...shown, { type: "usage", usage }];
}

function readUser(state: ClaudeState, event: Fields): readonly AgentEvent[] {
  if (event["isReplay"] === true) state.onHeard(text(event["uuid"]) ?? "", state.isBetweenTurns ? "turn" : "now");
  state.isBetweenTurns = false;
  return list(fields(event["message"])["content"]).flatMap((value) => {
    const block = fields(value);
    const id = text(block["tool_use_id"]);
    if (block["type"] !== "tool_result" || id === null) return [];
    state.calls.delete(id);
    return [
      { type: "tool.returned", id, ok: block["is_error"] !== true, output: toolText(toolAnswer(block["content"])) },
    ];
  });
}

function readResult(state: ClaudeState, event: Fields): readonly AgentEvent[] {
  state.result = event;
  state.isBetweenTurns = true;
  state.turns = add(state.turns, count(event["num_turns"]));
  state.used.addResult(event);
  for (const denial of list(event["permission_denials"]).map(fields)) {
    const id = text(denial["tool_use_id"]) ?? String(state.denials.size);
    state.denials.set(id, callLine(denial["tool_name"], denial["tool_input"]));
  }
  return [{ type: "usage", usage: state.used.ofThisRun() ?? UNKNOWN_USAGE }];
}

function readLimit(state: ClaudeState, event: Fields): readonly AgentEvent[] {
  const info = fields(event["rate_limit_info"]);
  const uses = limitUses(info);
  const told: readonly AgentEvent[] = uses.length === 0 ? [] : [{ type: "limits", uses }];
  if (info["status"] === "allowed") return told;
  const ends = resetOf(info);
  if (info["status"] === "rejected") state.resetsAt = ends ?? state.resetsAt;
  const which = text(info["rateLimitType"])?.replaceAll("_", " ") ?? "usage";
  const what = info["status"] === "rejected" ? "is reached" : "is near";
  return [...told, notice("limit", `The ${which} limit of the Claude account ${what}.`, ends)];
}

const SYSTEM_EVENTS: Readonly<Record<string, EventReader>> = {
  init: readInit,
  api_retry: readRetry,
  permission_denied(state, event) {
    const id = text(event["tool_use_id"]) ?? "";
    const line = state.calls.get(id) ?? eventText(text(event["tool_name"]) ?? "a tool");
    state.denials.set(id, line);
    return [notice("denied", eventText(`${line}: ${text(event["message"]) ?? "refused"}`))];
  },
  background_tasks_changed(state, event) {
    state.background.clear();
    for (const task of list(event["tasks"])) state.background.add(text(fields(task)["task_id"]) ?? "");
    return [];
  },
  task_started(state, event) {
    const id = text(event["task_id"]) ?? "";
    const isTeammate = event["is_backgrounded"] === true;
    if (isTeammate) state.background.add(id);
    // Commands in the background are tasks as well; people follow those of agents.
    if (event["task_type"] !== "local_agent") return [];
    const name = shortText(event["subagent_type"], "agent");
    state.mates.set(id, { name, isTeammate });
    return [{ type: "task.started", id, name, text: shortText(event["description"]) }];
  },
  task_notification(state, event) {
    const id = text(event["task_id"]) ?? "";
    state.background.delete(id);
    // Claude Code gives the lead another turn.
    state.isBetweenTurns = false;
    const mate = state.mates.get(id);
    if (mate === undefined) return [];
    state.mates.delete(id);
    const { name, isTeammate } = mate;
    const status = shortText(event["status"], "completed");
    const done: AgentEvent = { type: "task.completed", id, name, status, text: shortText(event["summary"]) };
    // Its session stays, without a task.
    return isTeammate ? [done, { type: "teammate.idle", id, name }] : [done];
  },
  task_updated(state, event) {
    const id = text(event["task_id"]) ?? "";
    if (ENDED.has(text(fields(event["patch"])["status"]) ?? "")) state.background.delete(id);
    return [];
  },
  task_progress: () => [],
  status: () => [],
  ui_invalidate: () => [],
};

function readInit(state: ClaudeState, event: Fields): readonly AgentEvent[] {
  state.isBetweenTurns = false;
  const id = text(event["session_id"]);
  state.model = text(event["model"]) ?? state.model;
  state.version = text(event["claude_code_version"]) ?? state.version;
  const begun: AgentEvent[] =
    id === null || id === state.sessionId ? [] : [{ type: "session", id, model: state.model }];
  state.sessionId = id ?? state.sessionId;
  const servers = list(event["mcp_servers"]).map(fields);
  return [...begun, ...servers.flatMap((server) => brokenServer(state, server))];
}

function readRetry(state: ClaudeState, event: Fields): readonly AgentEvent[] {
  state.retry = event;
  state.retried = true;
  const status = count(event["error_status"]);
  const why = status === null ? (text(event["error"]) ?? "unknown") : String(status);
  const after = Math.round((count(event["retry_delay_ms"]) ?? 0) / 100) / 10;
  const which = `${count(event["attempt"]) ?? "?"} of ${count(event["max_retries"]) ?? "?"}`;
  return [notice("retry", eventText(`A request to the model failed (${why}); retry ${which} in ${after} s.`))];
}

function brokenServer(state: ClaudeState, server: Fields): AgentEvent[] {
  const [name, status] = [text(server["name"]) ?? "?", text(server["status"]) ?? "?"];
  if (status === "connected" || status === "pending" || state.brokenServers.has(name)) return [];
  state.brokenServers.add(name);
  return [notice("warning", eventText(`The MCP server ${name} cannot be used: ${status}.`))];
}

type BlockOrigin = { readonly messageId: string; readonly ofSubAgent: boolean };

function readBlock(state: ClaudeState, block: Fields, { messageId, ofSubAgent }: BlockOrigin): AgentEvent[] {
  const words = text(block["text"]) ?? text(block["thinking"]);
  switch (block["type"]) {
    case "text": {
      if (words === null || ofSubAgent) return [];
      const before = state.lastText;
      const whole = messageId === before.messageId ? `${before.text}\n${words}` : words;
      state.lastText = { messageId, text: growingText(whole) };
      return [{ type: "message", text: eventText(words) }];
    }
    case "thinking":
      return words === null || ofSubAgent ? [] : [{ type: "thinking", text: eventText(words) }];
    case "tool_use": {
      const id = text(block["id"]) ?? "";
      state.toolCalls += 1;
      state.calls.set(id, callLine(block["name"], block["input"]));
      return [
        { type: "tool.called", id, name: eventText(text(block["name"]) ?? "?"), input: toolText(block["input"]) },
      ];
    }
    default:
      return [];
  }
}

function conclude(
  state: ClaudeState,
  end: ProgramEnd,
  resumed: Session | undefined,
): ReturnType<StreamReader["conclude"]> {
  const { result, used } = state;
  const failure = failureIn(state, end);
  const id = state.sessionId ?? resumed?.id ?? null;
  const conclusion = failure === null ? text(result?.["result"]) : null;
  return {
    conversation: {
      session: id === null || failure?.kind === "session_lost" ? null : { id, totals: used.totals() },
      model: state.model,
      version: state.version,
      usage: used.ofThisRun(),
      ...optional({ reportedMs: count(result?.["duration_ms"]) ?? undefined }),
      turns: state.turns,
      toolCalls: state.toolCalls,
      structured: (result?.["structured_output"] ?? null) as Json,
      denials: [...state.denials.values()],
      failure,
    },
    // A result without text ends a turn whose last act was a tool call, so there is no final text.
    finalText: result !== null && failure === null ? finalText(conclusion ?? "") : finalText(state.lastText.text),
  };
}

function failureIn(state: ClaudeState, end: ProgramEnd): Failure | null {
  const { result, retry } = state;
  if (result === null && (end.reason === "exited" || end.reason === "signaled")) return failureWithoutResult(end);
  if (retry !== null && isStopped(end)) return whileWaiting(state, retry);
  if (result === null) return null;
  if (result["is_error"] !== false || result["subtype"] !== "success")
    return failureOf(troubleOf(state, result, state.failedRequest));
  const crashed = end.reason === "signaled" || (end.reason === "exited" && end.exitCode !== 0);
  if (!crashed) return null;
  const how = end.signal === null ? `code ${end.exitCode ?? "unknown"}` : end.signal;
  return { kind: "agent_crashed", message: `Claude Code said that it succeeded, but ended with ${how}.` };
}

/** Of a program that was ended while it waited for its retry. How long it waits decides what kind of limit that is. */
function whileWaiting(state: ClaudeState, retry: Fields): Failure {
  const failure = failureOf(troubleOf(state, {}, retry));
  return state.resetsAt === null
    ? { ...failure, kind: limitKind(failure.kind, failure.resetsAt ?? null, state.now()) }
    : failure;
}

function troubleOf({ resetsAt, retried, now }: ClaudeState, from: Fields, request: Fields): ClaudeTrouble {
  const errors = list(from["errors"]).map((each) => text(each) ?? "");
  const words = text(from["result"]) ?? errors.join(" ");
  const statuses = [from["api_error_status"], request["api_error_status"], request["error_status"]].map(count);
  return {
    subtype: text(from["subtype"]),
    terminalReason: text(from["terminal_reason"]),
    startupReason: text(from["startup_failure_reason"]),
    status: statuses.find((status) => status !== null) ?? null,
    code: text(from["api_error"]) ?? text(request["api_error"]),
    name: text(request["error"]),
    said: words,
    resetsAt: resetsAt ?? retryTime(request, now()) ?? resetTime(words, now()),
    retried,
  };
}

const shortText = (value: unknown, otherwise = ""): string => eventText(text(value) ?? otherwise).slice(0, 300);

/** Statuses of a task that is no longer under way. */
const ENDED = new Set(["completed", "failed", "killed", "stopped", "cancelled"]);
const DENIAL_CHARS = 300;

const unknown = (event: Fields): AgentEvent => {
  const names = [text(event["type"]) ?? "?", text(event["subtype"])].filter((name) => name !== null);
  return { type: "unknown", name: names.join("/").slice(0, 100) };
};

const notice = (
  kind: Extract<AgentEvent, { type: "notice" }>["kind"],
  words: string,
  resetsAt: string | null = null,
): AgentEvent => ({ type: "notice", kind, text: words, ...(resetsAt === null ? {} : { resetsAt }) });

const resetOf = (info: unknown): string | null => epochTime(fields(info)["resetsAt"]);

/** Passrail ended the program while it waited for a retry: at a limit of time, or because the wait is long. */
const isStopped = ({ reason }: ProgramEnd): boolean =>
  reason === "idle_timeout" || reason === "timeout" || reason === "finished";

/** A retry that the provider has put off for longer than is worth a slot. */
function isLongRetry(retry: Fields | null): boolean {
  return retry !== null && retry["error_status"] === 429 && (count(retry["retry_delay_ms"]) ?? 0) > LONGEST_SLEEP_MS;
}

/** When the program itself wants to retry, which is what the provider asked for. */
function retryTime(retry: Fields, nowMs: number): string | null {
  const wait = count(retry["retry_delay_ms"]);
  return wait === null || retry["error_status"] !== 429 || wait > 8 * 86_400_000
    ? null
    : new Date(nowMs + wait).toISOString();
}

const add = (one: number | null, other: number | null): number | null => (other === null ? one : (one ?? 0) + other);

/** `Bash: rm -rf build`: the tool, and the one thing of its input that a person wants to know. */
function callLine(name: unknown, input: unknown): string {
  const given = fields(input);
  const what = text(given["command"]) ?? text(given["file_path"]) ?? text(given["url"]) ?? toolText(input);
  return `${text(name) ?? "a tool"}: ${what}`.slice(0, DENIAL_CHARS);
}

/** The text of a tool's answer, which may come in blocks. */
function toolAnswer(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  const texts = content.map((block) => text(fields(block)["text"])).filter((each) => each !== null);
  return texts.length > 0 ? texts.join("\n") : content;
}
