// A program of its own: starts the client of a container engine, and sees to it that the container ends with it. A client that is ended by
// force leaves its container running, so whoever must end an attempt tells this program, and it removes the container before time is up.

import { execFile, spawn } from "node:child_process";
import { constants } from "node:os";

/** Less than the time between TERM and KILL of an attempt. */
const PATIENCE_MS = 3_000;
const REMOVE_MS = 20_000;

const [client = "", container = "", ...args] = process.argv.slice(2);
const child = spawn(client, args, { stdio: "inherit" });
let removing: Promise<void> | undefined;
let late: NodeJS.Timeout | undefined;

// The client has heard it too and hands it on; a program inside that does not listen is given this long.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
  process.on(signal, () => {
    late ??= setTimeout(() => void remove(), PATIENCE_MS);
  });
}

child.once("error", (error) => {
  process.stderr.write(`${client} could not be started: ${error.message}\n`);
  process.exit(127);
});

child.once("exit", (code, signal) => {
  clearTimeout(late);
  // Ended by itself and with a code of the program: the engine has removed it.
  const isGone = signal === null && code !== null && code < 125 && late === undefined;
  const end = (): never => process.exit(code ?? 128 + constants.signals[signal ?? "SIGKILL"]);
  if (isGone) end();
  else void remove().then(end);
});

function remove(): Promise<void> {
  removing ??= new Promise((resolve) => {
    execFile(client, ["rm", "--force", container], { timeout: REMOVE_MS, killSignal: "SIGKILL" }, () => resolve());
  });
  return removing;
}
