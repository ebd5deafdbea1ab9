// The way from a sandbox of Daytona to Passrail's own services on this machine, over the vendor's API: what connects to their ports in the sandbox
// is kept there as files (relay-inside.ts), which this side fetches and answers. What comes from there may be anything: it opens connections to
// the named ports and to nothing else.

import { extname } from "node:path";
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Daytona, DaytonaSandbox } from "./api.ts";
import { nextFromRelay, type Remote } from "./scripts.ts";

export type RelayPlace = {
  readonly daytona: Daytona;
  readonly sandbox: DaytonaSandbox;
  readonly remote: Remote;
  /** Of this machine's loopback, and the same there. */
  readonly ports: readonly number[];
};

const TYPE = extname(import.meta.url);

/** The program for the other side, and its name there: by its end Node tells how to read it. */
export const RELAY_INSIDE = {
  path: fileURLToPath(new URL(`./relay-inside${TYPE}`, import.meta.url)),
  name: TYPE === ".ts" ? "relay.mts" : "relay.mjs",
} as const;

const AGAIN_MS = 500;
const ASK_SECONDS = 30;
const CONNECTIONS = 256;
/** In one upload. */
const SENT_CHARS = 512 * 1024;
/** Waiting to be sent: then this machine's services wait, too. */
const WAITING_CHARS = 8 * 1024 * 1024;

export function openRelay({ daytona, sandbox, remote, ports }: RelayPlace): { close(): void } {
  const sockets = new Map<number, Socket>();
  let lines: string[] = [];
  let waiting = 0;
  let isOpen = true;
  let wake = (): void => {};

  const say = (said: object): void => {
    const line = JSON.stringify(said);
    lines.push(line);
    waiting += line.length;
    if (waiting > WAITING_CHARS) for (const socket of sockets.values()) socket.pause();
    wake();
  };

  const open = (id: number, port: number): void => {
    if (!ports.includes(port) || sockets.has(id) || sockets.size >= CONNECTIONS) return say({ id, closed: true });
    const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
    sockets.set(id, socket);
    socket.setNoDelay(true);
    socket.on("data", (bytes) => say({ id, data: bytes.toString("base64") }));
    socket.on("end", () => say({ id, end: true }));
    socket.on("error", () => {});
    socket.on("close", () => {
      sockets.delete(id);
      say({ id, closed: true });
    });
  };

  const hear = (line: string): void => {
    const { id, port, data, end, closed } = said(line);
    if (typeof id !== "number") return;
    if (typeof port === "number") return open(id, port);
    const socket = sockets.get(id);
    if (typeof data === "string") socket?.write(Buffer.from(data, "base64"));
    if (end === true) socket?.end();
    if (closed === true) socket?.destroySoon();
  };

  const fetching = async (): Promise<void> => {
    for (let number = 0; isOpen; ) {
      const ran = await daytona.run(sandbox, nextFromRelay(remote, number), ASK_SECONDS);
      // What a command that failed has printed is none of the lines.
      if (!ran.ok || ran.value.exitCode !== 0) {
        await delay(AGAIN_MS, undefined, { ref: false });
        continue;
      }
      const text = ran.value.output;
      if (text.trim() === "") continue;
      for (const line of text.split("\n")) if (line !== "") hear(line);
      number += 1;
    }
  };

  const sending = async (): Promise<void> => {
    for (let number = 0; isOpen; number += 1) {
      while (isOpen && lines.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      let chars = 0;
      const end = lines.findIndex((line) => (chars += line.length) > SENT_CHARS);
      const taken = lines.slice(0, end === -1 ? lines.length : Math.max(end, 1));
      lines = lines.slice(taken.length);
      waiting -= taken.reduce((sum, line) => sum + line.length, 0);
      if (waiting <= WAITING_CHARS) for (const socket of sockets.values()) socket.resume();
      const file = Buffer.from(`${taken.join("\n")}\n.\n`);
      // One that arrived twice has a number that is over.
      while (isOpen && !(await daytona.upload(sandbox, `${remote.root}/relay/in/${number}`, file)).ok)
        await delay(AGAIN_MS, undefined, { ref: false });
    }
  };

  void fetching();
  void sending();
  return {
    close() {
      isOpen = false;
      wake();
      for (const socket of sockets.values()) socket.destroy();
    },
  };
}

function said(line: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(line);
    return typeof parsed === "object" && parsed !== null ? (parsed as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
