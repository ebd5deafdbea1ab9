// What a carrier has to tell while no engine is there to store it: facts of its attempt, messages that its agent got, and its usage. It is on
// disk before the attempt continues, so that the next engine learns of it even if the carrier is killed, too.

import { join } from "node:path";
import { z } from "zod";
import type { ReportedUsage } from "../core/budget/budget.ts";
import type { JsonObject } from "../core/json.ts";
import type { MessageWay } from "../core/run/message.ts";
import { readConfined, writeConfined } from "../file/confined.ts";

export type KeptNews = {
  /** Facts that no engine has confirmed. */
  readonly notes: readonly JsonObject[];
  /** Messages that its agent got, which no engine has confirmed. */
  readonly heard: readonly HeardMessage[];
  readonly spent: ReportedUsage | null;
};

export type HeardMessage = { readonly number: number; readonly way: MessageWay };

const KEPT_BYTES = 16 * 1024 * 1024;

const object = z.record(z.string(), z.unknown());

/** Also a part of a carrier's report. */
export const keptShape = {
  notes: z.array(object),
  // Absent in reports of older versions.
  heard: z.array(z.object({ number: z.int(), way: z.enum(["now", "turn", "attempt"]) })).default([]),
  spent: object.nullable(),
};
const keptSchema = z.object({ incarnation: z.string(), ...keptShape });

export function writeKept(home: string, id: string, incarnation: string, news: KeptNews): void {
  const written = writeConfined(home, keptFile(home, id), JSON.stringify({ incarnation, ...news }));
  if (!written.ok) throw new Error(written.error.message);
}

/** Undefined where this carrier left nothing for this incarnation of the store. */
export function readKept(home: string, id: string, incarnation: string): KeptNews | undefined {
  const read = readConfined(home, keptFile(home, id), KEPT_BYTES);
  if (!read.ok || read.value === undefined) return undefined;
  try {
    const { incarnation: of, ...news } = keptSchema.parse(JSON.parse(read.value));
    return of === incarnation ? (news as KeptNews) : undefined;
  } catch {
    return undefined;
  }
}

export function keptFile(home: string, id: string): string {
  return join(home, "carriers", `${id}.kept.json`);
}
