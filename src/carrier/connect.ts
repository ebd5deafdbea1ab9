// An engine's connection to a carrier, up to its welcome.

import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { openWire, type ToCarrier, type ToEngine, toEngineSchema, type CarrierWire } from "./wire.ts";

export type CarrierConnection = {
  readonly welcome: Extract<ToEngine, { type: "welcome" }>;
  readonly wire: CarrierWire<ToCarrier>;
  /** Messages since the welcome, in order; call it once. */
  listen(on: { readonly message: (message: ToEngine) => void; readonly closed: () => void }): void;
};

const WELCOME_MS = 5000;

/** Undefined if nothing answers at this path in time. */
export async function connectCarrier(path: string, id: string): Promise<CarrierConnection | undefined> {
  const until = performance.now() + WELCOME_MS;
  do {
    const connection = await tryConnect(path, id);
    if (connection !== undefined) return connection;
    await delay(20);
  } while (performance.now() < until);
  return undefined;
}

async function tryConnect(path: string, id: string): Promise<CarrierConnection | undefined> {
  const socket = await opened(path);
  if (socket === undefined) return undefined;
  const early: ToEngine[] = [];
  const greeted = Promise.withResolvers<Extract<ToEngine, { type: "welcome" }> | undefined>();
  let isClosed = false;
  let on = {
    message: (message: ToEngine): void => {
      if (message.type === "welcome") greeted.resolve(message);
      else early.push(message);
    },
    closed: (): void => {
      isClosed = true;
      greeted.resolve(undefined);
    },
  };
  const wire: CarrierWire<ToCarrier> = openWire(socket, toEngineSchema, {
    message: (message) => on.message(message),
    closed: () => on.closed(),
  });
  wire.send({ type: "hello", id });
  const late = setTimeout(() => greeted.resolve(undefined), WELCOME_MS);
  const welcome = await greeted.promise;
  clearTimeout(late);
  if (welcome === undefined) {
    wire.destroy();
    return undefined;
  }
  return {
    welcome,
    wire,
    listen(listener) {
      on = listener;
      for (const message of early.splice(0)) listener.message(message);
      if (isClosed) listener.closed();
    },
  };
}

function opened(path: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("error", () => resolve(undefined));
    socket.once("connect", () => resolve(socket));
  });
}
