// The connection to a program that speaks JSON-RPC over stdin and stdout: one stream of messages each way, as the protocol's library wants
// it. It is stricter than the library: it drops noise, and only answers to open requests get through.

import type { Writable } from "node:stream";
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";
import { splitLines } from "../process/stream.ts";
import { isFields, parseLine, type Fields } from "../loose-json.ts";

export type Wire = {
  readonly stream: Stream;
  /** Sends messages from now on; earlier ones were queued. */
  connect(stdin: Writable): void;
  /** Bytes of the program's stdout. */
  push(chunk: Uint8Array): void;
  /** Nothing more will come. */
  close(): void;
};

/** `onMessage` sees every incoming message in order; the library delivers notifications later than answers. */
export function openWire(onMessage: (message: Fields) => void): Wire {
  let incoming: ReadableStreamDefaultController<AnyMessage> | undefined;
  let outgoing: Writable | undefined;
  let closed = false;
  const waiting: string[] = [];
  /** Ids of our open requests. Any other message that looks like an answer is dropped and never printed. */
  const asked = new Set<string | number>();

  const readable = new ReadableStream<AnyMessage>({
    start: (controller) => {
      incoming = controller;
    },
    cancel: () => {
      closed = true;
    },
  });
  const writable = new WritableStream<AnyMessage>({
    write: (message) => {
      if ("method" in message && "id" in message && message.id !== null) asked.add(message.id);
      const line = `${JSON.stringify(message).replaceAll(SEPARATOR, escapeOf)}\n`;
      if (outgoing === undefined) waiting.push(line);
      else outgoing.write(line);
    },
  });
  const lines = splitLines((line) => {
    const message = parseLine(line);
    if (closed || !isFields(message)) return;
    onMessage(message);
    if (isForUs(message, asked)) incoming?.enqueue(message as unknown as AnyMessage);
  });
  return {
    stream: { readable, writable },
    connect: (stdin) => {
      outgoing = stdin;
      for (const line of waiting.splice(0)) stdin.write(line);
    },
    push: lines.push,
    close: () => {
      lines.end();
      if (!closed) incoming?.close();
      closed = true;
    },
  };
}

// Valid inside a JSON string, but a line break for some line readers, Node's among them.
const SEPARATOR = /[\u2028\u2029]/g;
const escapeOf = (sign: string): string => (sign === "\u2028" ? "\\u2028" : "\\u2029");

function isForUs(message: Fields, asked: Set<string | number>): boolean {
  const { method, id } = message;
  if (typeof method === "string") return true;
  if (typeof id !== "string" && typeof id !== "number") return false;
  return asked.delete(id);
}
