// What a person decided about workers: cordoned ones get nothing new, draining ones also leave when they are done. Kept over restarts.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { WORKER_NAME_PATTERN } from "../core/worker/wire.ts";
import { replacePrivate } from "../file/private-file.ts";

export const WORKER_STATES = ["open", "cordoned", "draining"] as const;
export type WorkerState = (typeof WORKER_STATES)[number];

const schema = z.record(z.string().regex(WORKER_NAME_PATTERN), z.enum(["cordoned", "draining"]));

export type WorkerStates = { of(name: string): WorkerState; set(name: string, state: WorkerState): void };

export function openStates(home: string): WorkerStates {
  const file = join(home, "workers.json");
  let known = read(file);
  return {
    of: (name) => known.get(name) ?? "open",
    set(name, state) {
      const next = new Map(known);
      if (state === "open") next.delete(name);
      else next.set(name, state);
      replacePrivate(file, `${JSON.stringify(Object.fromEntries(next))}\n`);
      known = next;
    },
  };
}

/** A file that cannot be read cordons nobody: a person says it again. */
function read(file: string): ReadonlyMap<string, WorkerState> {
  try {
    return new Map(Object.entries(schema.parse(JSON.parse(readFileSync(file, "utf8")))));
  } catch {
    return new Map();
  }
}
