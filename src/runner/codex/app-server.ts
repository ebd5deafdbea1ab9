// A conversation with `codex app-server`: JSON-RPC in lines over stdin and stdout. Passrail uses it where a person is to be asked, because the
// headless `codex exec` refuses what needs an approval. Hello, a conversation (new or resumed), a turn with the prompt; then a turn for each
// message of a person. Requests for approval are answered by the attempt; whatever else the program asks is refused.

import type { Writable } from "node:stream";
import type { JsonObject } from "../../core/json.ts";
import { type Fields, fields, isFields, list, parseLine, text } from "../loose-json.ts";
import type { LiveInput } from "../process/live-input.ts";
import type { StreamReader } from "../process/stream.ts";
import type { AgentEvent, AttemptHooks, LiveMessage, LiveMessages, PermissionRequest, Session } from "../runner.ts";
import { DELTAS, execEvent, execUsage } from "./app-server-events.ts";
import type { CodexReader } from "./stream.ts";

export type CodexTalk = {
  readonly cwd: string;
  readonly session: Session | undefined;
  readonly images: readonly string[];
  readonly schema: JsonObject | undefined;
  readonly permit: AttemptHooks["permit"];
  readonly messages: LiveMessages | undefined;
  readonly reader: CodexReader;
};

type State = {
  stdin: Writable | undefined;
  threadId: string | null;
  /** Of the whole conversation, as last told. */
  usage: Fields;
  /** The conversation could not be resumed, in the program's words. */
  lost: string | null;
  /** From the request for a turn to its end. */
  inTurn: boolean;
  /** Said to the program, and not yet taken. */
  untaken: LiveMessage | undefined;
  nextId: number;
  /** By the id of our request. */
  readonly waiting: Map<number, OnAnswer>;
  /** The files of changes under way, by the id of their item. */
  readonly changes: Map<string, readonly string[]>;
};

type OnAnswer = (answer: Fields) => readonly AgentEvent[];
type Conversing = { readonly state: State; readonly talk: CodexTalk };

export function openCodexTalk(talk: CodexTalk): { readonly reader: StreamReader; readonly input: LiveInput } {
  const state: State = {
    stdin: undefined,
    threadId: null,
    usage: {},
    lost: null,
    inTurn: false,
    untaken: undefined,
    nextId: 1,
    waiting: new Map(),
    changes: new Map(),
  };
  const conversing = { state, talk };
  return { reader: readerOf(conversing), input: inputOf(conversing) };
}

function readerOf(conversing: Conversing): StreamReader {
  const { state, talk } = conversing;
  const { reader } = talk;
  return {
    read(line) {
      const message = parseLine(line);
      return isFields(message) ? hear(conversing, message) : [{ type: "unknown", name: "text" }];
    },
    readError: (line) => reader.readError?.(line) ?? [],
    get parkInMs() {
      return reader.parkInMs ?? null;
    },
    get over() {
      return state.lost !== null || reader.over;
    },
    conclude(end) {
      const concluded = reader.conclude(end);
      if (state.lost === null) return concluded;
      const message = `Codex does not know the conversation: ${state.lost.slice(0, 600)}`;
      const conversation = {
        ...concluded.conversation,
        session: null,
        failure: { kind: "session_lost", message },
      } as const;
      return { ...concluded, conversation };
    },
  };
}

function inputOf(conversing: Conversing): LiveInput {
  const { state, talk } = conversing;
  return {
    begin(stdin, prompt) {
      state.stdin = stdin;
      request(conversing, "initialize", HELLO, () => {
        say(state, { method: "initialized" });
        openThread(conversing, prompt);
        return [];
      });
    },
    heard: () => {},
    rest() {
      if (state.inTurn && state.lost === null) return;
      const next = state.lost === null ? talk.messages?.take() : undefined;
      if (next === undefined) return void state.stdin?.end();
      state.untaken = next;
      startTurn(conversing, [{ type: "text", text: next.text }]);
    },
    close() {
      if (state.untaken !== undefined) talk.messages?.giveBack(state.untaken);
      state.untaken = undefined;
    },
  };
}

const HELLO = {
  clientInfo: { name: "passrail", title: "Passrail", version: "1" },
  capabilities: { optOutNotificationMethods: DELTAS },
};

/** It asks about every command but those that it knows to change nothing, and about every change of files. */
const ASKING = "untrusted";

function openThread(conversing: Conversing, prompt: string): void {
  const { state, talk } = conversing;
  const { session, cwd, images } = talk;
  const method = session === undefined ? "thread/start" : "thread/resume";
  const which = session === undefined ? {} : { threadId: session.id, excludeTurns: true };
  request(
    conversing,
    method,
    { cwd, approvalPolicy: ASKING, ...which },
    (answer) => {
      state.threadId = text(fields(answer["thread"])["id"]);
      const told = talk.reader.take({ type: "thread.started", thread_id: state.threadId });
      // A resumed conversation already has them.
      const shown = session === undefined ? images.map((path) => ({ type: "localImage", path })) : [];
      startTurn(conversing, [{ type: "text", text: prompt }, ...shown]);
      return told;
    },
    session === undefined ? undefined : (why) => void (state.lost = why),
  );
}

function startTurn(conversing: Conversing, input: readonly Fields[]): void {
  const { state, talk } = conversing;
  state.inTurn = true;
  const shape = talk.schema === undefined ? {} : { outputSchema: talk.schema };
  request(conversing, "turn/start", { threadId: state.threadId, input, ...shape }, () => {
    if (state.untaken !== undefined) talk.messages?.heard(state.untaken, "turn");
    state.untaken = undefined;
    return [];
  });
}

/** `onRefusal`: what an error means; otherwise the turn has failed with its words. */
function request(
  { state, talk }: Conversing,
  method: string,
  params: Fields,
  onAnswer: OnAnswer,
  onRefusal?: (why: string) => void,
): void {
  const id = state.nextId;
  state.nextId += 1;
  state.waiting.set(id, (message) => {
    if (message["error"] === undefined) return onAnswer(fields(message["result"]));
    const why = text(fields(message["error"])["message"]) ?? `${method} was refused`;
    state.inTurn = false;
    if (onRefusal !== undefined) onRefusal(why);
    else return talk.reader.take({ type: "turn.failed", error: { message: why } });
    return [];
  });
  say(state, { id, method, params });
}

function say({ stdin }: State, message: Fields): void {
  if (stdin?.writable === true) stdin.write(`${JSON.stringify(message)}\n`);
}

function hear(conversing: Conversing, message: Fields): readonly AgentEvent[] {
  const { state, talk } = conversing;
  const { method, id } = message;
  if (typeof method === "string" && id !== undefined) return asked(conversing, method, id, fields(message["params"]));
  if (typeof method === "string") return told(conversing, method, fields(message["params"]));
  const onAnswer = typeof id === "number" ? state.waiting.get(id) : undefined;
  if (typeof id === "number") state.waiting.delete(id);
  return onAnswer?.(message) ?? talk.reader.take({ type: "answer" });
}

function told({ state, talk }: Conversing, method: string, params: Fields): readonly AgentEvent[] {
  // Sub-agents have conversations of their own.
  const ofThread = text(params["threadId"]);
  if (ofThread !== null && state.threadId !== null && ofThread !== state.threadId) return [];
  if (method === "thread/tokenUsage/updated") {
    state.usage = execUsage(params);
    return [];
  }
  const item = fields(params["item"]);
  const itemId = text(item["id"]) ?? "";
  if (item["type"] === "fileChange" && method === "item/started") state.changes.set(itemId, filesOf(item));
  if (method === "item/completed") state.changes.delete(itemId);
  if (method === "turn/completed") state.inTurn = false;
  const event = execEvent(method, params, state.usage);
  return event === null ? [] : talk.reader.take(event);
}

function filesOf(item: Fields): readonly string[] {
  const changes = list(item["changes"]).map(fields);
  const paths = changes.flatMap(({ path, kind }) => [text(path), text(fields(kind)["move_path"])]);
  return paths.filter((path) => path !== null);
}

/** The program waits for an answer. */
function asked({ state, talk }: Conversing, method: string, id: unknown, params: Fields): readonly AgentEvent[] {
  const wanted = permissionOf(state, method, params);
  if (wanted !== null) {
    const decided = talk.permit?.(wanted) ?? Promise.resolve({ allowed: false });
    void decided.then(
      ({ allowed }) => say(state, { id, result: { decision: allowed ? "accept" : "decline" } }),
      () => say(state, { id, result: { decision: "decline" } }),
    );
    return [];
  }
  const refusal = REFUSALS[method];
  const error = { code: -32_601, message: `Passrail does not answer ${method.slice(0, 100)}.` };
  say(state, refusal === undefined ? { id, error } : { id, result: refusal });
  return [{ type: "notice", kind: "denied", text: `${method.slice(0, 100)}: nobody is asked for this` }];
}

const REFUSALS: Readonly<Record<string, Fields>> = {
  "mcpServer/elicitation/request": { action: "decline" },
  "item/permissions/requestApproval": { permissions: {} },
};

function permissionOf(state: State, method: string, params: Fields): PermissionRequest | null {
  if (method === "item/commandExecution/requestApproval") {
    const command = text(params["command"]);
    if (command !== null && !isFields(params["networkApprovalContext"]))
      return { tool: "shell", kind: "command", what: command, paths: [] };
    const context = JSON.stringify(params["networkApprovalContext"] ?? params["reason"] ?? null);
    return { tool: "network", kind: "other", what: `${command ?? ""} ${context}`.trim(), paths: [] };
  }
  if (method !== "item/fileChange/requestApproval") return null;
  const files = state.changes.get(text(params["itemId"]) ?? "") ?? [];
  const root = text(params["grantRoot"]);
  const paths = root === null ? files : [...files, root];
  const what = paths.length === 0 ? (text(params["reason"]) ?? "a change of files") : paths.join("\n");
  return { tool: "apply_patch", kind: "write", what, paths };
}
