// The desk: one listener on loopback, one path and one token per attempt. It decides who may send and how much; the place's tools get the
// messages. Every answer closes its connection, so no bytes of one request can reach the next.

import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { unknownKeyword } from "../../core/verdict/fits-schema.ts";
import type { Desk, OpenPlace } from "./desk.ts";
import { findPlace, type DeskAddress, refuseForeign, refuseForm } from "./guard.ts";
import { readMessage } from "./read-message.ts";
import { type Reply, send, sendEarly } from "./reply.ts";
import { answerMessage } from "./rpc.ts";
import { createTools } from "./tools.ts";

const MAX_HEADER_BYTES = 16 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const MAX_SOCKETS = 256;
/** Concurrent requests of one attempt; a question that waits for a person is one of them. */
const MAX_RUNNING = 16;

const TOO_MANY: Reply = { status: 429, headers: { "retry-after": "1" }, body: { error: "too_many_requests" } };

export type DeskOptions = {
  /** Receives our own failures, in one sentence without any text from an agent. */
  readonly onProblem?: (text: string) => void;
};

export function createDesk({ onProblem = () => {} }: DeskOptions = {}): Desk {
  const places = new Map<string, DeskAddress>();
  let listening: Promise<Server> | undefined;
  let isClosed = false;

  const start = (): Promise<Server> => {
    const handle: Handler = (request, response, port) => answer(request, response, port, places, onProblem);
    const started = listen(handle, onProblem);
    // A port that is taken now may be free for the next attempt.
    started.catch(() => {
      if (listening === started) listening = undefined;
    });
    return started;
  };

  return {
    async open(place): Promise<OpenPlace> {
      const unknown = unknownKeyword(place.verdictSchema ?? { type: "object" });
      if (unknown !== undefined) throw new Error(`The verdict schema uses "${unknown}" in a way that is not checked.`);
      if (isClosed) throw new Error("The desk is closed.");
      listening ??= start();
      const server = await listening;
      if (isClosed) throw new Error("The desk was closed.");
      const id = randomBytes(16).toString("hex");
      const token = `pr_at_${randomBytes(32).toString("base64url")}`;
      const tokenHash = createHash("sha256").update(token).digest();
      const isOpen = () => places.has(id);
      places.set(id, { tokenHash, tools: createTools(place, isOpen, onProblem), running: 0 });
      return {
        url: `http://127.0.0.1:${portOf(server)}/mcp/${id}`,
        token,
        permits: place.permit !== undefined,
        close: () => void places.delete(id),
      };
    },

    async close() {
      isClosed = true;
      places.clear();
      const server = await listening?.catch(() => undefined);
      if (server === undefined || !server.listening) return;
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

type Handler = (request: IncomingMessage, response: ServerResponse, port: number) => Promise<void>;

function listen(handle: Handler, onProblem: (text: string) => void): Promise<Server> {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: 1000,
  });
  server.maxConnections = MAX_SOCKETS;
  // Also for pipelined requests, sent before the client could see that the first answer closes the connection.
  server.maxRequestsPerSocket = 1;
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    // A client that disconnects in the middle of a request gets no answer; that is not our problem.
    request.on("error", () => {});
    response.on("error", () => {});
    handle(request, response, portOf(server)).catch(() => request.destroy());
  };
  server.on("request", onRequest);
  // Without this Node would ask for the body before the token is checked.
  server.on("checkContinue", onRequest);
  server.on("connection", (socket) => socket.unref());
  return new Promise((resolve, reject) => {
    server.on("error", (cause) => {
      onProblem(`The desk's listener failed: ${cause.message}`);
      reject(cause);
    });
    server.listen(0, "127.0.0.1", () => {
      server.unref();
      resolve(server);
    });
  });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  port: number,
  places: ReadonlyMap<string, DeskAddress>,
  onProblem: (text: string) => void,
): Promise<void> {
  const found = admit(request, port, places);
  if ("refusal" in found) return sendEarly(request, response, found.refusal);
  const { place } = found;
  if (place.running >= MAX_RUNNING) return sendEarly(request, response, TOO_MANY);
  place.running += 1;
  try {
    const message = await readMessage(request, response);
    if (message.type === "gone") return;
    if (message.type === "refused") return sendEarly(request, response, message.reply);
    // The place may have closed while the body arrived.
    const still = findPlace(request, places);
    if ("refusal" in still) return send(response, still.refusal);
    const version = request.headers["mcp-protocol-version"];
    send(response, await answerMessage(message.value, version, place.tools, { signal: goneOf(response) }));
  } catch (cause) {
    onProblem(`The desk could not answer a request: ${cause instanceof Error ? cause.message : "unknown error"}`);
    if (!response.headersSent) send(response, { status: 500, body: { error: "internal_error" } });
  } finally {
    place.running -= 1;
  }
}

/** Aborted when the client closes the connection before it has its answer. */
function goneOf(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  return gone.signal;
}

/** Everything that can be checked before the body: origin, token and form. */
function admit(
  request: IncomingMessage,
  port: number,
  places: ReadonlyMap<string, DeskAddress>,
): { readonly place: DeskAddress } | { readonly refusal: Reply } {
  const foreign = refuseForeign(request, port);
  if (foreign !== undefined) return { refusal: foreign };
  const found = findPlace(request, places);
  if ("refusal" in found) return found;
  const refusal = refuseForm(request);
  return refusal === undefined ? found : { refusal };
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo | null)?.port ?? 0;
}
