// Reads server-sent events from the text of a stream, as the HTML standard says it, with a limit on what one message may hold.
// https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation

export type SseMessage = {
  /** The last id that was told, by this message or before. */
  readonly id: string;
  readonly name: string;
  readonly data: string;
};

export type SseReader = {
  /** What the text completes. Throws where a message is larger than the limit. */
  read(text: string): readonly SseMessage[];
  /** The last id that stood in a whole block, also in one that is no message. */
  lastId(): string;
  /** How long the server wants to be left alone after a break. */
  retryMs(): number | undefined;
};

const MAX_MESSAGE_CHARS = 8 * 1024 * 1024;

export function createSseReader(lastId = ""): SseReader {
  let rest = "";
  let id = lastId;
  let seen = lastId;
  let retry: number | undefined;
  let name = "";
  let data: string[] = [];
  let chars = 0;

  function readLine(line: string): SseMessage | undefined {
    if (line === "") return endBlock();
    const colon = line.indexOf(":");
    if (colon === 0) return undefined;
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "event") name = value;
    else if (field === "id" && !value.includes("\0")) id = value;
    else if (field === "retry" && /^[0-9]{1,6}$/.test(value)) retry = Number(value);
    else if (field === "data") {
      data.push(value);
      chars += value.length;
    }
    return undefined;
  }

  function endBlock(): SseMessage | undefined {
    const message = data.length === 0 ? undefined : { id, name: name === "" ? "message" : name, data: data.join("\n") };
    [name, data, chars, seen] = ["", [], 0, id];
    return message;
  }

  return {
    read(text) {
      const lines = `${rest}${text}`.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      const messages: SseMessage[] = [];
      for (const line of lines) {
        const message = readLine(line);
        if (message !== undefined) messages.push(message);
      }
      if (rest.length + chars > MAX_MESSAGE_CHARS) throw new Error("a message of the stream is too large");
      return messages;
    },
    lastId: () => seen,
    retryMs: () => retry,
  };
}
