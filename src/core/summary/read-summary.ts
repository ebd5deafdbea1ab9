// Reads a tool's counts from its own summary. The exit code decides about a check; the counts are for people, and a summary that counts
// failures is never a pass. Output is hostile: only its end is read, line by line, and a line that is too long is skipped.

import type { CheckCounts, SummaryParser } from "../flow/check-result.ts";
import { stripAnsi } from "../secrets/strip-ansi.ts";
import { junitCounts } from "./junit.ts";
import {
  cargoCounts,
  eslintCounts,
  goCounts,
  jestCounts,
  nodeCounts,
  pytestCounts,
  tapCounts,
  tscCounts,
  vitestCounts,
} from "./tools.ts";

const SUMMARY_CHARS = 2 * 1024 * 1024;
const LINE_CHARS = 2000;

const LINE_PARSERS: Readonly<
  Record<Exclude<SummaryParser, "junit">, (lines: readonly string[]) => CheckCounts | undefined>
> = {
  vitest: vitestCounts,
  jest: jestCounts,
  "node-test": nodeCounts,
  pytest: pytestCounts,
  go: goCounts,
  cargo: cargoCounts,
  tsc: tscCounts,
  eslint: eslintCounts,
  tap: tapCounts,
};

/** Undefined if the text has no summary of this tool. */
export function readSummary(parser: SummaryParser, text: string): CheckCounts | undefined {
  const end = text.slice(-SUMMARY_CHARS);
  if (parser === "junit") return junitCounts(end);
  const lines = stripAnsi(end)
    .split("\n")
    .filter((line) => line.length <= LINE_CHARS)
    .map((line) => line.trimEnd());
  return LINE_PARSERS[parser](lines);
}

/** Whether a summary contradicts a pass. */
export function countsAreRed({ failed, errors }: Pick<CheckCounts, "failed" | "errors">): boolean {
  return failed > 0 || errors > 0;
}
