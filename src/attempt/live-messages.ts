// What people say to the agent of an attempt, in the words that it gets, and what follows for a verdict that it handed in before: it does
// not count, and the program is not ended.
//
// After an accepted verdict a program asks its model once more, with the whole conversation, only to say goodbye. Where nobody needs its
// session and its usage is on record, it is ended before that.

import { setTimeout as sleep } from "node:timers/promises";
import type { Usage } from "../core/budget/usage.ts";
import { liveMessage } from "../core/prompt/messages.ts";
import { type PersonMessage, waitingMessages } from "../core/run/message.ts";
import type { AttemptHooks, LiveMessage, LiveMessages } from "../runner/runner.ts";
import type { AttemptJob } from "./job.ts";
import type { Mailbox } from "./mailbox.ts";

type LiveTalk = {
  /** Aborted when the program stays although its work is done. */
  readonly signal: AbortSignal;
  /** The desk has accepted its verdict or question, and tells the program so when this resolves. */
  accepted(what: "verdict" | "question"): Promise<void>;
  /** What the model's last answer used, if the program was ended at its verdict: its next request would have carried as much. */
  spared(): Usage | null;
  hooks(isAgent: boolean): Pick<AttemptHooks, "messages">;
  /** A message that waits, to be said as the next turn. */
  take(): LiveMessage | undefined;
  /** The program has started with this message, or with its prompt. */
  noteHeard(message: LiveMessage | undefined): void;
  close(): void;
};

/** For a program to end its turn and report its usage after the desk has accepted its verdict or question. */
const LEAVE_MS = 5000;
/** For a program to write down what its last answer used, also on a machine that is busy, and how often that is looked for. */
const RECORD_MS = 4000;
const LOOK_MS = 50;

type LiveParts = {
  readonly mailbox: Mailbox;
  /** Everything that is said in between. */
  readonly onSaid: (text: string) => void;
  /** Whatever was handed in does not count any more. */
  readonly reopen: () => void;
  /** What the answer used that the model has just given; null while that is not on record. */
  readonly answer: () => Usage | null;
  /** Nothing continues its session after a verdict. */
  readonly mayEnd: boolean;
};

export function openLive({ run, stage }: AttemptJob, parts: LiveParts): LiveTalk {
  const { mailbox, onSaid, reopen, answer, mayEnd } = parts;
  let spared: Usage | null = null;
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
    async accepted(what) {
      // A person's message that waits for the end of the turn comes first.
      if (mailbox.waiting().length > 0) return;
      // Some programs go on for as long as their model answers.
      timer ??= setTimeout(() => accepted.abort("its verdict was accepted"), LEAVE_MS);
      if (what !== "verdict" || !mayEnd) return;
      // A person's message may come meanwhile.
      const isOver = (): boolean => timer === undefined || accepted.signal.aborted;
      const used = await onRecord(answer, isOver);
      if (isOver()) return;
      // Without a record the program asks once more, and gets the whole time for it.
      if (used === null) {
        timer?.refresh();
        return;
      }
      spared = used;
      accepted.abort("its verdict was accepted");
      // It gets no answer to go on with.
      await pause(LEAVE_MS);
    },
    spared: () => spared,
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

async function onRecord(answer: () => Usage | null, isOver: () => boolean): Promise<Usage | null> {
  for (const end = performance.now() + RECORD_MS; performance.now() < end && !isOver(); await pause(LOOK_MS)) {
    const used = answer();
    if (used !== null) return used;
  }
  return null;
}

function pause(ms: number): Promise<void> {
  return sleep(ms, undefined, { ref: false });
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
