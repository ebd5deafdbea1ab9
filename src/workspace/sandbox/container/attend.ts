// A separate program that starts a container engine's client and ends the container with it. A killed client leaves its container running,
// so Passrail signals this program to end an attempt, and it removes the container in time.

import { execFile, spawn } from "node:child_process";
import { constants } from "node:os";
import { removal } from "./removal.ts";

/** Less than the time between TERM and KILL of an attempt. */
const PATIENCE_MS = 3_000;
const REMOVE_MS = 20_000;

const [client = "", container = "", ...args] = process.argv.slice(2);
const child = spawn(client, args, { stdio: "inherit" });
let removing: Promise<void> | undefined;
let late: NodeJS.Timeout | undefined;

// The client gets the signal too and forwards it; a program inside that ignores it has this long.
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
  // It exited without a signal and with the program's code: the engine has removed the container.
  const isGone = signal === null && code !== null && code < 125 && late === undefined;
  const end = (): never => process.exit(code ?? 128 + constants.signals[signal ?? "SIGKILL"]);
  if (isGone) end();
  else void remove().then(end);
});

function remove(): Promise<void> {
  removing ??= new Promise((resolve) => {
    execFile(client, [...removal(client), container], { timeout: REMOVE_MS, killSignal: "SIGKILL" }, () => resolve());
  });
  return removing;
}
