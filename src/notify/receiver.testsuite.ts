// A typical webhook receiver over a real socket, for the tests of this folder.

import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { TLSSocket } from "node:tls";
import type { WebhookEndpoint } from "./endpoint.ts";
import type { Notice } from "./notify.ts";

export const SECRET = `whsec_${Buffer.alloc(32, 3).toString("base64")}`;

export type Got = {
  readonly headers: Record<string, string>;
  readonly url: string;
  readonly body: string;
  readonly servername: string | false | null | undefined;
};

export type Receiver = {
  readonly got: Got[];
  readonly port: number;
  answer: (response: ServerResponse, request: IncomingMessage) => void;
  close(): Promise<void>;
};

export async function startReceiver(tls?: { readonly key: string; readonly cert: string }): Promise<Receiver> {
  const got: Got[] = [];
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const servername = request.socket instanceof TLSSocket ? request.socket.servername : undefined;
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
      got.push({ headers, url: request.url ?? "", body: Buffer.concat(chunks).toString(), servername });
      receiver.answer(response, request);
    });
  };
  const server = tls === undefined ? createHttpServer(onRequest) : createHttpsServer(tls, onRequest);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const receiver: Receiver = {
    got,
    port: (server.address() as AddressInfo).port,
    answer: (response) => void response.writeHead(204).end(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return receiver;
}

export function endpointTo(port: number, changes: Partial<WebhookEndpoint> = {}): WebhookEndpoint {
  return {
    name: "team",
    url: `http://127.0.0.1:${port}/hook?x=1`,
    format: "standard",
    secrets: [SECRET],
    events: null,
    token: null,
    allowHttp: true,
    allowPrivate: true,
    ca: null,
    ...changes,
  };
}

export const GATE: Notice = {
  runId: "r1",
  to: "owner",
  event: "gate",
  text: "F-1: Ship waits for owner",
  item: "r1.2",
};

/** Polls, because real sockets take time. */
export async function until(isTrue: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!isTrue()) {
    if (Date.now() > deadline) throw new Error("It did not come to it in time.");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
