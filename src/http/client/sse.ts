// Reads server-sent events from a stream's text by the HTML standard, with a limit on the size of a message.
// https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation

export type SseMessage = {
  /** The last id sent, with this message or before. */
  readonly id: string;
  readonly name: string;
  readonly data: string;
};

export type SseReader = {
  /** Returns the messages that the text completes. Throws if a message is larger than the limit. */
  read(text: string): readonly SseMessage[];
  /** The last id in a complete block, even if the block is no message. */
  lastId(): string;
  /** The server's wish for the pause after a break. */
  retryMs(): number | undefined;
};

const MAX_MESSAGE_CHARS = 8 * 1024 * 1024;

/** The block that is being read, and the state from blocks before it. */
type SseState = {
  /** Text after the last complete line. */
  rest: string;
  id: string;
  /** The id at the end of the last complete block. */
  lastId: string;
  retryMs: number | undefined;
  name: string;
  data: string[];
  chars: number;
};

export function createSseReader(lastId = ""): SseReader {
  const state: SseState = { rest: "", id: lastId, lastId, retryMs: undefined, name: "", data: [], chars: 0 };
  return {
    read(text) {
      const lines = `${state.rest}${text}`.split(/\r\n|\n|\r(?!$)/);
      state.rest = lines.pop() ?? "";
      const messages: SseMessage[] = [];
      for (const line of lines) {
        const message = readLine(state, line);
        if (message !== undefined) messages.push(message);
      }
      if (state.rest.length + state.chars > MAX_MESSAGE_CHARS) throw new Error("a message of the stream is too large");
      return messages;
    },
    lastId: () => state.lastId,
    retryMs: () => state.retryMs,
  };
}

function readLine(state: SseState, line: string): SseMessage | undefined {
  if (line === "") return endBlock(state);
  const colon = line.indexOf(":");
  if (colon === 0) return undefined;
  const field = colon === -1 ? line : line.slice(0, colon);
  const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
  if (field === "event") state.name = value;
  else if (field === "id" && !value.includes("\0")) state.id = value;
  else if (field === "retry" && /^[0-9]{1,6}$/.test(value)) state.retryMs = Number(value);
  else if (field === "data") {
    state.data.push(value);
    state.chars += value.length;
  }
  return undefined;
}

function endBlock(state: SseState): SseMessage | undefined {
  const { id, name, data } = state;
  Object.assign(state, { name: "", data: [], chars: 0, lastId: id } satisfies Partial<SseState>);
  return data.length === 0 ? undefined : { id, name: name === "" ? "message" : name, data: data.join("\n") };
}
