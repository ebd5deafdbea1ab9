// A program that Passrail sends into a sandbox of Daytona and starts there with the image's own Node: it listens on loopback where the agent looks
// for Passrail's services, and keeps what is said as files. Passrail fetches and sends these by the vendor's API, because nothing else leads from
// that machine to this one. It stands alone: only this file goes there.

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";

/** One line of JSON. The other side answers with the same, but never opens. */
type Said = {
  readonly id: number;
  /** Opens a connection to this port. */
  readonly port?: number;
  /** In base64. */
  readonly data?: string;
  readonly end?: true;
  readonly closed?: true;
};

const [folder = "", ...ports] = process.argv.slice(2);
const [incoming, outgoing] = [join(folder, "in"), join(folder, "out")];
const LOOK_MS = 15;
/** One answer of the vendor's API must hold a file of lines. */
const FILE_CHARS = 192 * 1024;
/** Files that wait for Passrail; then whoever sends has to wait, too. */
const WAITING = 16;

const sockets = new Map<number, Socket>();
let lines: string[] = [];
let [written, read, ids] = [0, 0, 0];

for (const name of [incoming, outgoing]) mkdirSync(name, { recursive: true });
// The attempt's own end is its end.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
writeFileSync(join(folder, "pid"), String(process.pid));
for (const port of ports.map(Number)) {
  const server = createServer({ allowHalfOpen: true }, (socket) => take(socket, port));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
}
writeFileSync(join(folder, "ready"), "");
setInterval(() => {
  receive();
  send();
}, LOOK_MS);

function take(socket: Socket, port: number): void {
  const id = (ids += 1);
  sockets.set(id, socket);
  socket.setNoDelay(true);
  say({ id, port });
  socket.on("data", (bytes) => {
    for (let at = 0; at < bytes.length; at += FILE_CHARS / 4)
      say({ id, data: bytes.subarray(at, at + FILE_CHARS / 4).toString("base64") });
    if (isFull()) socket.pause();
  });
  socket.on("end", () => say({ id, end: true }));
  socket.on("error", () => {});
  socket.on("close", () => {
    sockets.delete(id);
    say({ id, closed: true });
  });
}

function say(said: Said): void {
  lines.push(JSON.stringify(said));
}

function isFull(): boolean {
  return lines.length > 0 && written > WAITING && existsSync(join(outgoing, String(written - WAITING)));
}

/** A file at a time, complete when it has its name. */
function send(): void {
  while (lines.length > 0 && !isFull()) {
    let chars = 0;
    const count = lines.findIndex((line) => (chars += line.length + 1) > FILE_CHARS);
    const taken = lines.slice(0, count === -1 ? lines.length : Math.max(count, 1));
    lines = lines.slice(taken.length);
    writeFileSync(join(outgoing, "next"), `${taken.join("\n")}\n`);
    renameSync(join(outgoing, "next"), join(outgoing, String(written)));
    written += 1;
  }
  if (lines.length === 0) for (const socket of sockets.values()) socket.resume();
}

/** An upload is not seen as a whole: its last line is a dot. */
function receive(): void {
  for (let file = join(incoming, String(read)); existsSync(file); file = join(incoming, String(read))) {
    const text = readFileSync(file, "utf8");
    if (!text.endsWith("\n.\n")) return;
    for (const line of text.split("\n").slice(0, -2)) hear(JSON.parse(line) as Said);
    rmSync(file);
    read += 1;
  }
}

function hear({ id, data, end, closed }: Said): void {
  const socket = sockets.get(id);
  if (data !== undefined) socket?.write(Buffer.from(data, "base64"));
  if (end === true) socket?.end();
  if (closed === true) socket?.destroySoon();
}
