// A container's program that waits until its way to Passrail's services is open. The shell of the image waits, because nothing else is sure to be
// there. Whatever goes wrong, the program never begins.

import { constants, existsSync, mkdirSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** In the container, before its program: says that it is there, and waits for a line. */
export function gated(gate: string, program: readonly string[]): readonly string[] {
  const wait = `: > "$0/up" && IFS= read -r _ < "$0/go" && exec "$@"`;
  return ["/bin/sh", "-c", wait, gate, ...program];
}

export type Gate = {
  /** When the container waits at it; false: not in time. */
  reached(): Promise<boolean>;
  /** Whether this process is in that container. */
  isBefore(pid: number): boolean;
  open(): void;
};

const REACHED_MS = 120_000;
const LOOK_MS = 10;

/** The pipe at which the container waits. */
export const pipeOf = (folder: string): string => join(folder, "go");

/** Before the container is started; the pipe in it is made by a shell, because Node cannot. */
export function makeGateFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

/** `folder` is seen in the container at the same path. */
export function attendGate(folder: string): Gate {
  const [up, go] = [join(folder, "up"), pipeOf(folder)];
  // Open for both, so that neither end waits for the other here.
  const handle = openSync(go, constants.O_RDWR);
  return {
    async reached() {
      const deadline = performance.now() + REACHED_MS;
      while (!existsSync(up)) {
        if (performance.now() > deadline) return false;
        await delay(LOOK_MS);
      }
      return true;
    },
    isBefore(pid) {
      const seen = statSync(join(`/proc/${pid}/root`, up), { bigint: true });
      const made = statSync(up, { bigint: true });
      return seen.ino === made.ino && seen.dev === made.dev;
    },
    open() {
      // It stays open: the container may only now begin to read.
      writeSync(handle, "\n");
    },
  };
}
