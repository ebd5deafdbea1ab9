// The record of an attempt on its node, filled in by the worker: the node makes the paths, bounds the sizes, and follows no link. So
// dashboard and command line read it as if the attempt had worked here, while it works.

import { closeSync, constants, ftruncateSync, fstatSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { RECORD_NAME } from "../core/worker/wire.ts";
import { lookConfined } from "../file/confined.ts";

export type RecordFiles = {
  /** Writes bytes at their place. Returns the size that the file has, if they do not fit there. */
  write(part: RecordPart): number | null;
};

export type RecordPart = {
  readonly name: string;
  readonly offset: number;
  readonly replace: boolean;
  readonly data: Buffer;
};

/** Of one attempt: its log, its events, its diff. */
const MOST_BYTES = 1024 * 1024 * 1024;
const MOST_FILES = 200;
/** Written by the node itself. */
const OWN: ReadonlySet<string> = new Set(["report.json"]);

export function openRecordFiles(home: string, dir: string): RecordFiles {
  const sizes = new Map<string, number>();
  return {
    write({ name, offset, replace, data }) {
      if (!RECORD_NAME.test(name) || OWN.has(name)) return null;
      const rest = [...sizes].reduce((sum, [each, size]) => (each === name ? sum : sum + size), 0);
      if (rest + offset + data.length > MOST_BYTES || (!sizes.has(name) && sizes.size >= MOST_FILES)) return null;
      const path = join(dir, name);
      if (!lookConfined(home, path).ok) return null;
      const { O_WRONLY, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
      const file = openSync(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
      try {
        if (replace) ftruncateSync(file, 0);
        const { size } = fstatSync(file);
        if (offset > size) return size;
        writeSync(file, data, 0, data.length, offset);
        sizes.set(name, Math.max(size, offset + data.length));
        return null;
      } finally {
        closeSync(file);
      }
    },
  };
}
