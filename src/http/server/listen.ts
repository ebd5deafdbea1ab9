// Puts the app on a loopback socket, with limits on headers, slow clients and connections. Input that cannot become a request (an invalid
// Host, a head that is too large) is answered here, in the same format.

import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { PROBLEM_TYPE, problemDocument, type Refusal, statusOf } from "../contract/problem.ts";
import { type Certificate, type TlsFiles, watchCertificate } from "./certificate.ts";
import { headOfIncoming, type HeadRules, refuseHead } from "./guard/head.ts";
import { ANSWER_HEADERS } from "./guard/headers.ts";
import type { App } from "./app-env.ts";
import type { Audit } from "./audit.ts";
import { headNote } from "./audit-request.ts";

const MAX_HEADER_BYTES = 16 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_MS = 5000;
const MAX_SOCKETS = 1024;

export type ListenOptions = Pick<HeadRules, "hosts" | "names"> & {
  /** 0: any free port. */
  readonly port: number;
  /** An address of this machine; the caller has confirmed one that others can reach. */
  readonly host?: string;
  /** Absent: plain HTTP. */
  readonly tls?: TlsFiles & { readonly certificate: Certificate };
  /** Called for a renewed certificate that cannot be used. */
  readonly onProblem?: (text: string) => void;
  /** Records requests with a wrong Host or from a foreign page. */
  readonly audit?: Pick<Audit, "record">;
};

export type Listening = {
  readonly port: number;
  readonly url: string;
  /** Stops accepting, gives running requests a grace time, then ends them. */
  close(graceMs?: number): Promise<void>;
};

/** `appFor`: makes the app for the assigned port. */
export async function listen(
  appFor: (rules: HeadRules) => App,
  { port, host = "127.0.0.1", hosts = [], names = [], tls, onProblem, audit }: ListenOptions,
): Promise<Listening> {
  const { server, forget } = serverFor(tls, onProblem);
  server.maxConnections = MAX_SOCKETS;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const given = (server.address() as AddressInfo).port;
  const shown = host.includes(":") ? `[${host}]` : host;
  const rules: HeadRules = { port: given, hosts, names: [...names, shown], isSecure: tls !== undefined };
  const answer = getRequestListener(appFor(rules).fetch, {
    overrideGlobalObjects: false,
    errorHandler: () => problemResponse({ code: "bad_request", detail: "The request cannot be read." }),
  });
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    // A client that disconnects early gets no answer; this is no error of ours.
    request.on("error", () => {});
    response.on("error", () => {});
    const refusal = refuseHead(headOfIncoming(request), rules);
    if (refusal === undefined) return void answer(request, response);
    audit?.record(headNote(request, refusal));
    send(request, response, refusal);
  };
  server.on("request", onRequest);
  // Without this Node would invite the body before the token is checked.
  server.on("checkContinue", onRequest);
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => refuseSocket(socket, error));
  const reached = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : shown;
  return {
    port: given,
    url: `${tls === undefined ? "http" : "https"}://${reached}:${given}`,
    close(graceMs = 2000) {
      forget();
      return close(server, graceMs);
    },
  };
}

const LIMITS = {
  maxHeaderSize: MAX_HEADER_BYTES,
  headersTimeout: HEADERS_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  keepAliveTimeout: KEEP_ALIVE_MS,
  connectionsCheckingInterval: 1000,
} as const;

type AnyServer = ReturnType<typeof createServer> | ReturnType<typeof createSecureServer>;

function serverFor(
  tls: ListenOptions["tls"],
  onProblem: (text: string) => void = () => {},
): { readonly server: AnyServer; readonly forget: () => void } {
  if (tls === undefined) return { server: createServer(LIMITS), forget: () => {} };
  const server = createSecureServer({ ...LIMITS, ...tls.certificate.pair, minVersion: "TLSv1.2" });
  return { server, forget: watchCertificate(tls, ({ pair }) => server.setSecureContext(pair), onProblem) };
}

/** Answers early: discards the rest of the request for a moment, so that the sender can read the answer. */
function send(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
  const text = textOf(refusal);
  response.writeHead(statusOf(refusal), headersOf(refusal, text));
  response.end(text);
  request.resume();
  setTimeout(() => request.socket.destroy(), LINGER_MS).unref();
}

const LINGER_MS = 200;

/** There is no request to answer, only a socket. */
function refuseSocket(socket: Socket, { code }: NodeJS.ErrnoException): void {
  if (!socket.writable || code === "ECONNRESET") return void socket.destroy();
  const refusal = FAULTS[code ?? ""] ?? { code: "bad_request" as const, detail: "This is not HTTP/1.1." };
  const text = textOf(refusal);
  const head = Object.entries(headersOf(refusal, text)).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${statusOf(refusal)} ${refusal.code}\r\n${head.join("")}\r\n${text}`);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

const FAULTS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: {
    code: "headers_too_large",
    detail: `The head of a request may have ${MAX_HEADER_BYTES} bytes.`,
  },
  ERR_HTTP_REQUEST_TIMEOUT: { code: "request_timeout", detail: "The request did not come in time." },
};

function problemResponse(refusal: Refusal): Response {
  const text = textOf(refusal);
  return new Response(text, { status: statusOf(refusal), headers: headersOf(refusal, text) });
}

function textOf(refusal: Refusal): string {
  return JSON.stringify(problemDocument(refusal, randomUUID().replaceAll("-", "")));
}

function headersOf(refusal: Refusal, text: string): Record<string, string> {
  return {
    ...ANSWER_HEADERS,
    ...refusal.headers,
    "content-type": PROBLEM_TYPE,
    "content-length": String(Buffer.byteLength(text)),
    connection: "close",
  };
}

async function close(server: AnyServer, graceMs: number): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(timer);
}
