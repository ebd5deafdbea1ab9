// One client's place in the stream: what was handed out, what waits, and whether it comes from the store or live. Memory is bounded
// because a client that is behind keeps no events at all: they are read from the store, page by page, when the client asks.

import { setImmediate as yieldTurn } from "node:timers/promises";
import type { Store } from "../../../store/store.ts";
import { type EventFilter, passes } from "./filter.ts";
import { type Describe, encode, type Hint, type Join, type Message, type ResetData } from "./message.ts";
import { formatPosition, isAfter, later, type Position, readAfter } from "./position.ts";
import { optional } from "../../../core/optional.ts";

export type SubscriptionLimits = {
  /** What may wait for one client. One message is always taken, whatever its size. */
  readonly queueBytes: number;
  readonly queueMessages: number;
  /** Events that are read from the store at once, and how many bytes of them are kept. */
  readonly pageEvents: number;
  readonly pageBytes: number;
  /** Handed out at once. */
  readonly chunkBytes: number;
  /** Who is further behind gets `reset`. One run's events are always replayed: they have an index and an end. */
  readonly replayEvents: number;
  /** Who has not asked for more for so long does not read. */
  readonly stallMs: number;
};

/** What a stream sees of it. One `next` at a time. */
export type Subscription = {
  /** Waits for more. Undefined when there will be none. */
  next(): Promise<Uint8Array | undefined>;
  position(): string;
  /** Whether the client waits in `next`: everything before has left. */
  isReading(): boolean;
  close(): void;
};

/** What the hub sees of it. */
export type Place = Subscription & {
  /** Live messages, in order, of all events up to `newest`. */
  offer(messages: readonly Message[], newest: number): void;
  reset(reason: ResetData["reason"], seq: number): void;
  /** Something that is not stored and has no place in the order. Also for who is behind: it says only where to look again. */
  hint(hint: Hint): void;
  isStalled(): boolean;
  queuedBytes(): number;
};

type Parts = {
  readonly store: Pick<Store, "events">;
  readonly describe: Describe;
  readonly join: Join;
  readonly limits: SubscriptionLimits;
  readonly now: () => number;
  readonly filter: EventFilter;
  readonly after: Position;
  /** The event up to which everything was offered. */
  readonly newest: () => number;
  /** The store could not be read; nothing can be promised to this client any more. */
  readonly onFail: (error: unknown) => void;
  readonly onClose: () => void;
};

/** While it joins, a page is being read and live messages are already collected: nothing can fall between the two. */
type State = "behind" | "joining" | "live" | "closed";

export function createSubscription(parts: Parts): Place {
  const { limits, filter, now } = parts;
  let state: State = "behind";
  let queue: Message[] = [];
  let queuedBytes = 0;
  /** By what they say, so that the same is told once. */
  const hints = new Map<string, Uint8Array>();
  /** What was handed out, and where the client will be when the queue is handed out too. */
  let position = parts.after;
  let covered = parts.after;
  let reading = false;
  let readAt = now();
  let wake = () => {};

  const is = (wanted: State) => state === wanted;

  return {
    async next() {
      reading = true;
      try {
        for (;;) {
          if (is("closed")) return undefined;
          if (hints.size > 0) return takeHints();
          if (is("behind") && queue.length === 0) await readPage().catch(parts.onFail);
          else if (queue.length > 0) return take();
          else await new Promise<void>((resolve) => void (wake = resolve));
        }
      } finally {
        reading = false;
        readAt = now();
      }
    },
    position: () => formatPosition(position),
    isReading: () => reading,
    close() {
      if (is("closed")) return;
      state = "closed";
      replaceQueue([]);
      wake();
      parts.onClose();
    },

    offer(messages, newest) {
      if (!is("live") && !is("joining")) return;
      for (const message of messages) {
        if (!isAfter(message, covered) || !passes(filter, message)) continue;
        queue.push(message);
        queuedBytes += message.bytes.length;
      }
      if (isTooMuch()) fallBehind();
      else if (is("live")) cover(later({ seq: newest, half: false }, covered));
    },
    reset,
    hint(hint) {
      if (is("closed") || !passes(filter, hint)) return;
      hints.set(hint.subjectId, hint.bytes);
      wake();
    },
    isStalled: () => !reading && now() - readAt > limits.stallMs,
    queuedBytes: () => queuedBytes,
  };

  async function readPage(): Promise<void> {
    const { runId } = filter;
    if (runId === undefined && parts.newest() - position.seq > limits.replayEvents) {
      return reset("too_old", parts.newest());
    }
    state = "joining";
    const page = await parts.store.events({
      after: readAfter(position),
      limit: limits.pageEvents,
      ...optional({ runId }),
    });
    const messages = await parts.describe(page);
    if (is("closed")) return;
    const fitting = messages.filter((message) => isAfter(message, position) && passes(filter, message));
    const kept = firstBytes(fitting, limits.pageBytes);
    const lastKept = kept.at(-1);
    const lastRead = page.at(-1);
    const isCut = lastKept !== undefined && kept.length < fitting.length;
    const end = isCut ? lastKept : lastRead === undefined ? position : { seq: lastRead.seq, half: false };
    const isLast = !isCut && page.length < limits.pageEvents && is("joining");
    state = isLast ? "live" : "behind";
    replaceQueue(isLast ? [...kept, ...queue.filter((message) => isAfter(message, end))] : kept);
    cover(isLast ? later({ seq: parts.newest(), half: false }, end) : end);
    // A store may answer without ever giving up the turn; a long replay must not hold up everyone else.
    if (!isLast) await yieldTurn();
  }

  function take(): Uint8Array {
    const taken = firstBytes(queue, limits.chunkBytes);
    const last = taken.at(-1);
    replaceQueue(queue.slice(taken.length));
    position = queue.length === 0 || last === undefined ? covered : { seq: last.seq, half: last.half };
    return parts.join(taken);
  }

  function takeHints(): Uint8Array {
    const bytes = Buffer.concat([...hints.values()]);
    hints.clear();
    return bytes;
  }

  function reset(reason: ResetData["reason"], seq: number): void {
    const at: Position = { seq, half: false };
    const bytes = encode(at, "reset", { reason, seq });
    state = "behind";
    replaceQueue([{ ...at, name: "reset", runId: "", subjectId: "", bytes }]);
    cover(at);
  }

  /** What waits is forgotten here and read from the store again, if the client ever asks. */
  function fallBehind(): void {
    state = "behind";
    covered = position;
    replaceQueue([]);
    wake();
  }

  function cover(end: Position): void {
    covered = end;
    if (queue.length === 0) position = end;
    else wake();
  }

  function replaceQueue(messages: Message[]): void {
    queue = messages;
    queuedBytes = messages.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  function isTooMuch(): boolean {
    return queue.length > limits.queueMessages || (queue.length > 1 && queuedBytes > limits.queueBytes);
  }
}

/** As many as fit, and at least one. */
function firstBytes(messages: readonly Message[], limit: number): Message[] {
  let bytes = 0;
  const beyond = messages.findIndex((message, index) => {
    bytes += message.bytes.length;
    return index > 0 && bytes > limit;
  });
  return messages.slice(0, beyond === -1 ? messages.length : beyond);
}
