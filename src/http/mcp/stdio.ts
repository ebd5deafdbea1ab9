// MCP over standard input and output: one JSON message per line each way. Nothing else is ever written there.

import type { Readable, Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { pause } from "../client/reach.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { parseStrictJson } from "../../core/verdict/json-text.ts";
import { isList, isObject } from "../../core/verdict/report-fields.ts";
import { INTERNAL_ERROR, PARSE_ERROR, rpcError } from "../../runner/desk/rpc-error.ts";
import { isId } from "../../runner/desk/rpc.ts";
import type { Tools } from "../../runner/desk/tools.ts";
import { answerOperator } from "./answer.ts";
import { createStdioQuestions } from "./stdio-questions.ts";
import { optional } from "../../core/optional.ts";

const MAX_LINE_CHARS = 1024 * 1024;
const MAX_DEPTH = 32;
/** Concurrent calls, including one that waits for a run. */
const MAX_RUNNING = 32;

const GRACE_MS = 2000;

type Running = { readonly controller: AbortController; readonly over: Promise<void> };

export type StdioOptions = {
  readonly input: Readable;
  readonly output: Writable;
  readonly tools: Tools;
  /** Time for calls that still run at the end of the input. */
  readonly graceMs?: number;
};

/** Runs until the input has ended and every call is answered or has exceeded the grace time. */
export async function serveStdio({ input, output, tools, graceMs = GRACE_MS }: StdioOptions): Promise<void> {
  const running = new Map<unknown, Running>();
  const questions = createStdioQuestions(write);
  let version: string | undefined;

  for await (const line of linesOf(input)) {
    if (line === TOO_LONG) {
      await write(rpcError(null, PARSE_ERROR, `A line may have ${MAX_LINE_CHARS} characters.`));
      continue;
    }
    if (line.trim() === "") continue;
    const parsed = parseStrictJson(line, { maxBytes: MAX_LINE_CHARS * 4, maxDepth: MAX_DEPTH });
    if (!parsed.ok) {
      await write(rpcError(null, PARSE_ERROR, parsed.error.message));
      continue;
    }
    const message = parsed.value;
    giveUp(message);
    if (questions.take(message)) continue;
    if (running.size >= MAX_RUNNING && idOf(message) !== undefined)
      await write(rpcError(idOf(message) ?? null, INTERNAL_ERROR, "Too many calls at the same time."));
    else start(message);
  }
  questions.close();
  const rest = [...running.values()];
  await Promise.race([Promise.all(rest.map(({ over }) => over)), pause(graceMs)]);
  for (const { controller } of rest) controller.abort();

  /** Calls run concurrently, so that a ping is answered while one waits. */
  function start(message: Json): void {
    const controller = new AbortController();
    // A batch, or an id that two running calls share, gets a private key that no cancel can name.
    const id = idOf(message);
    const key = id === undefined || running.has(id) ? controller : id;
    const over = answer(message, controller.signal).finally(() => running.delete(key));
    running.set(key, { controller, over });
  }

  async function answer(message: Json, signal: AbortSignal): Promise<void> {
    const asked = {
      signal,
      notify: (note: JsonObject) => void write(note),
      ...optional({ version, elicit: questions.asker(signal) }),
    };
    const { body } = await answerOperator(message, tools, asked);
    version = negotiated(body) ?? version;
    // The client expects no answer to a call that it canceled.
    if (body !== undefined && !signal.aborted) await write(body);
  }

  function giveUp(message: Json): void {
    if (!isObject(message) || message["method"] !== "notifications/cancelled" || !isObject(message["params"])) return;
    running.get(message["params"]["requestId"])?.controller.abort();
  }

  /** Waits for a client that does not read: an unread answer keeps its place among the concurrent calls. */
  function write(body: Json): Promise<void> {
    return new Promise((resolve) => {
      output.write(`${JSON.stringify(body)}\n`, () => resolve());
    });
  }
}

function idOf(message: Json): Json | undefined {
  if (!isObject(message) || message["method"] === undefined) return undefined;
  const { id } = message;
  return id !== undefined && isId(id) ? id : undefined;
}

/** The revision that a handshake ended with. */
function negotiated(body: Json | undefined): string | undefined {
  if (body === undefined || isList(body) || !isObject(body)) return undefined;
  const { result } = body as { readonly result?: JsonObject };
  const said = isObject(result) ? result["protocolVersion"] : undefined;
  return typeof said === "string" ? said : undefined;
}

const TOO_LONG = Symbol("too long");

/** Drops a line that is too long and resumes after its end. */
async function* linesOf(input: Readable): AsyncGenerator<string | typeof TOO_LONG, void, undefined> {
  const decoder = new StringDecoder("utf8");
  let rest: string[] = [];
  let chars = 0;
  for await (const chunk of input) {
    const lines = decoder.write(chunk as Buffer).split("\n");
    for (const [index, piece] of lines.entries()) {
      chars += piece.length;
      if (chars > MAX_LINE_CHARS) rest = [];
      else rest.push(piece);
      if (index === lines.length - 1) continue;
      yield chars > MAX_LINE_CHARS ? TOO_LONG : rest.join("");
      rest = [];
      chars = 0;
    }
  }
}
