// Watches pull requests: asks the forge about every run that waits for its merge, after a pause and on request. Only the forge's state
// counts.

import type { Report } from "../../core/flow/outcome.ts";
import { messageOf, type Result } from "../../core/result.ts";
import type { Run } from "../../core/run/run.ts";
import type { Engine } from "../../engine/engine.ts";
import { projectOf } from "../../core/run/run-settings.ts";
import type { Forge } from "../../forge/forge.ts";
import type { Store } from "../../store/store.ts";
import { report, reportOf } from "./merge-stage.ts";
import { landedRecord } from "../../core/ticket/landed.ts";
import { type WaitingMerge, waitingMerge } from "../../core/run/waiting-merge.ts";
import { createPoll } from "../poll.ts";
import { createMergeTroubles, type MergeTroubles } from "./merge-troubles.ts";
import { requestOf } from "./record.ts";

export type MergeWatchOptions = {
  readonly store: Pick<Store, "activeRuns" | "loadRun" | "loadFlow" | "attempts">;
  readonly engine: Pick<Engine, "deliver">;
  readonly forgeOf: (project: string) => Promise<Result<Forge>>;
  /** For the back-off. */
  readonly monotonicMs: () => number;
  readonly pollMs: number;
  /** Logs of a forge may contain secrets of this machine. */
  readonly redact: (text: string) => string;
  /** Called after every look: merges elsewhere may have unblocked work. */
  readonly afterLook?: () => Promise<void>;
  readonly onProblem: (runId: string | null, error: unknown) => void;
  /** From 0 to 1, so that many machines do not ask at the same moment. */
  readonly random?: () => number;
};

export type MergeWatch = {
  /** Looks now, also at runs that were postponed after an error. Resolves after the look. */
  wake(): Promise<void>;
  close(): Promise<void>;
};

const FIRST_LOOK_MS = 500;

export function openMergeWatch(options: MergeWatchOptions): MergeWatch {
  const { monotonicMs, onProblem, pollMs, random = Math.random } = options;
  const troubles = createMergeTroubles({ monotonicMs, pollMs, onProblem });
  const poll = createPoll({
    task: () => lookAtAll(options, troubles, () => !poll.isOn),
    pauseMs: () => pollMs * (0.9 + 0.2 * random()),
    onError: (error) => onProblem(null, error),
  });
  poll.start(Math.min(FIRST_LOOK_MS, pollMs));
  return {
    wake() {
      troubles.forgetWaits();
      return poll.now();
    },
    close: () => poll.stop(),
  };
}

async function lookAtAll(options: MergeWatchOptions, troubles: MergeTroubles, isClosed: () => boolean): Promise<void> {
  const waiting = new Set<string>();
  for (const runId of await options.store.activeRuns()) {
    if (isClosed()) return;
    const found = await findWaiting(runId, options);
    if (found === undefined) continue;
    waiting.add(runId);
    if (troubles.isPutOff(runId)) continue;
    try {
      await lookAt(found.run, found.waits, options, troubles);
    } catch (error) {
      troubles.putOff(runId, messageOf(error));
    }
  }
  troubles.keepOnly(waiting);
  await options.afterLook?.();
}

async function findWaiting(
  runId: string,
  { store }: MergeWatchOptions,
): Promise<{ readonly run: Run; readonly waits: WaitingMerge } | undefined> {
  const run = (await store.loadRun(runId))?.run;
  // A paused run refuses every report, and would never take the same one again.
  if (run === undefined || run.paused) return undefined;
  const known = await store.loadFlow(run.flowHash);
  if (known === undefined) return undefined;
  const waits = waitingMerge(known, run);
  return waits === undefined ? undefined : { run, waits };
}

async function lookAt(
  run: Run,
  waits: WaitingMerge,
  options: MergeWatchOptions,
  troubles: MergeTroubles,
): Promise<void> {
  const landed = landedRecord(await options.store.attempts(run.id));
  if (landed === undefined)
    return troubles.report(run.id, "nothing is recorded of its pull request; passrail done --force ends the wait");
  const forge = await options.forgeOf(projectOf(run));
  if (!forge.ok) return troubles.putOff(run.id, forge.error.message);
  const seen = await forge.value.look(requestOf(landed));
  if (!seen.ok) return troubles.putOff(run.id, seen.error.message);
  troubles.recovered(run.id);
  const state = seen.value;
  if (state.state === "open" && state.note !== null) troubles.report(run.id, state.note);
  const found = reportOf(state, landed);
  if (found === undefined) return;
  // A commit that was merged elsewhere must be local before other tickets build on it.
  const kept = state.state === "merged" ? await forge.value.keep(state.commit) : undefined;
  if (kept?.ok === false) return troubles.putOff(run.id, kept.error.message);
  const key = state.state === "revise" ? state.key : state.state;
  const clean = withoutSecrets(found, options.redact);
  await report(options.engine, run, waits, { report: clean, key, actor: "agent:forge" });
}

function withoutSecrets(report: Report, redact: (text: string) => string): Report {
  const { issues = [], summary = "" } = report;
  if (issues.length === 0) return report;
  const clean = issues.map((issue) =>
    typeof issue === "string" ? redact(issue) : { ...issue, description: redact(issue.description) },
  );
  return { ...report, issues: clean, summary: redact(summary) };
}
