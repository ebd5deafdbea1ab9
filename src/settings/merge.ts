// Settings for finished work: where it goes, who reviews it first, and which checks run on the merged tree.

import { z } from "zod";
import type { CheckDefinition } from "../core/flow/check-result.ts";
import { durationMs } from "../core/flow/duration.ts";
import { settingsDuration as duration } from "./duration.ts";

/** A name in `merge.checks` without a definition; undefined if there is none. */
export function unknownMergeCheck(
  files: readonly (z.infer<typeof mergeSchema> | undefined)[],
  named: Readonly<Record<string, CheckDefinition>>,
): string | undefined {
  return files
    .flatMap((file) => file?.checks ?? [])
    .filter((check) => typeof check === "string")
    .find((name) => !Object.hasOwn(named, name));
}

export const MERGE_MODES = ["auto", "merge", "pr"] as const;
export type MergeMode = (typeof MERGE_MODES)[number];

export const mergeSchema = z.strictObject({
  mode: z.enum(MERGE_MODES).optional(),
  forge: z.enum(["auto", "local", "remote", "github"]).optional(),
  remote: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,60}$/)
    .optional(),
  /** The final target of work; default: the remote's HEAD, else the project's current branch. */
  target: z.string().min(1).max(100).optional(),
  /** Programs that must exit 0 on the merged tree before it lands: argument lists, or names of `checks`. */
  checks: z
    .array(z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]))
    .max(20)
    .optional(),
  check_timeout: duration.optional(),
  /** How to combine work with newer commits of the target. */
  strategy: z.enum(["rebase", "merge"]).optional(),
  /** Remove the branch once its work is seen in the target; Passrail pins it first, and `passrail undo` restores it. */
  delete_branch: z.boolean().optional(),
  poll: duration.optional(),
});

export type MergeSettings = {
  readonly mode: MergeMode;
  readonly forge: "auto" | "local" | "remote" | "github";
  readonly remote: string;
  readonly target: string | null;
  readonly checks: readonly (readonly string[])[];
  readonly checkTimeoutMs: number;
  readonly strategy: "rebase" | "merge";
  readonly deleteBranch: boolean;
  readonly pollMs: number;
};

/** The nearer file wins key by key; the code that reads the environment decides `mode`. */
export function mergeSettings(
  files: readonly (z.infer<typeof mergeSchema> | undefined)[],
  named: Readonly<Record<string, CheckDefinition>> = {},
): Omit<MergeSettings, "mode"> {
  const said = files.toReversed().reduce<z.infer<typeof mergeSchema>>((far, near) => ({ ...far, ...near }), {});
  return {
    forge: said.forge ?? "auto",
    remote: said.remote ?? "origin",
    target: said.target ?? null,
    checks: (said.checks ?? []).map((check) => (typeof check === "string" ? (named[check]?.run ?? []) : check)),
    checkTimeoutMs: durationMs(said.check_timeout ?? "15m"),
    strategy: said.strategy ?? "rebase",
    deleteBranch: said.delete_branch ?? false,
    pollMs: durationMs(said.poll ?? "60s"),
  };
}
