// The messages of people to one attempt, in the process that carries it out, and in the engine until they are there. Each is known by its
// number: it is passed on as often as a connection breaks, and said to a session once.

import type { MessageWay, PersonMessage } from "../core/run/message.ts";

export type Mailbox = {
  /** Adds those that it has not seen. */
  put(messages: readonly PersonMessage[]): void;
  /** Those that nobody has taken, oldest first. */
  waiting(): readonly PersonMessage[];
  /** Takes the oldest one, to say it. */
  take(): PersonMessage | undefined;
  /** It was taken, and the agent never got it. */
  giveBack(message: PersonMessage): void;
  /** The agent has it. Resolves when that is stored, or kept until an engine can store it. */
  heard(number: number, way: MessageWay): Promise<void>;
  /** Calls back when there is something new to take; the result ends that. */
  listen(onNew: () => void): () => void;
};

/** `known`: those that the attempt's prompt holds already. */
export function createMailbox(known: readonly PersonMessage[], onHeard: Mailbox["heard"]): Mailbox {
  const seen = new Set(known.map(({ number }) => number));
  const listeners = new Set<() => void>();
  let waiting: readonly PersonMessage[] = [];
  return {
    put(messages) {
      const fresh = messages.filter(({ number }) => !seen.has(number));
      if (fresh.length === 0) return;
      for (const { number } of fresh) seen.add(number);
      waiting = [...waiting, ...fresh];
      for (const onNew of listeners) onNew();
    },
    waiting: () => waiting,
    take() {
      const [first, ...rest] = waiting;
      waiting = rest;
      return first;
    },
    giveBack: (message) => void (waiting = [message, ...waiting].toSorted((one, other) => one.number - other.number)),
    heard(number, way) {
      waiting = waiting.filter((each) => each.number !== number);
      return onHeard(number, way);
    },
    listen(onNew) {
      listeners.add(onNew);
      return () => void listeners.delete(onNew);
    },
  };
}
