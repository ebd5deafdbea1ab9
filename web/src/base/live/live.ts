// Live events for this page: through the worker that all tabs share, or through a separate connection in browsers without shared workers.

import { useSyncExternalStore } from "react";
import { scriptAddress } from "../script-address.ts";
import { currentToken, endSession } from "../session.ts";
import { type Connection, openConnection } from "./connection.ts";
import workerUrl from "./worker.ts?worker&url";
import type { LiveChange, FromPage, LiveState, ToPage } from "./protocol.ts";

type Listener = (changes: readonly LiveChange[] | "reset") => void;

const HERE_MS = 15_000;
const listeners = new Set<Listener>();
const watchers = new Set<() => void>();
let state: LiveState = { is: "connecting" };
let port: MessagePort | undefined;
let own: Connection | undefined;

export function startLive(): void {
  const token = currentToken();
  if (token === null) return;
  if (!("SharedWorker" in globalThis)) {
    own?.close();
    own = openConnection(token, hear);
    return;
  }
  if (port === undefined) {
    const worker = new SharedWorker(scriptAddress(workerUrl), { type: "module", name: "passrail-live" });
    port = worker.port;
    port.addEventListener("message", ({ data }: MessageEvent<ToPage>) => hear(data));
    port.start();
    setInterval(() => say({ type: "here" }), HERE_MS);
    addEventListener("pagehide", () => say({ type: "bye" }));
    // The page returns from the back-forward cache: register with the worker again.
    addEventListener("pageshow", ({ persisted }) => {
      const again = currentToken();
      if (persisted && again !== null) say({ type: "hello", token: again });
    });
  }
  say({ type: "hello", token });
}

export function onChanges(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useLiveState(): LiveState {
  return useSyncExternalStore(
    (changed) => {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
    () => state,
  );
}

function say(message: FromPage): void {
  port?.postMessage(message);
}

function hear(message: ToPage): void {
  if (message.type === "state") {
    state = message.state;
    // A refused session ends at once, not at the next click.
    if (state.is === "refused") endSession(false);
    for (const watcher of watchers) watcher();
  } else for (const listener of listeners) listener(message.type === "reset" ? "reset" : message.changes);
}
