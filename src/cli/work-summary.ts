// The changes of a run, the checks that Passrail ran on it, and its cost: at a gate and at the end.

import { commitOf } from "../app/commit-of.ts";
import { diffOfRun, type RunDiff } from "../app/run-diff.ts";
import { createRedaction } from "../core/secrets/redaction.ts";
import type { Run } from "../core/run/run.ts";
import { spentText } from "../core/view/spent-text.ts";
import { changeLines, checkSummary } from "../core/view/work-summary.ts";
import { wholeDiff } from "../git/whole-diff.ts";
import { secretsOf } from "../runner/process/environment.ts";
import type { AttemptRecord, Store } from "../store/store.ts";
import type { Io } from "./terminal/io.ts";
import { oneLine } from "./terminal/plain-text.ts";

const WIDTH = 200;

export async function readRunDiff(
  { environment }: Pick<Io, "environment">,
  store: Store,
  run: Run,
  attempts: readonly AttemptRecord[],
): Promise<RunDiff | null> {
  const { text: redact } = createRedaction(secretsOf(environment));
  const head = await commitOf(store, run);
  return diffOfRun({ attempts, head, diff: (from, to) => wholeDiff(run, from, to, redact) });
}

/** Empty for a run that changed nothing. */
export async function summaryLines(
  io: Pick<Io, "environment">,
  store: Store,
  run: Run,
  attempts: readonly AttemptRecord[],
): Promise<readonly string[]> {
  const diff = await readRunDiff(io, store, run, attempts);
  if (diff === null) return [];
  const lines = [...changeLines(diff.stat), ...checkSummary(attempts)];
  const spent = run.spent === undefined ? [] : [`Spent: ${spentText(run.spent)}`];
  return [...lines, ...spent].map((line) => oneLine(line, WIDTH));
}
