// A separate program beside a container engine's client, which ends the container with it. A killed client leaves its container running,
// so Passrail signals this program to end an attempt, and it removes the container in time. Where the container's program must reach
// Passrail, this program is also its way there: it opens the way before the program begins, and the way ends with it. It ends with the exit
// code of the client, which a shell tells it (`attended.ts`).

import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { constants } from "node:os";
import { text } from "node:stream/consumers";
import { PATIENCE_MS, readAttended } from "./attended.ts";
import { removal } from "./removal.ts";

const REMOVE_MS = 20_000;
/** The sandbox failed, not the work. */
const FAILED = 70;
/** From here on a shell says that a signal ended the client, or that there is none. */
const NO_CODE_OF_A_PROGRAM = 125;

const { client, container, note, way } = readAttended(process.argv.slice(2));
let removing: Promise<void> | undefined;
let late: NodeJS.Timeout | undefined;
let failure: string | undefined;

// The client gets the signal too and forwards it; a program inside that ignores it has this long.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
  process.on(signal, () => {
    late ??= setTimeout(() => void remove(), PATIENCE_MS);
  });
}

if (way !== null) void openWay(way);
await leave(codeOf(await text(process.stdin)));

/** What the shell has written when the client has ended; one that was killed has written nothing. */
function codeOf(said: string): number {
  return /^\d{1,3}\n$/u.test(said) ? Number(said) : 128 + constants.signals.SIGKILL;
}

async function leave(code: number): Promise<never> {
  clearTimeout(late);
  // It exited without a signal and with the program's code: the engine has removed the container.
  const isGone = code < NO_CODE_OF_A_PROGRAM && late === undefined;
  if (isGone) rmSync(note, { force: true });
  else await remove();
  process.exit(failure === undefined ? code : FAILED);
}

async function openWay(to: NonNullable<typeof way>): Promise<void> {
  try {
    await (await import("./open-way.ts")).openWay(to, client, container);
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
    process.stderr.write(`passrail: Passrail cannot be reached from the container: ${failure}\n`);
    await remove();
  }
}

function remove(): Promise<void> {
  removing ??= new Promise((resolve) => {
    execFile(client, [...removal(client), container], { timeout: REMOVE_MS, killSignal: "SIGKILL" }, (error) => {
      if (error === null) rmSync(note, { force: true });
      resolve();
    });
  });
  return removing;
}
