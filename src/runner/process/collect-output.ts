// Everything that a program prints: without its secrets, to the file, to the readers, and the end of it in memory. A flood is slowed down,
// and ended when it is too much.

import type { ChildProcessWithoutNullStreams } from "node:child_process";
import type { AttemptEnd, StreamRedactor } from "../runner.ts";
import type { OutputFile } from "./output-file.ts";
import { createTailRing, decodeTail } from "./tail-ring.ts";

/** As much as the readers of verdicts get: a text that is longer proves no verdict. Pages that are not written cost nothing. */
const STDOUT_TAIL_BYTES = 8 * 1024 * 1024;
const STDERR_TAIL_BYTES = 16 * 1024;
/** As much as is read at once: whoever else is served by this process waits no longer than that takes. */
const TURN_BYTES = 64 * 1024;
const REST_MS = 1;
/** And then it rests for this many times as long: whatever a program prints takes at most a quarter of this process's time. */
const REST_FACTOR = 3;

type OutputWatch = {
  readonly redactor: (() => StreamRedactor) | undefined;
  readonly onStdout: ((chunk: Uint8Array) => void) | undefined;
  readonly onStderr: ((chunk: Uint8Array) => void) | undefined;
  /** More than this in total is a flood. */
  readonly hardBytes: number;
  readonly sawOutput: () => void;
  readonly onFlood: () => void;
};

/** The only place where output enters: secrets are removed here, before disk, readers and logs. */
export const collectOutput = (child: ChildProcessWithoutNullStreams, file: OutputFile, watch: OutputWatch) => {
  const tails = { stdout: createTailRing(STDOUT_TAIL_BYTES), stderr: createTailRing(STDERR_TAIL_BYTES) };
  const redactors = { stdout: watch.redactor?.(), stderr: watch.redactor?.() };
  let cut = false;
  const keep = (from: "stdout" | "stderr", bytes: Uint8Array): void => {
    if (bytes.length === 0) return;
    tails[from].push(bytes);
    file.write(bytes);
    (from === "stdout" ? watch.onStdout : watch.onStderr)?.(bytes);
  };
  const consume = (from: "stdout" | "stderr", chunk: Buffer): void => {
    watch.sawOutput();
    keep(from, redactors[from]?.push(chunk) ?? chunk);
    // After its exit there is nothing left to end, and the rest of the pipe is worth reading.
    const over = child.exitCode !== null || child.signalCode !== null;
    if (over || file.totalBytes() <= watch.hardBytes) return;
    watch.onFlood();
    // Reading more would only keep the flood going until the process is gone.
    cut = true;
    child.stdout.destroy();
    child.stderr.destroy();
  };
  for (const from of ["stdout", "stderr"] as const) inTurns(child, from, (chunk) => consume(from, chunk));
  return {
    /** Releases the held bytes. */
    end: (): void => {
      for (const from of ["stdout", "stderr"] as const) keep(from, redactors[from]?.flush() ?? new Uint8Array());
    },
    tails: (): Pick<AttemptEnd, "stdoutTail" | "stdoutWhole" | "stderrTail"> => {
      const fits = tails.stdout.total() <= STDOUT_TAIL_BYTES;
      return {
        stdoutTail: decodeTail(tails.stdout.bytes(), fits),
        stdoutWhole: fits && !cut,
        stderrTail: decodeTail(tails.stderr.bytes(), tails.stderr.total() <= STDERR_TAIL_BYTES),
      };
    },
  };
};

/** Node reads a pipe up to thirty times in a row. A flood is taken in smaller parts, with a rest in between, while its program lives. */
function inTurns(
  child: ChildProcessWithoutNullStreams,
  from: "stdout" | "stderr",
  consume: (chunk: Buffer) => void,
): void {
  const stream = child[from];
  let bytes = 0;
  let workedMs = 0;
  const nextTurn = (): void => {
    bytes = 0;
    workedMs = 0;
    stream.resume();
  };
  // What is left then is as little as a pipe holds.
  child.once("exit", nextTurn);
  stream.on("data", (chunk: Buffer) => {
    if (bytes === 0) setImmediate(() => void (stream.isPaused() || nextTurn()));
    bytes += chunk.length;
    const since = performance.now();
    consume(chunk);
    workedMs += performance.now() - since;
    if (bytes < TURN_BYTES || child.exitCode !== null || child.signalCode !== null) return;
    stream.pause();
    setTimeout(nextTurn, Math.max(REST_MS, workedMs * REST_FACTOR));
  });
}
