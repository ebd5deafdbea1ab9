// A carrier's report on disk, in the folder of its attempt. It counts only for the carrier that the store names, in the same incarnation of
// the store: neither a restored store nor a planted file can make another attempt's report count.

import { closeSync, constants, existsSync, fsyncSync, openSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import type { Report } from "../core/flow/outcome.ts";
import { readConfined, writeConfined } from "../file/confined.ts";
import type { Stray } from "../runner/runner.ts";
import { type KeptNews, keptShape } from "./kept-file.ts";

export type ReportFile = KeptNews & {
  readonly id: string;
  readonly incarnation: string;
  readonly report: Report;
  /** Its engine or the system ended the attempt: nobody may take this for the attempt's own result. */
  readonly aborted: string | null;
  readonly strays: readonly Stray[];
};

const REPORT_BYTES = 64 * 1024 * 1024;

const object = z.record(z.string(), z.unknown());
const reportSchema = z.object({
  id: z.string(),
  incarnation: z.string(),
  report: object,
  aborted: z.string().nullable(),
  ...keptShape,
  // Earlier versions wrote no start time.
  strays: z.array(z.object({ pid: z.int(), startTime: z.string().default(""), name: z.string() })),
});

/** Written beside the old one, synced, then renamed. Where the attempt's folder cannot be written, the carrier's own place is used. */
export function writeReport(home: string, dir: string, file: ReportFile): void {
  const text = JSON.stringify(file);
  const problems: string[] = [];
  for (const path of placesOf(home, dir, file.id)) {
    const written = writeConfined(home, path, text);
    if (written.ok) return syncFolder(dirname(path));
    problems.push(written.error.message);
  }
  throw new Error(problems.join("; "));
}

/** Undefined where there is none that this carrier wrote in this incarnation of the store. */
export function readReport(
  home: string,
  dir: string,
  { id, incarnation }: Pick<ReportFile, "id" | "incarnation">,
): ReportFile | undefined {
  const found = placesOf(home, dir, id).flatMap((path) => {
    const read = readConfined(home, path, REPORT_BYTES);
    return read.ok && read.value !== undefined ? (parsed(read.value) ?? []) : [];
  });
  return found.find((file) => file.id === id && file.incarnation === incarnation);
}

export function hasReport(home: string, dir: string, id: string): boolean {
  return placesOf(home, dir, id).some((path) => existsSync(path));
}

function placesOf(home: string, dir: string, id: string): readonly string[] {
  return [join(dir, "report.json"), join(home, "carriers", `${id}.report.json`)];
}

/** Written by the same program; what a report means is decided by `judge`, which takes nothing for granted. */
function parsed(text: string): ReportFile | undefined {
  try {
    return reportSchema.parse(JSON.parse(text)) as ReportFile;
  } catch {
    return undefined;
  }
}

/** The new name survives a power cut, too. */
function syncFolder(folder: string): void {
  const fd = openSync(folder, constants.O_RDONLY);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
