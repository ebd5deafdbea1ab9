// What an agent tells over the protocol, put into our own words: updates in, events out, and at the end what it all meant.
// No clock, no processes; whoever talks to the program says what was answered and what went wrong.

import { type Usage, UNKNOWN_USAGE, usageSince } from "../../core/budget/usage.ts";
import type { AgentEvent, Conversation, Failure, Session } from "../runner.ts";
import type { ProgramEnd } from "../process/stream.ts";
import { count, eventText, type Fields, fields, finalText, growingText, list, text, toolText } from "../loose-json.ts";

export type AcpConversation = {
  opened(session: { readonly id: string; readonly model: string | null }): void;
  /** The `update` of a session/update. */
  update(update: unknown): void;
  /** A tool call that is known from a request for permission only. */
  sawTool(call: unknown): void;
  /** What the agent was not allowed; `call` is the tool call of the request. */
  refused(line: string, call: unknown): void;
  warn(message: string): void;
  /** The answer to the prompt. */
  answered(result: unknown): void;
  /** Only the first counts. */
  failed(failure: Failure): void;
  conclude(end: ProgramEnd): { readonly conversation: Conversation; readonly finalText: string };
};

export type Reading = {
  readonly emit: (event: AgentEvent) => void;
  /** Takes secrets out of text that was put together from pieces. */
  readonly clean: (text: string) => string;
  /** What had been counted for the session before; null for a new one. */
  readonly before: Session | null;
  /** What the answer to a prompt says of tokens; the default knows the fields of the protocol. */
  readonly tokens?: (answer: Fields, toolCalls: number) => Usage;
  /** The failure of a program that left without an answer. */
  readonly left: (end: ProgramEnd) => Failure;
  /** Who it is, for sentences. */
  readonly title: string;
  /** What the program is called in its first answer, as soon as it came. */
  readonly version: () => string | null;
};

type Tool = { readonly name: string; called: boolean; returned: boolean };
type Speech = { readonly type: "message" | "thinking"; readonly id: string | null; pieces: string[]; chars: number };

/** A message of more than this is told in parts. */
const SPEECH_CHARS = 60_000;

export function openConversation(reading: Reading): AcpConversation {
  const { emit, clean, title } = reading;
  const tools = new Map<string, Tool>();
  const denials: string[] = [];
  let session: { id: string; model: string | null } | null = null;
  let speech: Speech | null = null;
  let said = "";
  let speaker: string | null = null;
  let totalUsd: number | null = null;
  let answer: Fields | null = null;
  let failure: Failure | null = null;

  const flush = (): void => {
    if (speech !== null) emit({ type: speech.type, text: eventText(clean(speech.pieces.join(""))) });
    speech = null;
  };
  const speak = (type: Speech["type"], update: Fields): void => {
    const chunk = textOf(update["content"]);
    const id = text(update["messageId"]);
    if (chunk === "") return;
    if (speech === null || speech.type !== type || speech.id !== id || speech.chars > SPEECH_CHARS) {
      flush();
      speech = { type, id, pieces: [], chars: 0 };
    }
    speech.pieces.push(chunk);
    speech.chars += chunk.length;
    if (type === "thinking") return;
    // Two messages in a row are two paragraphs, whatever their own ends look like.
    said = growingText(said === "" || speaker === id ? said + chunk : `${said}\n\n${chunk}`);
    speaker = id;
  };
  const tool = (call: Fields, askedFor: boolean): void => {
    const id = text(call["toolCallId"]);
    if (id === null) return;
    flush();
    const known = tools.get(id) ?? { name: nameOf(call), called: false, returned: false };
    tools.set(id, known);
    const status = text(call["status"]);
    const input = inputOf(call);
    // Some programs announce a call before they know its input; it is told once there is something to tell.
    if (!known.called && (askedFor || input !== "" || (status !== null && status !== "pending"))) {
      known.called = true;
      emit({ type: "tool.called", id, name: known.name, input });
    }
    if (!known.returned && (status === "completed" || status === "failed")) {
      known.returned = true;
      emit({ type: "tool.returned", id, ok: status === "completed", output: outputOf(call) });
    }
    said = "";
    speaker = null;
  };
  const usageNow = (): Usage => {
    const tokens = answer === null ? UNKNOWN_USAGE : (reading.tokens ?? tokensOfProtocol)(answer, tools.size);
    const spent = usageSince({ ...UNKNOWN_USAGE, usd: totalUsd }, reading.before?.totals ?? null);
    return { ...tokens, usd: spent.usd };
  };
  const isKnown = (usage: Usage): boolean => Object.values(usage).some((value) => value !== null);

  return {
    opened: (opened) => {
      session = opened;
      emit({ type: "session", ...opened });
    },
    update: (raw) => {
      const update = fields(raw);
      const kind = text(update["sessionUpdate"]) ?? "";
      switch (kind) {
        case "agent_message_chunk":
          return speak("message", update);
        case "agent_thought_chunk":
          return speak("thinking", update);
        case "tool_call":
        case "tool_call_update":
          return tool(update, false);
        case "plan":
          flush();
          return emit({ type: "thinking", text: eventText(planOf(update)) });
        case "usage_update": {
          const cost = fields(update["cost"]);
          const amount = cost["currency"] === "USD" ? count(cost["amount"]) : null;
          if (amount === null) return;
          totalUsd = amount;
          return emit({ type: "usage", usage: usageNow() });
        }
        case "user_message_chunk":
          // An old conversation that is still being told again: what was heard so far belongs to it, too.
          if (reading.before !== null && answer === null) {
            speech = null;
            said = "";
            speaker = null;
            tools.clear();
          }
          return;
        default:
          return QUIET.has(kind) ? undefined : emit({ type: "unknown", name: eventText(kind) });
      }
    },
    sawTool: (call) => tool(fields(call), true),
    refused: (line, call) => {
      denials.push(line);
      emit({ type: "notice", kind: "denied", text: eventText(line) });
      // Not every program says that a refused call is over.
      tool({ toolCallId: fields(call)["toolCallId"], status: "failed", rawOutput: "refused" }, true);
    },
    warn: (message) => emit({ type: "notice", kind: "warning", text: eventText(message) }),
    answered: (result) => {
      flush();
      answer = fields(result);
      const usage = usageNow();
      if (isKnown(usage)) emit({ type: "usage", usage });
    },
    failed: (first) => {
      flush();
      failure ??= first;
    },
    conclude: (end) => {
      flush();
      const usage = usageNow();
      return {
        finalText: finalText(clean(said)),
        conversation: {
          session: session === null ? null : { id: session.id, totals: totalsOf(totalUsd, reading.before) },
          model: session?.model ?? null,
          version: reading.version(),
          usage: isKnown(usage) ? usage : null,
          turns: null,
          toolCalls: tools.size,
          structured: null,
          denials,
          failure: failure ?? meaningOf({ answer, end, denials, said, title, left: reading.left }),
        },
      };
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

type Outcome = {
  readonly answer: Fields | null;
  readonly end: ProgramEnd;
  readonly denials: readonly string[];
  readonly said: string;
  readonly title: string;
  readonly left: Reading["left"];
};

function meaningOf({ answer, end, denials, said, title, left }: Outcome): Failure | null {
  if (answer === null) return end.reason === "exited" || end.reason === "signaled" ? left(end) : null;
  const stopped = text(answer["stopReason"]) ?? "nothing";
  const denied: Failure = {
    kind: "denied",
    message: `${title} ended because it was refused: ${denials.join("; ").slice(0, 500)}.`,
  };
  switch (stopped) {
    case "end_turn":
      // Some programs end the turn with a refusal and call that success; then nothing was said any more.
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
      // Not a permission of ours: the model will not do what it was asked, and the same words will not change that.
      return { kind: "request_refused", message: `${title}: the model refused to go on with this request.` };
    case "cancelled":
      return denials.length > 0
        ? denied
        : { kind: "agent_crashed", message: `${title} says that its turn was canceled, but nobody canceled it.` };
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

/** Tokens of this turn. Whether the cached ones are within the input is told by the total. */
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
  if (raw !== undefined && raw !== null && Object.keys(fields(raw)).length > 0) return toolText(raw);
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
