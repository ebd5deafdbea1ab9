// The daemon applies the retention rules a while after its start, then every few hours. It measures the disk on the same walk.

import { reasonText, sizeOfBytes } from "../../core/retention/retention.ts";
import { writeDiskUse } from "./disk-note.ts";
import { measureDisk } from "./measure.ts";
import { prune, type PruneOptions } from "./prune.ts";

export type Sweep = {
  /** One sweep; also called by the timer. */
  look(): Promise<void>;
  close(): Promise<void>;
};

export type SweepOptions = Omit<PruneOptions, "dryRun" | "isStopped"> & {
  readonly log: (line: string) => void;
  readonly onError: (error: unknown) => void;
  /** Calls back after each of these times until the returned function is called. */
  readonly every?: (firstMs: number, thenMs: number, look: () => void) => () => void;
};

/** A start is busy enough. */
const FIRST_MS = 2 * 60_000;
const THEN_MS = 6 * 60 * 60_000;

export function openSweep(options: SweepOptions): Sweep {
  const { every = byTimer, home, now, log, onError } = options;
  let turn: Promise<void> = Promise.resolve();
  let isClosed = false;
  const look = (): Promise<void> => {
    turn = turn.then(sweep).catch(onError);
    return turn;
  };
  const stop = every(FIRST_MS, THEN_MS, () => void look());
  return {
    look,
    async close() {
      isClosed = true;
      stop();
      await turn;
    },
  };

  async function sweep(): Promise<void> {
    if (isClosed) return;
    const { files, logs, memos, runs } = await prune({ ...options, dryRun: false, isStopped: () => isClosed });
    for (const { runId, number, bytes, because } of files)
      log(`retention: removed the files of #${number} (${runId}, ${sizeOfBytes(bytes)}): ${reasonText(because)}`);
    for (const { ticket, bytes } of logs) log(`retention: removed the logs of ${ticket} (${sizeOfBytes(bytes)})`);
    if (memos.count > 0)
      log(`retention: removed ${memos.count} unused results of stages (${sizeOfBytes(memos.bytes)})`);
    if (runs.length > 0) log(`retention: removed ${runs.length} old runs: ${runs.slice(0, 20).join(", ")}`);
    if (!isClosed) writeDiskUse(home, await measureDisk(home, now()));
  }
}

function byTimer(firstMs: number, thenMs: number, look: () => void): () => void {
  let timer = setTimeout(() => {
    look();
    timer = setInterval(look, thenMs).unref();
  }, firstMs).unref();
  return () => clearTimeout(timer);
}
