// The live stream of the daemon as an iterator that survives broken connections: it comes back with the id of the last message, so that
// nothing is missed and nothing comes twice. Where the daemon cannot tell what was missed, the caller hears `reset`.

import { z } from "zod";
import { ROUTES } from "../contract/routes.ts";
import { eventPageSchema } from "../contract/schemas/event.ts";
import { type ApiProblem, readProblem } from "./answer.ts";
import { targetOf } from "./input.ts";
import { type Fetch, pause, unreachable } from "./reach.ts";
import { createSseReader, type SseMessage } from "./sse.ts";
import { optional } from "../../core/optional.ts";

export type FollowOptions = {
  /** The id of the last message that was seen; without it only what happens from now on. */
  readonly after?: string | number;
  readonly filter?: EventFilter;
  readonly signal?: AbortSignal;
  /** Told when the stream is there and when it is not, for those who show it. */
  readonly onState?: (state: StreamState) => void;
  /** The pause before the first try after a break, and the longest. */
  readonly firstPauseMs?: number;
  readonly longestPauseMs?: number;
  /** Without a byte for so long the connection is given up; the daemon says something every fifteen seconds. */
  readonly silenceMs?: number;
};

export type EventFilter = {
  readonly run?: string;
  readonly ticket?: string;
  /** Names of messages (`stage.finished`) or of their family (`stage`). */
  readonly kinds?: readonly string[];
};

export type StreamState =
  | { readonly type: "open" }
  | { readonly type: "lost"; readonly problem: ApiProblem; readonly againInMs: number };

const [eventSchema, handoffSchema, resetSchema] = [
  eventPageSchema.shape.events.element,
  z.object({ storyId: z.string(), handoffId: z.int(), status: z.string() }),
  z.object({ reason: z.string(), seq: z.int() }),
];

export type Followed =
  | { readonly type: "event"; readonly id: string; readonly name: string; readonly data: z.output<typeof eventSchema> }
  | { readonly type: "handoff"; readonly id: string; readonly data: z.output<typeof handoffSchema> }
  /** What was missed cannot be told: ask for the state anew. The stream goes on after `seq`. */
  | { readonly type: "reset"; readonly id: string; readonly data: z.output<typeof resetSchema> }
  /** The last one: the daemon does not let this caller in. */
  | { readonly type: "refused"; readonly problem: ApiProblem };

export type DaemonAddress = { readonly base: string; readonly token: string; readonly send: Fetch };

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
const SILENCE_MS = 45_000;

export async function* followEvents(
  daemon: DaemonAddress,
  options: FollowOptions,
): AsyncGenerator<Followed, void, undefined> {
  const { signal, onState = () => {}, firstPauseMs = FIRST_PAUSE_MS, longestPauseMs = LONGEST_PAUSE_MS } = options;
  let lastId = options.after === undefined ? "" : String(options.after);
  let failures = 0;
  const isOver = () => signal?.aborted === true;
  while (!isOver()) {
    const connection = openConnection(signal, options.silenceMs ?? SILENCE_MS);
    let problem: ApiProblem;
    try {
      const response = await connect(daemon, options, lastId, connection.signal);
      if (!response.ok || !isStream(response)) {
        problem = await readProblem(response);
        if (isFinal(response.status)) return yield { type: "refused", problem };
      } else {
        onState({ type: "open" });
        const reader = createSseReader(lastId);
        for await (const text of textOf(response, connection.heard)) {
          for (const message of reader.read(text)) {
            const followed = toFollowed(message);
            if (followed !== undefined) yield followed;
            lastId = message.id;
          }
          lastId = reader.lastId();
          failures = 0;
        }
        problem = unreachable(daemon.base, new Error("the stream ended"));
      }
    } catch (cause) {
      problem = unreachable(daemon.base, cause);
    } finally {
      connection.close();
    }
    if (isOver()) return;
    // Many that were cut off together shall not come back together.
    const againInMs = Math.round(Math.min(longestPauseMs, firstPauseMs * 2 ** failures) * (0.5 + Math.random() / 2));
    failures = Math.min(failures + 1, 16);
    onState({ type: "lost", problem, againInMs });
    await pause(againInMs, signal);
  }
}

function connect(
  { base, token, send }: DaemonAddress,
  { filter = {} }: FollowOptions,
  lastId: string,
  signal: AbortSignal,
) {
  const { run, ticket, kinds } = filter;
  const query = {
    ...optional({ run, ticket }),
    ...(kinds === undefined ? {} : { kind: kinds.join(",") }),
  };
  return send(`${base}${targetOf(ROUTES.events, { query })}`, {
    redirect: "manual",
    signal,
    headers: {
      accept: "text/event-stream",
      authorization: `Bearer ${token}`,
      ...(lastId === "" ? {} : { "last-event-id": lastId }),
    },
  });
}

/** One try: ends with the caller's signal, and when nothing is heard for too long. */
function openConnection(signal: AbortSignal | undefined, silenceMs: number) {
  const own = new AbortController();
  const stop = () => own.abort();
  let timer = setTimeout(stop, silenceMs);
  if (signal?.aborted === true) stop();
  signal?.addEventListener("abort", stop);
  return {
    signal: own.signal,
    heard: () => {
      clearTimeout(timer);
      timer = setTimeout(stop, silenceMs);
    },
    close() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
      own.abort();
    },
  };
}

async function* textOf({ body }: Response, heard: () => void): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  const reader = body?.getReader();
  try {
    while (reader !== undefined) {
      const { done, value } = await reader.read();
      if (done) return;
      heard();
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    await reader?.cancel().catch(() => {});
  }
}

/** What another try does not change. Too many streams or a store that is away may pass. */
function isFinal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}

function isStream({ headers }: Response): boolean {
  return (headers.get("content-type") ?? "").startsWith("text/event-stream");
}

/** Undefined for what a newer daemon tells in a form that is not known here. */
function toFollowed({ id, name, data }: SseMessage): Followed | undefined {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return undefined;
  }
  if (name === "reset") {
    const reset = resetSchema.safeParse(value);
    return reset.success ? { type: "reset", id, data: reset.data } : undefined;
  }
  if (name === "handoff") {
    const handoff = handoffSchema.safeParse(value);
    return handoff.success ? { type: "handoff", id, data: handoff.data } : undefined;
  }
  return eventSchema.safeParse(value).success
    ? { type: "event", id, name, data: value as z.output<typeof eventSchema> }
    : undefined;
}
