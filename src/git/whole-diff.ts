// All changes of a run, from the commit where its first attempt began to the commit that a decision is about. Commits only: uncommitted
// work is in the diff of the attempt that left it.

import type { Run } from "../core/run/run.ts";
import { repositoryOf } from "../core/run/joint.ts";
import { git } from "./git.ts";

const DIFF_BYTES = 4 * 1024 * 1024;
const FORMAT = ["--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", "--submodule=short", "--full-index"];
const PREFIX = ["--src-prefix=a/", "--dst-prefix=b/"];
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

export type DiffShape = {
  /** Lines that differ only in white space count as equal. */
  readonly ignoresSpaces?: boolean;
  /** Unchanged lines around a change. */
  readonly context?: number;
  /** Only these files; for a moved one both names. */
  readonly paths?: readonly string[];
};

export async function wholeDiff(
  run: Run,
  from: string,
  to: string,
  redact: (text: string) => string,
  { ignoresSpaces = false, context, paths = [] }: DiffShape = {},
): Promise<string> {
  if (!COMMIT.test(from) || !COMMIT.test(to)) return failed("it has no commits to compare");
  const shape = [
    ...(ignoresSpaces ? ["--ignore-all-space"] : []),
    ...(context === undefined ? [] : [`--unified=${context}`]),
  ];
  const only = paths.map((path) => `:(top,literal)${path}`);
  const args = ["diff", ...FORMAT, ...PREFIX, ...shape, "--end-of-options", from, to, "--", ...only];
  // One byte beyond the limit distinguishes "exactly full" from "cut".
  const made = await git(repositoryOf(run), args, { maxBytes: DIFF_BYTES + 1, overflow: "cut" });
  if (!made.ok) return failed(made.error.message);
  const bytes = Buffer.from(made.value);
  if (bytes.length <= DIFF_BYTES) return redact(made.value);
  const lines = bytes.subarray(0, bytes.lastIndexOf(10, DIFF_BYTES - 1) + 1).toString("utf8");
  return `${redact(lines)}[passrail: the diff was cut here, it is larger than ${DIFF_BYTES} bytes]\n`;
}

/** It must never look empty because of a failure. */
function failed(why: string): string {
  return `[passrail: the diff could not be made: ${why.replaceAll("\n", " ")}]\n`;
}
