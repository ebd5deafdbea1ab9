// A separate program that starts a container engine's client and ends the container with it. A killed client leaves its container running,
// so Passrail signals this program to end an attempt, and it removes the container in time. Where the container's program must reach
// Passrail, this program is also its way there: it opens the way before the program begins, and the way ends with it. Whoever starts a container
// waits for this program's own start, so it loads little.

import { execFile, spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { constants } from "node:os";
import { readAttended } from "./attended.ts";
import { removal } from "./removal.ts";

/** Less than the time between TERM and KILL of an attempt. */
const PATIENCE_MS = 3_000;
const REMOVE_MS = 20_000;
/** The sandbox failed, not the work. */
const FAILED = 70;

const { client, container, note, way, args } = readAttended(process.argv.slice(2));
let removing: Promise<void> | undefined;
let late: NodeJS.Timeout | undefined;
let failure: string | undefined;

const opening = way === null ? undefined : (await import("./open-way.ts")).prepareWay(way);
const child = spawn(client, args, { stdio: "inherit" });

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
  const end = (): never =>
    process.exit(failure === undefined ? (code ?? 128 + constants.signals[signal ?? "SIGKILL"]) : FAILED);
  if (isGone) rmSync(note, { force: true });
  if (isGone) end();
  else void remove().then(end);
});

opening?.open(client, container).catch((error: unknown) => {
  failure = error instanceof Error ? error.message : String(error);
  process.stderr.write(`passrail: Passrail cannot be reached from the container: ${failure}\n`);
  void remove();
});

function remove(): Promise<void> {
  removing ??= new Promise((resolve) => {
    execFile(client, [...removal(client), container], { timeout: REMOVE_MS, killSignal: "SIGKILL" }, (error) => {
      if (error === null) rmSync(note, { force: true });
      resolve();
    });
  });
  return removing;
}
