// One client of the event stream: its position, its queue, and whether its next messages come from the store or live. Memory is
// bounded: a client that is behind queues no events but reads them from the store, page by page, on demand.

import { setImmediate as yieldTurn } from "node:timers/promises";
import type { Store } from "../../../store/store.ts";
import { type StreamFilter, passes } from "./filter.ts";
import { type Describe, encode, type Hint, type Join, type StreamMessage, type ResetData } from "./message.ts";
import { formatPosition, isAfter, later, type StreamPosition, readAfter } from "./position.ts";
import { optional } from "../../../core/optional.ts";

export type SubscriptionLimits = {
  /** The limit of one client's queue. It always takes at least one message, of any size. */
  readonly queueBytes: number;
  readonly queueMessages: number;
  /** Events per read of the store, and the bytes of them that are kept. */
  readonly pageEvents: number;
  readonly pageBytes: number;
  /** Bytes per chunk. */
  readonly chunkBytes: number;
  /** A client further behind gets `reset`. One run's events are always replayed: they have an index and an end. */
  readonly replayEvents: number;
  /** A client that has not asked for more within this time does not read. */
  readonly stallMs: number;
};

/** The subscription as its stream sees it. One `next` at a time. */
export type Subscription = {
  /** Waits for more. Undefined when there will be none. */
  next(): Promise<Uint8Array | undefined>;
  position(): string;
  /** Whether the client waits in `next`: all earlier messages have left. */
  isReading(): boolean;
  close(): void;
};

/** The subscription as the hub sees it. */
export type HubClient = Subscription & {
  /** Live messages, in order, of all events up to `newest`. */
  offer(messages: readonly StreamMessage[], newest: number): void;
  reset(reason: ResetData["reason"], seq: number): void;
  /** A message that is not stored and has no place in the order. Clients that are behind get it too: it only says what to reload. */
  hint(hint: Hint): void;
  isStalled(): boolean;
  queuedBytes(): number;
};

type SubscriptionOptions = {
  readonly store: Pick<Store, "events">;
  readonly describe: Describe;
  readonly join: Join;
  readonly limits: SubscriptionLimits;
  readonly now: () => number;
  readonly filter: StreamFilter;
  readonly after: StreamPosition;
  /** The event up to which everything was offered. */
  readonly newest: () => number;
  /** The store could not be read; the subscription ends. */
  readonly onFail: (error: unknown) => void;
  readonly onClose: () => void;
};

/** While it joins, a page is being read and live messages are already collected: nothing can fall between the two. */
type Phase = "behind" | "joining" | "live" | "closed";

type SubscriptionState = {
  phase: Phase;
  queue: StreamMessage[];
  queuedBytes: number;
  /** The position up to which the client has received messages. */
  position: StreamPosition;
  /** Where the client will be once it has received the queue too. */
  covered: StreamPosition;
  isReading: boolean;
  readAt: number;
  wake: () => void;
  /** By their key, so that repeated hints are sent once. */
  readonly hints: Map<string, Uint8Array>;
};

type Client = { readonly options: SubscriptionOptions; readonly state: SubscriptionState };

export function createSubscription(options: SubscriptionOptions): HubClient {
  const { limits, filter, now, after } = options;
  const state: SubscriptionState = {
    phase: "behind",
    queue: [],
    queuedBytes: 0,
    position: after,
    covered: after,
    isReading: false,
    readAt: now(),
    wake: () => {},
    hints: new Map(),
  };
  const client: Client = { options, state };
  return {
    next: () => next(client),
    position: () => formatPosition(state.position),
    isReading: () => state.isReading,
    close() {
      if (state.phase === "closed") return;
      state.phase = "closed";
      replaceQueue(state, []);
      state.wake();
      options.onClose();
    },
    offer: (messages, newest) => offer(client, messages, newest),
    reset: (reason, seq) => reset(state, reason, seq),
    hint(hint) {
      if (state.phase === "closed" || !passes(filter, hint)) return;
      state.hints.set(hint.key, hint.bytes);
      state.wake();
    },
    isStalled: () => !state.isReading && now() - state.readAt > limits.stallMs,
    queuedBytes: () => state.queuedBytes,
  };
}

async function next(client: Client): Promise<Uint8Array | undefined> {
  const { options, state } = client;
  state.isReading = true;
  try {
    for (;;) {
      if (phaseOf(state) === "closed") return undefined;
      if (state.hints.size > 0) return takeHints(state);
      if (state.queue.length > 0) return take(client);
      if (phaseOf(state) === "behind") await readPage(client).catch(options.onFail);
      else await new Promise<void>((resolve) => void (state.wake = resolve));
    }
  } finally {
    state.isReading = false;
    state.readAt = options.now();
  }
}

/** Read by a function, because it changes while others wait. */
function phaseOf({ phase }: SubscriptionState): Phase {
  return phase;
}

function offer({ options, state }: Client, messages: readonly StreamMessage[], newest: number): void {
  const { filter, limits } = options;
  if (state.phase !== "live" && state.phase !== "joining") return;
  for (const message of messages) {
    if (!isAfter(message, state.covered) || !passes(filter, message)) continue;
    state.queue.push(message);
    state.queuedBytes += message.bytes.length;
  }
  const { length } = state.queue;
  if (length > limits.queueMessages || (length > 1 && state.queuedBytes > limits.queueBytes)) fallBehind(state);
  else if (state.phase === "live") cover(state, later({ seq: newest, half: false }, state.covered));
}

async function readPage({ options, state }: Client): Promise<void> {
  const { filter, limits, newest } = options;
  const { runId } = filter;
  if (runId === undefined && newest() - state.position.seq > limits.replayEvents) {
    return reset(state, "too_old", newest());
  }
  state.phase = "joining";
  const after = readAfter(state.position);
  const page = await options.store.events({ after, limit: limits.pageEvents, ...optional({ runId }) });
  const messages = await options.describe(page);
  if (phaseOf(state) === "closed") return;
  const fitting = messages.filter((message) => isAfter(message, state.position) && passes(filter, message));
  const kept = firstBytes(fitting, limits.pageBytes);
  const lastKept = kept.at(-1);
  const lastRead = page.at(-1);
  const isCut = lastKept !== undefined && kept.length < fitting.length;
  const end = isCut ? lastKept : lastRead === undefined ? state.position : { seq: lastRead.seq, half: false };
  const isLast = !isCut && page.length < limits.pageEvents && phaseOf(state) === "joining";
  state.phase = isLast ? "live" : "behind";
  replaceQueue(state, isLast ? [...kept, ...state.queue.filter((message) => isAfter(message, end))] : kept);
  cover(state, isLast ? later({ seq: newest(), half: false }, end) : end);
  // A store may answer without yielding to the event loop; a long replay must not hold up the other clients.
  if (!isLast) await yieldTurn();
}

function take({ options, state }: Client): Uint8Array {
  const taken = firstBytes(state.queue, options.limits.chunkBytes);
  const last = taken.at(-1);
  replaceQueue(state, state.queue.slice(taken.length));
  const isWhole = state.queue.length === 0 || last === undefined;
  state.position = isWhole ? state.covered : { seq: last.seq, half: last.half };
  return options.join(taken);
}

function takeHints({ hints }: SubscriptionState): Uint8Array {
  const bytes = Buffer.concat([...hints.values()]);
  hints.clear();
  return bytes;
}

function reset(state: SubscriptionState, reason: ResetData["reason"], seq: number): void {
  const at: StreamPosition = { seq, half: false };
  const bytes = encode(at, "reset", { reason, seq });
  state.phase = "behind";
  replaceQueue(state, [{ ...at, name: "reset", runId: "", subjectId: "", bytes }]);
  cover(state, at);
}

/** Forgets the queue; if the client asks again, its events are read from the store. */
function fallBehind(state: SubscriptionState): void {
  state.phase = "behind";
  state.covered = state.position;
  replaceQueue(state, []);
  state.wake();
}

function cover(state: SubscriptionState, end: StreamPosition): void {
  state.covered = end;
  if (state.queue.length === 0) state.position = end;
  else state.wake();
}

function replaceQueue(state: SubscriptionState, messages: StreamMessage[]): void {
  state.queue = messages;
  state.queuedBytes = messages.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

/** As many as fit, and at least one. */
function firstBytes(messages: readonly StreamMessage[], limit: number): StreamMessage[] {
  let bytes = 0;
  const beyond = messages.findIndex((message, index) => {
    bytes += message.bytes.length;
    return index > 0 && bytes > limit;
  });
  return messages.slice(0, beyond === -1 ? messages.length : beyond);
}
