// Brings the engine in line with a run after a commit whose outcome it does not know: the commit may have started attempts that nobody
// carries out, queued stages and stored commands. Such an attempt is taken back: it is interrupted, and its stage is ready again.

import { attemptKey } from "../core/run/attempt-key.ts";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Run } from "../core/run/run.ts";
import type { SignalBody } from "../core/run/signal.ts";
import { type RunningAttempt, runningAttempts } from "../core/run/startable.ts";
import type { Attempts } from "./attempts.ts";
import type { Runs } from "./runs.ts";

export type ReconcileDeps = {
  readonly runs: Pick<Runs, "deliver" | "look">;
  readonly attempts: Pick<Attempts, "has">;
  /** Whether this engine carries out attempts; otherwise all of them are another's. */
  readonly performs: () => boolean;
  /** The run may have changed without this engine's knowledge. */
  readonly onChanged: (run: Run) => Promise<void>;
};

export async function reconcile({ runs, attempts, performs, onChanged }: ReconcileDeps, runId: string): Promise<void> {
  // The caller of the failed commit gives up its own start first.
  await nextTurn();
  if (!performs()) return;
  const isNobodys = ({ stage, attempt }: RunningAttempt): boolean =>
    !attempts.has({ runId, key: attemptKey(runId, stage, attempt) });
  const found = await runs.look(runId, (run) => ({ run, orphans: runningAttempts(run).filter(isNobodys) }));
  if (found === undefined) return;
  await onChanged(found.run);
  for (const { stage, attempt } of found.orphans) {
    const cause = "the store did not confirm the start of this attempt";
    const body: SignalBody = { type: "attempt.interrupted", stage, attempt, cause };
    await runs.deliver(runId, body, "engine", interruptId({ stage, attempt }));
  }
}

/** The same for every engine: an attempt is interrupted once. */
export function interruptId({ stage, attempt }: Pick<RunningAttempt, "stage" | "attempt">): string {
  return `interrupt:${stage}:${attempt}`;
}
