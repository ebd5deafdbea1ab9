// Translates an agent's protocol updates into our events, and at the end into one conversation record. No clock, no processes: the caller
// talks to the program and reports its answers and failures here.

import { addUsage, type Usage, UNKNOWN_USAGE, usageSince } from "../../core/budget/usage.ts";
import type { AgentEvent, Conversation, Failure, Session } from "../runner.ts";
import type { ProgramEnd } from "../process/stream.ts";
import { count, eventText, type Fields, fields, finalText, growingText, list, text, toolText } from "../loose-json.ts";

export type AcpConversation = {
  opened(session: { readonly id: string; readonly model: string | null }): void;
  /** The `update` of a session/update. */
  update(update: unknown): void;
  /** A tool call that is known from a request for permission only. */
  sawTool(call: unknown): void;
  /** A refused request of the agent; `call` is its tool call. */
  refused(line: string, call: unknown): void;
  warn(message: string): void;
  /** A further turn begins: only its own words can be the last ones. */
  nextTurn(): void;
  /** The answer to the prompt. */
  answered(result: unknown): void;
  /** Only the first counts. */
  failed(failure: Failure): void;
  conclude(end: ProgramEnd): { readonly conversation: Conversation; readonly finalText: string };
};

export type AcpReading = {
  readonly emit: (event: AgentEvent) => void;
  /** Removes secrets from text joined from pieces. */
  readonly clean: (text: string) => string;
  /** The session's usage so far; null for a new one. */
  readonly before: Session | null;
  /** The tokens in the answer to a prompt; the default reads the fields of the protocol. */
  readonly tokens?: (answer: Fields, toolCalls: number) => Usage;
  /** The failure of a program that exited without an answer. */
  readonly left: (end: ProgramEnd) => Failure;
  /** The program's name, for sentences. */
  readonly title: string;
  /** The program's version from its first answer; null until then. */
  readonly version: () => string | null;
};

type AcpTool = { readonly name: string; called: boolean; returned: boolean };
type Speech = { readonly type: "message" | "thinking"; readonly id: string | null; pieces: string[]; chars: number };

/** A longer message is split into several events. */
const SPEECH_CHARS = 60_000;

/** Everything the agent has sent so far. */
type AcpState = {
  readonly reading: AcpReading;
  readonly tools: Map<string, AcpTool>;
  readonly denials: string[];
  session: { readonly id: string; readonly model: string | null } | null;
  /** The message whose pieces are being collected. */
  speech: Speech | null;
  /** The agent's messages since its last tool call, and the id of the last one. */
  said: string;
  speaker: string | null;
  totalUsd: number | null;
  answer: Fields | null;
  /** Tokens of the turns before; null in the first one. */
  earlier: Usage | null;
  failure: Failure | null;
};

export function openConversation(reading: AcpReading): AcpConversation {
  const { emit } = reading;
  const state: AcpState = {
    reading,
    tools: new Map(),
    denials: [],
    session: null,
    speech: null,
    said: "",
    speaker: null,
    totalUsd: null,
    answer: null,
    earlier: null,
    failure: null,
  };
  return {
    opened: (opened) => {
      state.session = opened;
      emit({ type: "session", ...opened });
    },
    update: (raw) => readUpdate(state, fields(raw)),
    sawTool: (call) => readTool(state, fields(call), true),
    refused: (line, call) => {
      state.denials.push(line);
      emit({ type: "notice", kind: "denied", text: eventText(line) });
      // Not every program reports the end of a refused call.
      readTool(state, { toolCallId: fields(call)["toolCallId"], status: "failed", rawOutput: "refused" }, true);
    },
    warn: (message) => emit({ type: "notice", kind: "warning", text: eventText(message) }),
    nextTurn: () => {
      flush(state);
      state.earlier = tokensSoFar(state);
      state.answer = null;
      state.said = "";
      state.speaker = null;
    },
    answered: (result) => {
      flush(state);
      state.answer = fields(result);
      const usage = usageNow(state);
      if (isKnown(usage)) emit({ type: "usage", usage });
    },
    failed: (first) => {
      flush(state);
      state.failure ??= first;
    },
    conclude: (end) => conclude(state, end),
  };
}

function readUpdate(state: AcpState, update: Fields): void {
  const { emit, before } = state.reading;
  const kind = text(update["sessionUpdate"]) ?? "";
  switch (kind) {
    case "agent_message_chunk":
      return readSpeech(state, "message", update);
    case "agent_thought_chunk":
      return readSpeech(state, "thinking", update);
    case "tool_call":
    case "tool_call_update":
      return readTool(state, update, false);
    case "plan":
      flush(state);
      return emit({ type: "thinking", text: eventText(planOf(update)) });
    case "usage_update": {
      const cost = fields(update["cost"]);
      const amount = cost["currency"] === "USD" ? count(cost["amount"]) : null;
      if (amount === null) return;
      state.totalUsd = amount;
      return emit({ type: "usage", usage: usageNow(state) });
    }
    case "user_message_chunk":
      // The program replays an old conversation: everything so far belongs to it.
      if (before !== null && state.answer === null) forgetSpeech(state);
      return;
    default:
      return QUIET.has(kind) ? undefined : emit({ type: "unknown", name: eventText(kind) });
  }
}

function readSpeech(state: AcpState, type: Speech["type"], update: Fields): void {
  const chunk = textOf(update["content"]);
  const id = text(update["messageId"]);
  if (chunk === "") return;
  const { speech } = state;
  const isSame = speech !== null && speech.type === type && speech.id === id && speech.chars <= SPEECH_CHARS;
  if (!isSame) flush(state);
  const current = isSame ? speech : { type, id, pieces: [], chars: 0 };
  current.pieces.push(chunk);
  current.chars += chunk.length;
  state.speech = current;
  if (type === "thinking") return;
  // Two messages in a row become two paragraphs.
  const { said, speaker } = state;
  state.said = growingText(said === "" || speaker === id ? said + chunk : `${said}\n\n${chunk}`);
  state.speaker = id;
}

function readTool(state: AcpState, call: Fields, askedFor: boolean): void {
  const { emit } = state.reading;
  const id = text(call["toolCallId"]);
  if (id === null) return;
  flush(state);
  const known = state.tools.get(id) ?? { name: nameOf(call), called: false, returned: false };
  state.tools.set(id, known);
  const status = text(call["status"]);
  const input = inputOf(call);
  // Some programs announce a call before they know its input; the event waits until there is something to show.
  if (!known.called && (askedFor || input !== "" || (status !== null && status !== "pending"))) {
    known.called = true;
    emit({ type: "tool.called", id, name: known.name, input });
  }
  if (!known.returned && (status === "completed" || status === "failed")) {
    known.returned = true;
    emit({ type: "tool.returned", id, ok: status === "completed", output: outputOf(call) });
  }
  state.said = "";
  state.speaker = null;
}

/** Emits the collected message. */
function flush(state: AcpState): void {
  const { emit, clean } = state.reading;
  if (state.speech !== null) emit({ type: state.speech.type, text: eventText(clean(state.speech.pieces.join(""))) });
  state.speech = null;
}

function forgetSpeech(state: AcpState): void {
  state.speech = null;
  state.said = "";
  state.speaker = null;
  state.tools.clear();
}

/** Each turn tells of itself alone. A sum with an unknown part would be wrong. */
function tokensSoFar({ answer, earlier, reading, tools }: AcpState): Usage {
  if (answer === null) return earlier ?? UNKNOWN_USAGE;
  const turn = (reading.tokens ?? tokensOfProtocol)(answer, tools.size);
  if (earlier === null) return turn;
  return isKnown(turn) && isKnown(earlier) ? addUsage(earlier, turn) : UNKNOWN_USAGE;
}

function usageNow(state: AcpState): Usage {
  const { reading, totalUsd } = state;
  const tokens = tokensSoFar(state);
  const spent = usageSince({ ...UNKNOWN_USAGE, usd: totalUsd }, reading.before?.totals ?? null);
  return { ...tokens, usd: spent.usd };
}

function isKnown(usage: Usage): boolean {
  return Object.values(usage).some((value) => value !== null);
}

function conclude(state: AcpState, end: ProgramEnd): ReturnType<AcpConversation["conclude"]> {
  flush(state);
  const { denials, reading, said, session } = state;
  const usage = usageNow(state);
  return {
    finalText: finalText(reading.clean(said)),
    conversation: {
      session: session === null ? null : { id: session.id, totals: totalsOf(state.totalUsd, reading.before) },
      model: session?.model ?? null,
      version: reading.version(),
      usage: isKnown(usage) ? usage : null,
      turns: null,
      toolCalls: state.tools.size,
      structured: null,
      denials,
      failure: state.failure ?? meaningOf(state, end),
    },
  };
}

/** Updates that are about the program, not about the work. */
const QUIET = new Set([
  "available_commands_update",
  "current_mode_update",
  "config_option_update",
  "session_info_update",
]);

function meaningOf({ answer, denials, reading, said }: AcpState, end: ProgramEnd): Failure | null {
  const { left, title } = reading;
  if (answer === null) return end.reason === "exited" || end.reason === "signaled" ? left(end) : null;
  const stopped = text(answer["stopReason"]) ?? "nothing";
  const denied: Failure = {
    kind: "denied",
    message: `${title} ended because it was refused: ${denials.join("; ").slice(0, 500)}.`,
  };
  switch (stopped) {
    case "end_turn":
      // Some programs end the turn with a refusal and report success; then no final text follows.
      return denials.length > 0 && said.trim() === "" ? denied : null;
    case "max_turn_requests":
      // Gemini CLI says the same when it finds that the model repeats itself.
      return {
        kind: "turn_limit",
        message: `${title} reached its limit of turns, or saw that it turned in a circle, before it was done.`,
      };
    case "max_tokens":
      return {
        kind: "agent_crashed",
        message: `${title}: the answer of the model was cut off at its limit of output tokens.`,
      };
    case "refusal":
      // Not a permission of ours: the model refuses the request, and the same prompt will not change that.
      return { kind: "request_refused", message: `${title}: the model refused to continue with this request.` };
    case "cancelled":
      return denials.length > 0
        ? denied
        : {
            kind: "agent_crashed",
            message: `${title} reports that its turn was canceled, but Passrail did not cancel it.`,
          };
    default:
      return {
        kind: "agent_crashed",
        message: `${title} ended its turn for an unknown reason: ${stopped.slice(0, 100)}.`,
      };
  }
}

function totalsOf(totalUsd: number | null, before: Session | null): Usage | null {
  if (totalUsd === null) return before?.totals ?? null;
  return { ...UNKNOWN_USAGE, usd: totalUsd };
}

/** Tokens of this turn. The total shows whether cached tokens are part of the input. */
function tokensOfProtocol(answer: Fields): Usage {
  const usage = fields(answer["usage"]);
  const input = count(usage["inputTokens"]);
  const output = count(usage["outputTokens"]);
  const cached = count(usage["cachedReadTokens"]);
  const stored = count(usage["cachedWriteTokens"]) ?? 0;
  const total = count(usage["totalTokens"]);
  const apart = input !== null && total !== null && total >= input + (output ?? 0) + (cached ?? 0) + stored;
  return {
    usd: null,
    inputTokens: input !== null && apart ? input + (cached ?? 0) + stored : input,
    outputTokens: output,
    cachedTokens: cached,
  };
}

function nameOf(call: Fields): string {
  const own = text(fields(fields(call["_meta"])["claudeCode"])["toolName"]);
  return (text(call["name"]) ?? own ?? text(call["title"]) ?? text(call["kind"]) ?? "tool").slice(0, 200);
}

function inputOf(call: Fields): string {
  const raw = call["rawInput"];
  // A call that is only announced names its folder and nothing else.
  const isAnnounced = Object.keys(fields(raw)).every((key) => key === "cwd");
  if (raw !== undefined && raw !== null && !isAnnounced) return toolText(raw);
  if (typeof raw === "string") return toolText(raw);
  const diff = list(call["content"])
    .map(fields)
    .find((each) => each["type"] === "diff");
  return diff === undefined ? "" : toolText({ path: diff["path"], newText: diff["newText"] });
}

function outputOf(call: Fields): string {
  const content = list(call["content"])
    .map((each) => textOf(fields(each)["content"]))
    .filter((each) => each !== "");
  return content.length > 0 ? toolText(content.join("\n")) : toolText(call["rawOutput"]);
}

function planOf(update: Fields): string {
  return list(update["entries"])
    .map(fields)
    .map((entry) => `${text(entry["status"]) ?? "pending"}: ${text(entry["content"]) ?? ""}`)
    .join("\n");
}

function textOf(content: unknown): string {
  const block = fields(content);
  return block["type"] === "text" ? (text(block["text"]) ?? "") : "";
}
