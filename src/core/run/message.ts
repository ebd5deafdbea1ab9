// People's messages to an agent at work. A message is stored before it is sent. It stays with the run until an attempt
// that had it has ended well, so that no message is lost with an attempt that died.

/** How a message came to the agent: in the middle of its turn, as its next turn, or in the prompt of an attempt. */
export type MessageWay = "now" | "turn" | "attempt";

/** In words, after `reached attempt 2`. */
export const MESSAGE_WAYS: Readonly<Record<MessageWay, string>> = {
  now: "while it worked",
  turn: "as its next turn",
  attempt: "with its prompt",
};

export type PersonMessage = {
  /** Within the run. */
  readonly number: number;
  readonly stage: string;
  /** The person, without the kind of actor. */
  readonly from: string;
  readonly text: string;
  readonly at: string;
  /** The attempt that has it; absent while it waits. */
  readonly heard?: { readonly attempt: number; readonly way: MessageWay };
};

export type MessageBook = {
  /** Numbers assigned so far. */
  readonly last: number;
  readonly kept: readonly PersonMessage[];
};

export const MESSAGE_CHARS = 4000;
/** Per run, while no attempt has them. */
export const WAITING_MESSAGES = 10;
/** Those that an attempt has already; older ones are in the events. */
const HEARD_KEPT = 10;

type Talked = { readonly messages?: MessageBook };

export function waitingMessages({ messages }: Talked, stage?: string): readonly PersonMessage[] {
  return (messages?.kept ?? []).filter((each) => each.heard === undefined && (stage ?? each.stage) === each.stage);
}

/** Those of a stage that no attempt has dealt with: they wait, or the attempt that had them did not end well. */
export function openMessages({ messages }: Talked, stage: string): readonly PersonMessage[] {
  return (messages?.kept ?? []).filter((each) => each.stage === stage);
}

export function withMessage(book: MessageBook | undefined, message: PersonMessage): MessageBook {
  return { last: message.number, kept: [...(book?.kept ?? []), message] };
}

export function withHeard(book: MessageBook, number: number, heard: NonNullable<PersonMessage["heard"]>): MessageBook {
  const kept = book.kept.map((each) => (each.number === number ? { ...each, heard } : each));
  const old = new Set(kept.filter((each) => each.heard !== undefined).slice(0, -HEARD_KEPT));
  return { ...book, kept: kept.filter((each) => !old.has(each)) };
}

/** The stage's attempt ended well: its messages are dealt with. */
export function withoutHeard(book: MessageBook, stage: string): MessageBook {
  return { ...book, kept: book.kept.filter((each) => each.heard === undefined || each.stage !== stage) };
}
