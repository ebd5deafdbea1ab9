// Holds the live connection for all tabs: a browser opens at most six connections to a server, so tabs must share one. A crashed tab sends
// no goodbye, so the worker forgets tabs that have been silent for a while.

import { type Connection, openConnection } from "./connection.ts";
import type { FromPage, ToPage } from "./protocol.ts";

const FORGET_MS = 60_000;
const pages = new Map<MessagePort, number>();
let connection: { readonly token: string; readonly open: Connection } | undefined;

const scope = globalThis as unknown as { onconnect: ((event: MessageEvent) => void) | null };
scope.onconnect = ({ ports: [port] }) => {
  if (port === undefined) return;
  port.addEventListener("message", ({ data }: MessageEvent<FromPage>) => hear(port, data));
  port.start();
};

setInterval(() => {
  const since = Date.now() - FORGET_MS;
  for (const [port, heard] of pages) if (heard < since) forget(port);
}, FORGET_MS / 4);

function hear(port: MessagePort, message: FromPage): void {
  if (message.type === "bye") return forget(port);
  pages.set(port, Date.now());
  if (message.type !== "hello") return;
  if (connection?.token !== message.token || connection.open.state().is === "refused") {
    connection?.open.close();
    connection = { token: message.token, open: openConnection(message.token, tellAll) };
  }
  port.postMessage({ type: "state", state: connection.open.state() } satisfies ToPage);
}

function forget(port: MessagePort): void {
  pages.delete(port);
  if (pages.size > 0) return;
  connection?.open.close();
  connection = undefined;
}

function tellAll(message: ToPage): void {
  for (const port of pages.keys()) port.postMessage(message);
}
