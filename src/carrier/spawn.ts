// Starts the processes of carriers, in sessions of their own: neither a terminal's Ctrl-C nor the end of the engine ends them. One may be
// kept ready as a spare, because starting takes longer than handing over a job.

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { CarrierIdentity } from "../attempt/carriers.ts";
import { identify } from "../runner/process/process-table.ts";
import { CARRIER_VARIABLE, carriersFolder, forgetCarrier, writeCarrierNote } from "./places.ts";

const PROGRAM = fileURLToPath(new URL(`./carrier-main${extname(import.meta.url)}`, import.meta.url));
const START_MS = 60_000;
/** The agent that was just let go begins first: until then it needs the processor more than the next one does. */
const WARM_AFTER_MS = 400;

/** A process that listens and waits for its order. */
export type ReadyCarrier = {
  readonly identity: CarrierIdentity;
  /** It has its order, and belongs to nobody but its attempt from now on. */
  handOver(): void;
  /** For a process without an order. */
  end(): void;
};

export type CarrierProcesses = {
  /** The spare one, or a new one. */
  take(): Promise<ReadyCarrier>;
  /** Starts a spare soon, unless there is one. */
  warm(): void;
  close(): void;
};

export function createCarrierProcesses(home: string, onError: (error: unknown) => void): CarrierProcesses {
  let spare: Promise<ReadyCarrier> | undefined;
  let isClosed = false;
  let soon: NodeJS.Timeout | undefined;
  const warm = (): void => {
    soon ??= setTimeout(start, WARM_AFTER_MS).unref();
  };
  const start = (): void => {
    soon = undefined;
    if (isClosed || spare !== undefined) return;
    const started = startCarrier(home);
    spare = started;
    started.catch((error: unknown) => {
      if (spare === started) spare = undefined;
      onError(error);
    });
  };
  return {
    warm,
    async take() {
      // Taken before anything is awaited: another attempt may ask at the same moment.
      const mine = spare;
      spare = undefined;
      const kept = await mine?.catch(() => undefined);
      // A spare may have died while it waited.
      if (kept !== undefined && identify(kept.identity.pid) === kept.identity.startTime) return kept;
      kept?.end();
      return startCarrier(home);
    },
    close() {
      isClosed = true;
      clearTimeout(soon);
      void spare?.then((ready) => ready.end()).catch(() => undefined);
      spare = undefined;
    },
  };
}

async function startCarrier(home: string): Promise<ReadyCarrier> {
  const id = randomBytes(12).toString("hex");
  const folder = carriersFolder(home);
  // Only what a crash of the program itself prints; what agents print is in the folders of their attempts.
  const log = openSync(join(folder, "carriers.log"), "a", 0o600);
  const child = spawn(process.execPath, [...process.execArgv.filter(isKept), PROGRAM], {
    cwd: folder,
    detached: true,
    stdio: ["pipe", "pipe", log],
    env: { NODE_COMPILE_CACHE: join(home, "compiled"), ...process.env, [CARRIER_VARIABLE]: id },
  });
  closeSync(log);
  const end = (): void => {
    child.kill("SIGKILL");
    forgetCarrier(home, id);
  };
  try {
    const identity = await untilReady(child, id);
    writeCarrierNote(home, identity);
    letGo(child);
    return { identity, handOver: () => void child.stdin?.destroy(), end };
  } catch (error) {
    end();
    throw error;
  }
}

/** Options of a debugger or a profiler are for one process. */
function isKept(option: string): boolean {
  return !/^--(inspect|cpu-prof|heap-prof|prof|test)/u.test(option);
}

async function untilReady(child: ChildProcess, id: string): Promise<CarrierIdentity> {
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("a carrier did not start in time")), START_MS);
    child.once("error", reject);
    child.once("exit", (code, signal) => reject(new Error(`a carrier ended at its start (${signal ?? code})`)));
    child.stdout?.once("data", () => {
      clearTimeout(late);
      resolve();
    });
  });
  const pid = child.pid ?? 0;
  const startTime = identify(pid);
  if (startTime === undefined) throw new Error("a carrier ended at its start");
  return { id, pid, startTime };
}

/** A carrier that waits must not keep its engine's process alive. */
function letGo(child: ChildProcess): void {
  child.removeAllListeners("exit");
  child.on("error", () => undefined);
  child.stdin?.on("error", () => undefined);
  child.stdout?.destroy();
  child.unref();
  for (const pipe of [child.stdin, child.stdout]) (pipe as { unref?: () => void } | null)?.unref?.();
}
