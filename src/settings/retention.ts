// How long files and runs are kept. From the user's file only: a repository must not decide what is removed of other projects' runs.

import { z } from "zod";
import { durationMs } from "../core/flow/duration.ts";
import type { RetentionRules } from "../core/retention/retention.ts";

const NONE = z.literal("none");
const age = z.union([NONE, z.string().regex(/^[1-9][0-9]{0,4}[hd]$/u, "an age such as 12h or 90d, or none")]);
const size = z.union([NONE, z.string().regex(/^[1-9][0-9]{0,5}(?:mb|gb)$/u, "a size such as 500mb or 20gb, or none")]);
const count = z.union([NONE, z.int().min(1).max(1_000_000)]);

export const retentionSchema = z.strictObject({
  /** Prompts, logs, events and diffs of ended runs whose work has landed, was discarded, or never was. */
  files: z.strictObject({ age: age.optional(), count: count.optional(), size: size.optional() }).optional(),
  /** The copies of logs for people, per ticket. */
  logs: z.strictObject({ age: age.optional() }).optional(),
  /** Whole runs with their events; those of tickets stay. */
  runs: z.strictObject({ age: age.optional() }).optional(),
});

export type WrittenRetention = z.infer<typeof retentionSchema>;

/** Files that a person may need within a quarter of a year stay; the disk does not fill up; history stays. */
const DEFAULT = { filesAge: "90d", filesSize: "20gb", logsAge: "90d" } as const;

export function retentionRules(written: WrittenRetention | undefined): RetentionRules {
  const { files, logs, runs } = written ?? {};
  return {
    files: {
      ageMs: ageOf(files?.age ?? DEFAULT.filesAge),
      count: files?.count === undefined || files.count === "none" ? null : files.count,
      bytes: bytesOf(files?.size ?? DEFAULT.filesSize),
    },
    logs: { ageMs: ageOf(logs?.age ?? DEFAULT.logsAge) },
    runs: { ageMs: ageOf(runs?.age ?? "none") },
  };
}

/** An age that a person typed; undefined if it is none. */
export function readAge(text: string): number | null | undefined {
  return age.safeParse(text).success ? ageOf(text) : undefined;
}

export function readSize(text: string): number | null | undefined {
  return size.safeParse(text).success ? bytesOf(text) : undefined;
}

function ageOf(text: string): number | null {
  return text === "none" ? null : durationMs(text);
}

function bytesOf(text: string): number | null {
  if (text === "none") return null;
  return Number.parseInt(text, 10) * (text.endsWith("gb") ? 1024 ** 3 : 1024 ** 2);
}
