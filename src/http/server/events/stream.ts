// One subscription as the body of an HTTP answer, as server-sent events. The reader of the body pulls: nothing is encoded, joined or read
// from the store for a client before its socket has taken the earlier bytes.

import { ok, type Result } from "../../../core/result.ts";
import type { StreamFilter } from "./filter.ts";
import type { EventHub } from "./hub.ts";
import { parsePosition, type StreamPosition, type StreamProblem } from "./position.ts";

export type StreamRequest = {
  /** The header. It wins over `after`: a browser repeats the original address and adds its position in the header. */
  readonly lastEventId: string | undefined;
  /** The query parameter, for clients that cannot set the header. */
  readonly after: string | undefined;
  readonly filter: StreamFilter;
  readonly signal: AbortSignal;
  /** Ends the connection at once, although it takes no more bytes. Without it the body fails, which some servers log. */
  readonly destroy?: () => void;
  readonly pingMs?: number;
};

const RETRY_MS = 2000;
const PING_MS = 15_000;

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
  // With this header the server sends the first byte without waiting for the end of the body.
  "transfer-encoding": "chunked",
};

export async function eventStream(hub: EventHub, request: StreamRequest): Promise<Result<Response, StreamProblem>> {
  const after = readPosition(request);
  if (!after.ok) return after;
  const body = await openBody(hub, request, after.value);
  return body.ok ? ok(new Response(body.value, { headers: HEADERS })) : body;
}

function readPosition({ lastEventId, after }: StreamRequest): Result<StreamPosition | undefined, StreamProblem> {
  // By the standard an empty header means "none".
  const given = lastEventId === undefined || lastEventId === "" ? after : lastEventId;
  return given === undefined ? ok(undefined) : parsePosition(given);
}

async function openBody(
  hub: EventHub,
  { filter, signal, destroy, pingMs = PING_MS }: StreamRequest,
  after: StreamPosition | undefined,
): Promise<Result<ReadableStream<Uint8Array>, StreamProblem>> {
  let onCut = () => {};
  const opened = await hub.subscribe({ after, filter, onCut: () => onCut() });
  if (!opened.ok) return opened;
  const subscription = opened.value;
  let isOpen = true;
  let pinging: NodeJS.Timeout | undefined;
  const free = () => {
    clearInterval(pinging);
    signal.removeEventListener("abort", free);
    subscription.close();
  };

  return ok(
    new ReadableStream<Uint8Array>(
      {
        start(controller) {
          onCut = () => {
            isOpen = false;
            free();
            if (destroy === undefined) controller.error(new Error("The event stream was cut off."));
            else destroy();
          };
          signal.addEventListener("abort", free);
          if (signal.aborted) free();
          else pinging = setInterval(() => ping(controller), pingMs).unref();
          // An id alone is no event, but clients remember it: one that is disconnected before the first event still misses nothing.
          controller.enqueue(Buffer.from(`retry: ${RETRY_MS}\nid: ${subscription.position()}\n\n`));
        },
        async pull(controller) {
          const bytes = await subscription.next();
          if (bytes !== undefined) return controller.enqueue(bytes);
          free();
          if (isOpen) controller.close();
        },
        cancel() {
          isOpen = false;
          free();
        },
      },
      // Pulls nothing ahead: messages wait in the subscription, where they are counted.
      { highWaterMark: 0 },
    ),
  );

  /** With the id, so that a client whose filter lets nothing through does not count as one that was away. */
  function ping(controller: ReadableStreamDefaultController<Uint8Array>): void {
    if (!subscription.isReading() || controller.desiredSize !== 0) return;
    controller.enqueue(Buffer.from(`id: ${subscription.position()}\n: ping\n\n`));
  }
}
