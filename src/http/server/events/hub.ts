// Where live events are given out. It follows the store in order: told by `publish` what was committed here, or by `catchUp` that
// there may be something, because other processes write too. The store is the truth; the hub only remembers how far it has told.

import { setTimeout as delay } from "node:timers/promises";
import { err, ok, type Result } from "../../../core/result.ts";
import type { Store, StoredEvent } from "../../../store/store.ts";
import type { EventFilter } from "./filter.ts";
import { createDescribe, createJoin, ticketHint } from "./message.ts";
import type { Position, StreamProblem } from "./position.ts";
import { createSubscription, type Place, type Subscription, type SubscriptionLimits } from "./subscription.ts";

export type HubLimits = SubscriptionLimits & {
  readonly maxClients: number;
  /** Between two rounds: what is committed in the meantime goes out together. Two hundred clients need two hundred writes a round. */
  readonly roundMs: number;
};

const HUB_LIMITS: HubLimits = {
  maxClients: 250,
  queueBytes: 1024 * 1024,
  queueMessages: 5000,
  pageEvents: 200,
  pageBytes: 128 * 1024,
  chunkBytes: 64 * 1024,
  replayEvents: 100_000,
  // Whoever is cut off loses nothing: it comes back with its position.
  stallMs: 15_000,
  roundMs: 20,
};

export type HubOptions = {
  readonly store: Pick<Store, "events" | "lastSeq" | "loadRun" | "handoffs">;
  /** Milliseconds that only grow: `clock.monotonicMs`. */
  readonly now: () => number;
  readonly limits?: Partial<HubLimits>;
  /** The store could not be read. What is live is tried again; a client that was replaying is cut off and comes back. */
  readonly onError?: (error: unknown) => void;
};

export type SubscribeRequest = {
  /** Undefined: only what happens from now on. */
  readonly after: Position | undefined;
  readonly filter: EventFilter;
  /** The connection must go: the client does not read, or the store cannot be read for it. Called once, after the place is freed. */
  readonly onCut: () => void;
};

export type EventHub = {
  /** Events that were just committed, in order. Gaps and repetitions are fine: then the store is read. */
  publish(events: readonly StoredEvent[]): void;
  /** There may be events that nobody published. Cheap; call it often. */
  catchUp(): void;
  /** The files of these tickets have changed; nothing of it is stored. */
  hint(subjectIds: readonly string[]): void;
  subscribe(request: SubscribeRequest): Promise<Result<Subscription, StreamProblem>>;
  /** Cuts off who does not read. Called every second by the hub itself. */
  sweep(): void;
  stats(): { readonly clients: number; readonly queuedBytes: number };
  close(): void;
};

/** Of more tickets at once it is only said that there are many. */
const HINTS_AT_MOST = 100;
const SWEEP_MS = 1000;
/** Until the store is read again after it could not be. */
const AGAIN_MS = 1000;

export function createEventHub({ store, now, onError = () => {}, ...options }: HubOptions): EventHub {
  const limits: HubLimits = { ...HUB_LIMITS, ...options.limits };
  const describe = createDescribe(store);
  const join = createJoin();
  const places = new Map<Place, () => void>();
  let opening = 0;
  let newest = 0;
  let published: StoredEvent[] = [];
  let mustRead = false;
  let isPumping = false;
  let isClosed = false;
  let sweeping: NodeJS.Timeout | undefined;

  return {
    publish(events) {
      for (const event of events) {
        const isNext = event.seq === (published.at(-1)?.seq ?? newest) + 1;
        if (isNext && published.length < limits.pageEvents) published.push(event);
        else if (event.seq > newest) mustRead = true;
      }
      pump();
    },
    catchUp() {
      mustRead = true;
      pump();
    },
    hint(subjectIds) {
      const hints = (subjectIds.length > HINTS_AT_MOST ? [""] : subjectIds).map(ticketHint);
      for (const place of places.keys()) for (const hint of hints) place.hint(hint);
    },
    async subscribe(request) {
      if (isClosed || places.size + opening >= limits.maxClients) return err(TOO_MANY);
      opening += 1;
      try {
        const last = await store.lastSeq();
        return isClosed ? err(TOO_MANY) : ok(open(request, last));
      } finally {
        opening -= 1;
      }
    },
    sweep,
    stats: () => ({
      clients: places.size,
      queuedBytes: [...places.keys()].reduce((sum, place) => sum + place.queuedBytes(), 0),
    }),
    close() {
      isClosed = true;
      for (const place of places.keys()) {
        if (place.isReading()) place.close();
        else cut(place);
      }
    },
  };

  function open({ after, filter, onCut }: SubscribeRequest, last: number): Subscription {
    // Nobody listened, so nobody followed: what happened until now is not told live.
    if (places.size === 0) newest = Math.max(newest, last);
    const isUnknown = after !== undefined && after.seq > last;
    const place = createSubscription({
      store,
      describe,
      join,
      limits,
      now,
      filter,
      after: after === undefined || isUnknown ? { seq: last, half: false } : after,
      newest: () => newest,
      onFail(error) {
        onError(error);
        cut(place);
      },
      onClose() {
        places.delete(place);
        if (places.size === 0) clearInterval(sweeping);
      },
    });
    if (isUnknown) place.reset("unknown", last);
    if (places.size === 0) sweeping = setInterval(sweep, Math.min(SWEEP_MS, limits.stallMs / 4)).unref();
    places.set(place, onCut);
    return place;
  }

  function sweep(): void {
    for (const place of places.keys()) if (place.isStalled()) cut(place);
  }

  function cut(place: Place): void {
    const onCut = places.get(place);
    place.close();
    onCut?.();
  }

  function pump(): void {
    if (isPumping) return;
    isPumping = true;
    void tellAll();
  }

  /** Rounds until everything is told. Never rejects. */
  async function tellAll(): Promise<void> {
    while ((mustRead || published.length > 0) && places.size > 0) {
      const wait = await tellSome().catch((error: unknown) => {
        mustRead = true;
        onError(error);
        return AGAIN_MS;
      });
      // At least a turn: what was told must be able to leave.
      await delay(wait, undefined, { ref: false });
    }
    // With nobody there, nothing is kept for anybody.
    published = [];
    mustRead = false;
    // In the same turn as the last look: what is asked for after that starts a new pump.
    isPumping = false;
  }

  /** One round; answers how long to wait before the next one. */
  async function tellSome(): Promise<number> {
    const told = published;
    published = [];
    const events = told[0]?.seq === newest + 1 ? told : await readOn();
    const last = events.at(-1);
    if (last === undefined) return 0;
    const messages = await describe(events);
    newest = Math.max(newest, last.seq);
    for (const place of places.keys()) place.offer(messages, newest);
    return events.length < limits.pageEvents ? limits.roundMs : 0;
  }

  async function readOn(): Promise<readonly StoredEvent[]> {
    mustRead = false;
    const events = await store.events({ after: newest, limit: limits.pageEvents });
    if (events.length === limits.pageEvents) mustRead = true;
    return events;
  }
}

const TOO_MANY: StreamProblem = {
  code: "too_many_streams",
  message: "No more event streams can be opened now.",
  hint: "Close streams that are not needed; browsers can share one between tabs.",
};
