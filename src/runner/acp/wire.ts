// The line between us and a program that speaks JSON-RPC over its stdin and stdout, as the protocol's library wants it: one stream
// of messages each way. It is strict where the library is loose: noise is dropped, and only answers that we wait for come through.

import type { Writable } from "node:stream";
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";
import { splitLines } from "../process/stream.ts";
import { isFields, parseLine, type Fields } from "../loose-json.ts";

export type Wire = {
  readonly stream: Stream;
  /** From now on messages go out; those of before wait. */
  connect(stdin: Writable): void;
  /** Bytes of the program's stdout. */
  push(chunk: Uint8Array): void;
  /** Nothing more will come. */
  close(): void;
};

/** `onMessage` sees everything that comes in, in the order of the line; the library hands notifications on later than answers. */
export function openWire(onMessage: (message: Fields) => void): Wire {
  let incoming: ReadableStreamDefaultController<AnyMessage> | undefined;
  let outgoing: Writable | undefined;
  let closed = false;
  const waiting: string[] = [];
  /** Ids of our requests without an answer. Anything else that looks like an answer is not for us, and is never printed either. */
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

// Inside of a string for JSON, the end of a line for some readers of lines, Node's among them.
const SEPARATOR = /[\u2028\u2029]/g;
const escapeOf = (sign: string): string => (sign === "\u2028" ? "\\u2028" : "\\u2029");

function isForUs(message: Fields, asked: Set<string | number>): boolean {
  const { method, id } = message;
  if (typeof method === "string") return true;
  if (typeof id !== "string" && typeof id !== "number") return false;
  return asked.delete(id);
}
