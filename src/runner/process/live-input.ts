// The stdin of a program that takes messages while it works: the prompt first, then a line for each message. It ends when the program has
// finished its turn and nothing more waits, because such a program reads on until then.

import { randomUUID } from "node:crypto";
import type { Writable } from "node:stream";
import type { LiveMessage, LiveMessages } from "../runner.ts";

export type LiveInput = {
  begin(stdin: Writable, prompt: string): void;
  /** The program has taken the line with this id. */
  heard(id: string, way: "now" | "turn"): void;
  /** Its turn is over: sends what waits, or ends stdin. */
  rest(): void;
  /** The program is gone: what it never took waits again. */
  close(): void;
};

/** `lineOf`: a message in the program's own words, in one line without its break. */
export function openLiveInput(messages: LiveMessages, lineOf: (text: string, id: string) => string): LiveInput {
  const sent = new Map<string, LiveMessage>();
  let stdin: Writable | undefined;
  let stopListening = (): void => {};

  function send(): void {
    if (stdin?.writable !== true) return;
    for (let next = messages.take(); next !== undefined; next = messages.take()) {
      const id = randomUUID();
      sent.set(id, next);
      stdin.write(`${lineOf(next.text, id)}\n`);
    }
  }

  return {
    begin(to, prompt) {
      stdin = to;
      to.write(`${lineOf(prompt, randomUUID())}\n`);
      stopListening = messages.listen(send);
      send();
    },
    heard(id, way) {
      const message = sent.get(id);
      if (message === undefined) return;
      sent.delete(id);
      messages.heard(message, way);
    },
    rest() {
      send();
      if (sent.size === 0) stdin?.end();
    },
    close() {
      stopListening();
      for (const message of sent.values()) messages.giveBack(message);
      sent.clear();
    },
  };
}
