// Shows the node the record of an attempt while it grows: new parts of its log, and files as they are written. At the
// end it sends everything that the node does not have.

import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { CHUNK_BYTES, type FromWorker, RECORD_NAME } from "../core/worker/wire.ts";
import type { Upstream } from "./upstream.ts";

export type RecordMirror = {
  /** Sends what is new; `all`: however large it is. */
  look(all: boolean): void;
  /** The node has only this part of the file. */
  resend(name: string, size: number): void;
  stop(): void;
};

const LOOK_MS = 250;
/** More waits with the sender: the node is not reached, or slower than the log grows. */
const QUEUED = 40;
const GROWING = /(?:\.log|\.jsonl)$/u;
/** Made for the worker's own use. */
const OWN: ReadonlySet<string> = new Set(["report.json"]);

type Known = { size: number; stamp: string };

export function openMirror(dir: string, upstream: Pick<Upstream, "push" | "length">): RecordMirror {
  const known = new Map<string, Known>();
  const look = (all: boolean): void => {
    for (const name of namesIn(dir)) {
      if (!all && upstream.length > QUEUED) return;
      const path = join(dir, name);
      const found = statSync(path, { throwIfNoEntry: false });
      if (found === undefined || !found.isFile()) continue;
      const stamp = `${found.mtimeMs}:${found.size}`;
      const before = known.get(name);
      if (before?.stamp === stamp) continue;
      const grows = GROWING.test(name) && (before?.size ?? 0) <= found.size;
      if (!all && !grows && found.size > CHUNK_BYTES) continue;
      const start = grows ? (before?.size ?? 0) : 0;
      // A log that grows fast: the next read continues where this one stops.
      const end = all || !grows ? found.size : Math.min(found.size, start + QUEUED * CHUNK_BYTES);
      for (let offset = start; offset < end || (offset === 0 && end === 0); offset += CHUNK_BYTES) {
        const bytes = Math.min(CHUNK_BYTES, end - offset);
        upstream.push(() => partOf(path, { name, offset, replace: !grows && offset === 0 }, bytes));
        if (end === 0) break;
      }
      known.set(name, { size: end, stamp: end === found.size ? stamp : "" });
    }
  };
  const timer = setInterval(() => look(false), LOOK_MS);
  return {
    look,
    resend: (name, size) => void known.set(name, { size: GROWING.test(name) ? size : 0, stamp: "" }),
    stop: () => clearInterval(timer),
  };
}

/** Null if the file is gone. */
function partOf(
  path: string,
  part: { readonly name: string; readonly offset: number; readonly replace: boolean },
  bytes: number,
): FromWorker | null {
  const data = readPart(path, part.offset, bytes);
  return data === null ? null : { type: "file", ...part, data };
}

/** Base64; null if it cannot be read. */
export function readPart(path: string, offset: number, bytes: number): string | null {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    return null;
  }
  try {
    const buffer = Buffer.alloc(bytes);
    const read = readSync(file, buffer, 0, bytes, offset);
    return buffer.subarray(0, read).toString("base64");
  } finally {
    closeSync(file);
  }
}

function namesIn(dir: string): readonly string[] {
  const list = (folder: string): readonly string[] => {
    try {
      return readdirSync(folder);
    } catch {
      return [];
    }
  };
  const all = [...list(dir), ...list(join(dir, "result")).map((name) => `result/${name}`)];
  return all.filter((name) => RECORD_NAME.test(name) && !OWN.has(name));
}
