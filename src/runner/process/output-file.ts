// The raw output of one attempt in a file of bounded size: all of it while it fits, else its head and its tail with one line between them.
// Writes are synchronous: order is kept, no queue can grow, and at most `capBytes` reach the disk while the attempt runs.

import { closeSync, constants, ftruncateSync, lstatSync, openSync, rmSync, writeSync } from "node:fs";
import { err, ok, type Result } from "../../core/result.ts";
import { createTailRing } from "./tail-ring.ts";

export type OutputFile = {
  readonly write: (chunk: Uint8Array) => void;
  readonly totalBytes: () => number;
  /** Puts the tail in place and closes. `problem` says why the file is incomplete, such as a full disk. */
  readonly finish: () => { readonly truncated: boolean; readonly problem: string | undefined };
};

/** Flows of older versions may ask for more than a process can keep. */
const MAX_CAP_BYTES = 100 * 1024 * 1024;

/** Creates the file anew, readable by its owner only: emptying what is there could empty a file of the user's by a second name. */
export const openOutputFile = (path: string, capBytes: number): Result<OutputFile> => {
  try {
    const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
    const found = lstatSync(path, { throwIfNoEntry: false });
    // A pipe would block; a device, such as /dev/null, is not ours to remove.
    if (found?.isFIFO() === true) throw new Error("it is a pipe");
    if (found?.isFile() === true) rmSync(path);
    const isNew = found === undefined || found.isFile() ? O_EXCL : 0;
    const file = openSync(path, O_CREAT | isNew | O_WRONLY | O_NOFOLLOW | O_NONBLOCK, 0o600);
    return ok(keepOutput(file, Math.min(capBytes, MAX_CAP_BYTES)));
  } catch (error) {
    return err({ code: "output_file_unwritable", message: `Cannot write the output file ${path}: ${String(error)}.` });
  }
};

const keepOutput = (fd: number, capBytes: number): OutputFile => {
  const headBytes = Math.floor(capBytes / 2);
  const tailBytes = capBytes - headBytes;
  const tail = createTailRing(tailBytes);
  let total = 0;
  let problem: string | undefined;

  // A full disk must end neither the daemon nor the attempt: the verdict may still arrive.
  const attempt = (action: () => void): void => {
    if (problem !== undefined) return;
    try {
      action();
    } catch (error) {
      problem = `The output file is incomplete: ${String(error)}.`;
    }
  };

  return {
    write: (chunk) => {
      // Up to the cap the file simply grows, so a crash of the daemon loses no earlier output.
      if (total < capBytes) attempt(() => writeAll(fd, chunk.subarray(0, capBytes - total), total));
      tail.push(chunk.subarray(Math.min(chunk.length, Math.max(0, headBytes - total))));
      total += chunk.length;
    },
    totalBytes: () => total,
    finish: () => {
      const truncated = total > capBytes;
      if (truncated) {
        attempt(() => {
          const line = Buffer.from(`\n[passrail: ${total - headBytes - tailBytes} bytes left out]\n`);
          ftruncateSync(fd, headBytes);
          writeAll(fd, line, headBytes);
          writeAll(fd, tail.bytes(), headBytes + line.length);
        });
      }
      try {
        closeSync(fd);
      } catch (error) {
        problem ??= `The output file is incomplete: ${String(error)}.`;
      }
      return { truncated: truncated || problem !== undefined, problem };
    },
  };
};

const writeAll = (fd: number, bytes: Uint8Array, position: number): void => {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(fd, bytes, done, bytes.length - done, position + done);
  }
};
