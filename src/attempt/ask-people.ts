// How an attempt asks people while its agent waits: one request at a time, each with its own end, and the limits of the attempt stand still
// meanwhile. The store decides between an answer and the end of the wait. Without an engine the request waits for one.

import { setTimeout as delay } from "node:timers/promises";
import type { AttemptPorts } from "./job.ts";

export type AskPeople = {
  /** The time spent waiting for people so far. */
  readonly heldMs: () => number;
  /** Aborted when the attempt no longer waits for anybody. */
  readonly gone: AbortSignal;
  /** Calls `ask` after every earlier request is decided. */
  inTurn<T>(ask: () => Promise<T>): Promise<T>;
  /** The number of a new request; undefined if people were asked too often. */
  nextNumber(): number | undefined;
  /** The answer, for as long as it takes a person, but not beyond the end of the wait. */
  answerTo<T>(request: PersonRequest<T>): Promise<T>;
  /** Every request that still waits gets what it gets without an answer. */
  close(): void;
};

export type PersonRequest<T> = {
  /** ISO 8601. */
  readonly until: string;
  /** Ends the wait before that. */
  readonly gone?: AbortSignal;
  /** Undefined: nobody can be asked now. */
  readonly ask: () => Promise<T | undefined>;
  /** The wait is over; what was stored first counts. Undefined: nobody can store it now. */
  readonly expire: () => Promise<T | undefined>;
  readonly without: T;
};

/** A person cannot read more, and an agent that fills the Inbox is not waited for. */
export const MOST_REQUESTS = 200;
/** No engine is there: it asks again until one is. */
const AGAIN_MS = 500;

export function openAskPeople({ signal, now }: Pick<AttemptPorts, "signal" | "now">): AskPeople {
  const closed = new AbortController();
  const gone = AbortSignal.any([signal, closed.signal]);
  const held = createHeldClock();
  let turn: Promise<void> = Promise.resolve();
  let requests = 0;
  return {
    heldMs: held.ms,
    gone,
    inTurn(ask) {
      const mine = turn.then(ask);
      turn = mine.then(
        () => {},
        () => {},
      );
      return mine;
    },
    nextNumber() {
      requests += 1;
      return requests > MOST_REQUESTS ? undefined : requests;
    },
    answerTo: (request) => held.during(() => answerTo(request, gone, now)),
    close: () => closed.abort(),
  };
}

async function answerTo<T>(request: PersonRequest<T>, gone: AbortSignal, now: () => string): Promise<T> {
  const { until, ask, expire, without } = request;
  const over = new AbortController();
  const waits = AbortSignal.any([gone, over.signal, ...(request.gone === undefined ? [] : [request.gone])]);
  const timer = setTimeout(() => over.abort(), Date.parse(until) - Date.parse(now()));
  const ended = new Promise<undefined>((resolve) =>
    waits.addEventListener("abort", () => resolve(undefined), { once: true }),
  );
  try {
    while (!waits.aborted) {
      const answer = await Promise.race([ask(), ended]);
      if (answer !== undefined) return answer;
      await delay(AGAIN_MS, undefined, { signal: waits }).catch(() => {});
    }
    // Without an engine it gets no answer, and the item is closed when one is there.
    if (gone.aborted) return without;
    const late = await expire();
    if (late === undefined) void expireLater(expire, gone);
    return late ?? without;
  } finally {
    clearTimeout(timer);
  }
}

async function expireLater(expire: () => Promise<unknown>, gone: AbortSignal): Promise<void> {
  while (!gone.aborted) {
    await delay(AGAIN_MS, undefined, { signal: gone }).catch(() => {});
    if (!gone.aborted && (await expire()) !== undefined) return;
  }
}

function createHeldClock(): { readonly ms: () => number; during<T>(wait: () => Promise<T>): Promise<T> } {
  let before = 0;
  let since: number | undefined;
  const ms = (): number => before + (since === undefined ? 0 : performance.now() - since);
  return {
    ms,
    async during(wait) {
      since = performance.now();
      try {
        return await wait();
      } finally {
        before = ms();
        since = undefined;
      }
    },
  };
}
