// What people say to the agent of an attempt, in the words that it gets, and what follows for a verdict that it handed in before: it does
// not count, and the program is not ended.

import { liveMessage } from "../core/prompt/messages.ts";
import { type PersonMessage, waitingMessages } from "../core/run/message.ts";
import type { AttemptHooks, LiveMessage, LiveMessages } from "../runner/runner.ts";
import type { AttemptJob } from "./job.ts";
import type { Mailbox } from "./mailbox.ts";

type LiveTalk = {
  /** Aborted when the program stays although its work is done. */
  readonly signal: AbortSignal;
  /** The desk has accepted its verdict or question. */
  leaveSoon(): void;
  hooks(isAgent: boolean): Pick<AttemptHooks, "messages">;
  /** A message that waits, to be said as the next turn. */
  take(): LiveMessage | undefined;
  /** The program has started with this message, or with its prompt. */
  noteHeard(message: LiveMessage | undefined): void;
  close(): void;
};

/** For a program to end its turn and report its usage after the desk has accepted its verdict or question. */
const LEAVE_MS = 5000;

/** `onSaid`: everything that is said in between. `reopen`: whatever was handed in does not count any more. */
export function openLive(
  { run, stage }: AttemptJob,
  mailbox: Mailbox,
  onSaid: (text: string) => void,
  reopen: () => void,
): LiveTalk {
  const accepted = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const stay = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const messages = inWords(mailbox, onSaid, () => {
    stay();
    reopen();
  });
  return {
    signal: accepted.signal,
    // Many programs ask their model once more after the call, and some go on for as long as it answers.
    leaveSoon() {
      // A person's message that waits for the end of the turn comes first.
      if (mailbox.waiting().length === 0)
        timer ??= setTimeout(() => accepted.abort("its verdict was accepted"), LEAVE_MS);
    },
    hooks: (isAgent) => (isAgent ? { messages } : {}),
    take: () => (accepted.signal.aborted ? undefined : messages.take()),
    noteHeard(message) {
      if (message !== undefined) return messages.heard(message, "turn");
      // The prompt holds those that waited when the attempt was started. Each is heard once, however often this is said.
      for (const { number } of waitingMessages(run, stage.id)) mailbox.heard(number, "attempt").catch(() => {});
    },
    close: stay,
  };
}

/** The messages of the mailbox in the words that the agent gets. */
function inWords(mailbox: Mailbox, onSaid: (text: string) => void, onHeard: () => void): LiveMessages {
  const taken = new Map<number, PersonMessage>();
  return {
    take() {
      const message = mailbox.take();
      if (message === undefined) return undefined;
      taken.set(message.number, message);
      const text = liveMessage(message);
      onSaid(text);
      return { number: message.number, text };
    },
    giveBack({ number }) {
      const message = taken.get(number);
      if (message !== undefined) mailbox.giveBack(message);
    },
    heard({ number }, way) {
      onHeard();
      // Kept until an engine has stored it; an engine that cannot store it says so in its log.
      mailbox.heard(number, way).catch(() => {});
    },
    listen: (onNew) => mailbox.listen(onNew),
  };
}
