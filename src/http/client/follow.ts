// Follows the daemon's live stream and survives broken connections: it reconnects with the id of the last message, so that the caller
// misses no message and gets none twice. Without schemas, so that browsers can load it.

import { optional } from "../../core/optional.ts";
import type { RouteAddress } from "./address.ts";
import { type ApiProblem, readProblem, type ReadProblem } from "./answer.ts";
import { targetOf } from "./input.ts";
import { type Fetch, pause, unreachable } from "./reach.ts";
import { createSseReader, type SseMessage } from "./sse.ts";

export type FollowOptions = {
  /** The id of the last message that the caller saw; without it the stream begins now. */
  readonly after?: string | number;
  readonly filter?: FollowFilter;
  readonly signal?: AbortSignal;
  /** Called when the connection opens and when it breaks. */
  readonly onState?: (state: StreamState) => void;
  /** The pause before the first retry after a break, and the longest. */
  readonly firstPauseMs?: number;
  readonly longestPauseMs?: number;
  /** The connection counts as broken after this time without a byte; the daemon sends a ping every fifteen seconds. */
  readonly silenceMs?: number;
};

export type FollowFilter = {
  readonly run?: string;
  readonly ticket?: string;
  /** Names of messages (`stage.finished`) or of their family (`stage`). */
  readonly kinds?: readonly string[];
};

export type StreamState =
  | { readonly type: "open" }
  | { readonly type: "lost"; readonly problem: ApiProblem; readonly againInMs: number };

export type StreamSource = {
  readonly base: string;
  readonly token: string;
  readonly send: Fetch;
  /** Of the route `events`. */
  readonly address: RouteAddress;
  readonly problemIn: ReadProblem;
};

export type StreamStep =
  | { readonly type: "message"; readonly message: SseMessage }
  /** The last step: the daemon refuses this caller. */
  | { readonly type: "refused"; readonly problem: ApiProblem };

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
const SILENCE_MS = 45_000;

export async function* followMessages(
  source: StreamSource,
  options: FollowOptions,
): AsyncGenerator<StreamStep, void, undefined> {
  const { signal, onState = () => {} } = options;
  let lastId = options.after === undefined ? "" : String(options.after);
  let failures = 0;
  const isOver = () => signal?.aborted === true;
  while (!isOver()) {
    const connection = openConnection(signal, options.silenceMs ?? SILENCE_MS);
    let problem: ApiProblem;
    try {
      const response = await connect(source, options, lastId, connection.signal);
      if (!response.ok || !isStream(response)) {
        problem = await readProblem(response, source.problemIn);
        if (isFinal(response.status)) return yield { type: "refused", problem };
      } else {
        onState({ type: "open" });
        const reader = createSseReader(lastId);
        for await (const text of textOf(response, connection.heard)) {
          for (const message of reader.read(text)) {
            yield { type: "message", message };
            lastId = message.id;
          }
          lastId = reader.lastId();
          failures = 0;
        }
        problem = unreachable(source.base, new Error("the stream ended"));
      }
    } catch (cause) {
      problem = unreachable(source.base, cause);
    } finally {
      connection.close();
    }
    if (isOver()) return;
    const againInMs = pauseMs(options, failures);
    failures = Math.min(failures + 1, 16);
    onState({ type: "lost", problem, againInMs });
    await pause(againInMs, signal);
  }
}

/** Grows with each failure, with jitter: clients that lost the daemon together must not return together. */
function pauseMs(
  { firstPauseMs = FIRST_PAUSE_MS, longestPauseMs = LONGEST_PAUSE_MS }: FollowOptions,
  failures: number,
) {
  return Math.round(Math.min(longestPauseMs, firstPauseMs * 2 ** failures) * (0.5 + Math.random() / 2));
}

function connect(source: StreamSource, { filter = {} }: FollowOptions, lastId: string, signal: AbortSignal) {
  const { run, ticket, kinds } = filter;
  const query = optional({ run, ticket, kind: kinds?.join(",") });
  return source.send(`${source.base}${targetOf(source.address, { query })}`, {
    redirect: "manual",
    signal,
    headers: {
      accept: "text/event-stream",
      authorization: `Bearer ${source.token}`,
      ...(lastId === "" ? {} : { "last-event-id": lastId }),
    },
  });
}

/** One connection: it ends with the caller's signal, or after too long a silence. */
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

/** A retry would get the same refusal. Too many streams or a store that is away may pass. */
function isFinal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}

function isStream({ headers }: Response): boolean {
  return (headers.get("content-type") ?? "").startsWith("text/event-stream");
}
