// The way from a sandbox with a network of its own to Passrail's own services on this machine's loopback, and to nothing else: inside, each of
// their ports is open on loopback too. The sockets inside belong to the sandbox's network; who accepts on them is this process, outside. So
// nothing has to be in the image, no address changes, and when this process is gone nobody answers inside.

import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process";
import { connect, Server, type Socket } from "node:net";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";

export type Bridge = {
  /** The process that opened the listeners; it is in the sandbox's network for as long as the bridge is open. */
  readonly pid: number;
  /** Ends that process. The listeners stay. */
  letGo(): void;
};

const LISTEN = fileURLToPath(new URL(`./listen-inside${extname(import.meta.url)}`, import.meta.url));
const OPEN_MS = 30_000;
const CONNECTIONS = 256;

/** `enter`: the command that starts the program behind it in the sandbox's network; `handles`: what it finds from descriptor 4 on. */
export function openBridge(
  enter: readonly string[],
  ports: readonly number[],
  handles: readonly number[] = [],
): Promise<Bridge> {
  const [program = process.execPath, ...args] = [...enter, process.execPath, LISTEN, ...ports.map(String)];
  const stdio: SpawnOptions["stdio"] = ["ignore", "ignore", "pipe", "ipc", ...handles];
  const child = spawn(program, args, { stdio, env: marked() });
  return new Promise((resolve, reject) => {
    let said = "";
    const late = setTimeout(() => child.kill("SIGKILL"), OPEN_MS);
    child.stderr?.on("data", (bytes: Buffer) => (said = `${said}${bytes.toString()}`.slice(-2000)));
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      clearTimeout(late);
      const last = said.trim().split("\n").at(-1) ?? "";
      reject(new Error(last === "" ? `what opens the way there ended with ${signal ?? `code ${code}`}` : last));
    });
    let opened = 0;
    child.on("message", (message, listener) => {
      const { pid, port } = message as { readonly pid: number; readonly port: number };
      if (!(listener instanceof Server)) return;
      carry(listener, port);
      opened += 1;
      if (opened < ports.length) return;
      clearTimeout(late);
      resolve({ pid, letGo: () => letGo(child) });
    });
  });
}

/** Each connection inside becomes one to the same port of this machine. */
function carry(listener: Server, port: number): void {
  listener.maxConnections = CONNECTIONS;
  // A client may end its request by closing its half, and still wait for the answer.
  Object.assign(listener, { allowHalfOpen: true });
  listener.on("error", () => {});
  listener.on("connection", (inside: Socket) => {
    const outside = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
    inside.setNoDelay(true);
    outside.setNoDelay(true);
    inside.pipe(outside).pipe(inside);
    // A service that is gone is a broken connection inside, never another way out.
    for (const [one, other] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      one.on("error", () => other.destroy());
      one.once("close", () => other.destroySoon());
    }
  });
}

function letGo(child: ChildProcess): void {
  if (child.connected) child.disconnect();
}

/** By this variable Passrail finds whatever an attempt left; nothing else of its environment is needed there. */
function marked(): NodeJS.ProcessEnv {
  const { PATH, PASSRAIL_MARKER } = process.env;
  return { PATH, PASSRAIL_MARKER };
}
