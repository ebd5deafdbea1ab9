// Publishes live events to subscribed clients, in the order of the store. `publish` passes events that were committed here; `catchUp`
// says that other processes may have written. The store is the truth; the hub only remembers how far it has published.

import { setTimeout as delay } from "node:timers/promises";
import { err, ok, type Result } from "../../../core/result.ts";
import type { Store, StoredEvent } from "../../../store/store.ts";
import type { StreamFilter } from "./filter.ts";
import {
  type AttemptGrowth,
  createDescribe,
  createJoin,
  type Describe,
  growthHint,
  type Join,
  ticketHint,
  type UsageData,
  usageHint,
} from "./message.ts";
import type { StreamPosition, StreamProblem } from "./position.ts";
import { createSubscription, type HubClient, type Subscription, type SubscriptionLimits } from "./subscription.ts";

export type HubLimits = SubscriptionLimits & {
  readonly maxClients: number;
  /** Between two rounds: events committed in the meantime go out together. Two hundred clients need two hundred writes a round. */
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
  // A dropped client loses nothing: it reconnects with its position.
  stallMs: 15_000,
  roundMs: 20,
};

export type HubOptions = {
  readonly store: Pick<Store, "events" | "lastSeq" | "loadRun" | "handoffs">;
  /** Milliseconds that only grow: `clock.monotonicMs`. */
  readonly now: () => number;
  readonly limits?: Partial<HubLimits>;
  /** The store could not be read. The hub retries for live clients; it drops a replaying client, which reconnects. */
  readonly onError?: (error: unknown) => void;
};

export type SubscribeRequest = {
  /** Undefined: only new events. */
  readonly after: StreamPosition | undefined;
  readonly filter: StreamFilter;
  /** The connection must end: the client does not read, or the store cannot be read for it. Called once, after its place is free. */
  readonly onCut: () => void;
};

export type EventHub = {
  /** Events that were just committed, in order. Gaps and repetitions are fine: then the hub reads the store. */
  publish(events: readonly StoredEvent[]): void;
  /** The store may hold unpublished events. Cheap; call it often. */
  catchUp(): void;
  /** The files of these tickets have changed; not stored. */
  hint(subjectIds: readonly string[]): void;
  /** Files of a working attempt have grown; not stored. */
  grown(growth: AttemptGrowth): void;
  /** The usage of a working attempt so far; not stored as an event. */
  usage(data: UsageData): void;
  subscribe(request: SubscribeRequest): Promise<Result<Subscription, StreamProblem>>;
  /** Drops clients that do not read. The hub calls it every second. */
  sweep(): void;
  stats(): { readonly clients: number; readonly queuedBytes: number };
  close(): void;
};

/** For more tickets the hub sends one hint without an id. */
const HINTS_AT_MOST = 100;
const SWEEP_MS = 1000;
/** Pause before the store is read again after a failure. */
const AGAIN_MS = 1000;

type HubState = {
  /** The function to call when a client is dropped. */
  readonly clients: Map<HubClient, () => void>;
  /** Clients whose first read of the store is under way. */
  opening: number;
  /** The last event that every live client was offered. */
  newest: number;
  /** Events that were committed here and not offered yet, without gaps. */
  published: StoredEvent[];
  mustRead: boolean;
  isPublishing: boolean;
  isClosed: boolean;
  sweeping: NodeJS.Timeout | undefined;
};

type Hub = {
  readonly state: HubState;
  readonly store: HubOptions["store"];
  readonly limits: HubLimits;
  readonly now: () => number;
  readonly describe: Describe;
  readonly join: Join;
  readonly onError: (error: unknown) => void;
};

export function createEventHub({ store, now, onError = () => {}, ...options }: HubOptions): EventHub {
  const state: HubState = {
    clients: new Map(),
    opening: 0,
    newest: 0,
    published: [],
    mustRead: false,
    isPublishing: false,
    isClosed: false,
    sweeping: undefined,
  };
  const limits: HubLimits = { ...HUB_LIMITS, ...options.limits };
  const hub: Hub = { state, store, limits, now, onError, describe: createDescribe(store), join: createJoin() };
  return {
    publish(events) {
      for (const event of events) {
        const isNext = event.seq === (state.published.at(-1)?.seq ?? state.newest) + 1;
        if (isNext && state.published.length < limits.pageEvents) state.published.push(event);
        else if (event.seq > state.newest) state.mustRead = true;
      }
      startPublishing(hub);
    },
    catchUp() {
      state.mustRead = true;
      startPublishing(hub);
    },
    hint(subjectIds) {
      const hints = (subjectIds.length > HINTS_AT_MOST ? [""] : subjectIds).map(ticketHint);
      for (const client of state.clients.keys()) for (const hint of hints) client.hint(hint);
    },
    grown(growth) {
      const hint = growthHint(growth);
      for (const client of state.clients.keys()) client.hint(hint);
    },
    usage(data) {
      const hint = usageHint(data);
      for (const client of state.clients.keys()) client.hint(hint);
    },
    subscribe: (request) => subscribe(hub, request),
    sweep: () => sweep(state),
    stats: () => ({
      clients: state.clients.size,
      queuedBytes: [...state.clients.keys()].reduce((sum, client) => sum + client.queuedBytes(), 0),
    }),
    close() {
      state.isClosed = true;
      for (const client of state.clients.keys()) {
        if (client.isReading()) client.close();
        else cut(state, client);
      }
    },
  };
}

async function subscribe(hub: Hub, request: SubscribeRequest): Promise<Result<Subscription, StreamProblem>> {
  const { state } = hub;
  if (state.isClosed || state.clients.size + state.opening >= hub.limits.maxClients) return err(TOO_MANY);
  state.opening += 1;
  try {
    const last = await hub.store.lastSeq();
    return isClosed(state) ? err(TOO_MANY) : ok(openClient(hub, request, last));
  } finally {
    state.opening -= 1;
  }
}

/** Read by a function, because it changes while others wait. */
function isClosed(state: HubState): boolean {
  return state.isClosed;
}

function openClient(hub: Hub, { after, filter, onCut }: SubscribeRequest, last: number): Subscription {
  const { state, limits, onError } = hub;
  const { clients } = state;
  // Without clients the hub did not follow the store: events before now are not live ones.
  if (clients.size === 0) state.newest = Math.max(state.newest, last);
  const isUnknown = after !== undefined && after.seq > last;
  const client = createSubscription({
    ...hub,
    filter,
    after: after === undefined || isUnknown ? { seq: last, half: false } : after,
    newest: () => state.newest,
    onFail(error) {
      onError(error);
      cut(state, client);
    },
    onClose() {
      clients.delete(client);
      if (clients.size === 0) clearInterval(state.sweeping);
    },
  });
  if (isUnknown) client.reset("unknown", last);
  if (clients.size === 0) {
    state.sweeping = setInterval(() => sweep(state), Math.min(SWEEP_MS, limits.stallMs / 4)).unref();
  }
  clients.set(client, onCut);
  return client;
}

function sweep(state: HubState): void {
  for (const client of state.clients.keys()) if (client.isStalled()) cut(state, client);
}

function cut({ clients }: HubState, client: HubClient): void {
  const onCut = clients.get(client);
  client.close();
  onCut?.();
}

function startPublishing(hub: Hub): void {
  if (hub.state.isPublishing) return;
  hub.state.isPublishing = true;
  void publishAll(hub);
}

/** Rounds until every client was offered everything. Never rejects. */
async function publishAll(hub: Hub): Promise<void> {
  const { state, onError } = hub;
  while ((state.mustRead || state.published.length > 0) && state.clients.size > 0) {
    const wait = await publishSome(hub).catch((error: unknown) => {
      state.mustRead = true;
      onError(error);
      return AGAIN_MS;
    });
    // At least one turn of the event loop: offered messages must be able to leave.
    await delay(wait, undefined, { ref: false });
  }
  // Without clients nothing is kept.
  state.published = [];
  state.mustRead = false;
  // In the same turn as the last look: a request after that starts a new loop.
  state.isPublishing = false;
}

/** One round; answers how long to wait before the next one. */
async function publishSome(hub: Hub): Promise<number> {
  const { state, limits } = hub;
  const published = state.published;
  state.published = [];
  const events = published[0]?.seq === state.newest + 1 ? published : await readOn(hub);
  const last = events.at(-1);
  if (last === undefined) return 0;
  const messages = await hub.describe(events);
  state.newest = Math.max(state.newest, last.seq);
  for (const client of state.clients.keys()) client.offer(messages, state.newest);
  return events.length < limits.pageEvents ? limits.roundMs : 0;
}

async function readOn({ state, store, limits }: Hub): Promise<readonly StoredEvent[]> {
  state.mustRead = false;
  const events = await store.events({ after: state.newest, limit: limits.pageEvents });
  if (events.length === limits.pageEvents) state.mustRead = true;
  return events;
}

const TOO_MANY: StreamProblem = {
  code: "too_many_streams",
  message: "No more event streams can be opened now.",
  hint: "Close streams that are not needed; browsers can share one between tabs.",
};
