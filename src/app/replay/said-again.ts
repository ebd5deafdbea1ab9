// A replay says to the agent what people said to it while it worked, at the same point of its conversation: before the answer to the request that
// precedes the first one with their words on the tape.

import { setTimeout as delay } from "node:timers/promises";
import type { Mailbox } from "../../attempt/mailbox.ts";
import type { TapedExchange } from "../../core/replay/exchange.ts";
import type { PersonMessage } from "../../core/run/message.ts";

export type SaidAgain = {
  /** The agent's mailbox, when there is one. */
  readonly into: (mailbox: Mailbox) => void;
  readonly before: (number: number) => Promise<void>;
};

/** For the program to be told; one that listens only between its turns takes the words later. */
const TOLD_MS = 2_000;
const LOOK_MS = 20;
/** Between the program's input and its next request. */
const READ_MS = 200;

export function createSaidAgain(
  messages: readonly PersonMessage[],
  exchanges: readonly TapedExchange[],
  redact: (text: string) => string,
): SaidAgain {
  let mailbox: Mailbox | undefined;
  const due = new Map<number, PersonMessage[]>();
  for (const message of messages) {
    const words = JSON.stringify(redact(message.text)).slice(1, -1);
    const first = exchanges.findIndex(({ request }) => request.includes(words));
    const before = exchanges[first - 1];
    if (before !== undefined) due.set(before.number, [...(due.get(before.number) ?? []), message]);
  }
  return {
    into: (opened) => void (mailbox = opened),
    async before(number) {
      const now = due.get(number);
      if (now === undefined || mailbox === undefined) return;
      due.delete(number);
      mailbox.put(now);
      for (const end = performance.now() + TOLD_MS; mailbox.waiting().length > 0; await delay(LOOK_MS))
        if (performance.now() > end) return;
      await delay(READ_MS);
    },
  };
}
