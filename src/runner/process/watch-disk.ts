// How far the folders that a program may write have grown since it started. No kernel counts that for an ordinary user, so they are measured now
// and then: what is written between two looks is seen late, and what hides in deleted files or closed folders is not seen.

import { execFile } from "node:child_process";
import { err, ok, type Result } from "../../core/result.ts";

export type DiskWatch = {
  /** Calls back once, when they have grown too far. */
  begin(onFull: () => void): void;
  /** A last look, at the program's end. */
  isFull(): Promise<boolean>;
  stop(): void;
};

/** Between two looks: nine times what the last one took, so that looking takes a tenth of one processor at most. */
const REST = 9;
const REST_AT_LEAST_MS = 1_000;
const REST_AT_MOST_MS = 30_000;
const LOOK_MS = 120_000;

/** Measures what is there before the program starts. */
export async function openDiskWatch(
  folders: readonly string[],
  limitBytes: number,
): Promise<Result<DiskWatch, string>> {
  const before = await usedBytes(folders);
  if (!before.ok) return err(`its limit of the disk cannot be held, because ${before.error}`);
  let timer: NodeJS.Timeout | undefined;
  let hasStopped = false;
  const isFull = async (): Promise<boolean> => {
    const now = await usedBytes(folders);
    return now.ok && now.value - before.value > limitBytes;
  };
  const look = async (onFull: () => void): Promise<void> => {
    const since = performance.now();
    const full = await isFull();
    if (hasStopped) return;
    if (full) return onFull();
    const restMs = Math.min(Math.max((performance.now() - since) * REST, REST_AT_LEAST_MS), REST_AT_MOST_MS);
    timer = setTimeout(() => void look(onFull), restMs);
  };
  return ok({
    begin: (onFull) => void (timer = setTimeout(() => void look(onFull), REST_AT_LEAST_MS)),
    isFull,
    stop() {
      hasStopped = true;
      clearTimeout(timer);
    },
  });
}

/** Blocks on the disk, each file once, without following links and without other file systems that are mounted below. */
function usedBytes(folders: readonly string[]): Promise<Result<number, string>> {
  return new Promise((resolve) => {
    const options = { timeout: LOOK_MS, killSignal: "SIGKILL" as const, env: { ...process.env, LC_ALL: "C" } };
    execFile("du", ["-skxc", "--", ...folders], options, (error, stdout, stderr) => {
      // Files come and go meanwhile: du complains, and its sum is right.
      const total = /^(\d+)\s+total$/mu.exec(stdout)?.[1];
      if (total !== undefined) return resolve(ok(Number(total) * 1024));
      const said = stderr.trim().split("\n").at(-1) ?? "";
      resolve(err(`du did not answer: ${said === "" ? (error?.message ?? "") : said}`.slice(0, 300)));
    });
  });
}
