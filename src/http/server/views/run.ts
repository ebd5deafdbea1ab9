// One run on the wire: state, stages with their attempts, counters, open items, handoffs.

import type { z } from "zod";
import type { attemptSchema, runDetailSchema, stageSchema } from "../../contract/schemas/run.ts";
import type { ResolvedFlow } from "../../../core/flow/agent.ts";
import type { Flow } from "../../../core/flow/flow.ts";
import { counterRows } from "../../../core/run/counters.ts";
import { openItems, type Run } from "../../../core/run/run.ts";
import { findStage } from "../../../core/run/sequence.ts";
import { waysOf } from "../../../core/run/targets.ts";
import type { AttemptRow } from "../../../core/view/attempt-row.ts";
import { stageRows } from "../../../core/view/stage-list.ts";
import type { AttemptRecord, HandoffRecord, RunSummary } from "../../../store/store.ts";
import { showItem } from "./inbox.ts";

type Shown = z.input<typeof runDetailSchema>;
type ShownStage = z.input<typeof stageSchema>;
type ShownAttempt = z.input<typeof attemptSchema>;

export type ShownRunFacts = {
  readonly run: Run;
  readonly version: number;
  readonly itemVersion: string;
  readonly summary: RunSummary;
  readonly resolved: ResolvedFlow;
  readonly attempts: readonly AttemptRecord[];
  readonly handoffs: readonly HandoffRecord[];
};

export function showRun({ run, version, itemVersion, summary, resolved, attempts, handoffs }: ShownRunFacts): Shown {
  const { flow } = resolved;
  return {
    ...summary,
    subject: run.subject,
    version,
    flowHash: run.flowHash,
    paused: run.paused,
    reason: run.status === "stopped" || run.status === "canceled" ? run.reason : null,
    endedAt: run.status === "completed" || run.status === "canceled" ? run.endedAt : null,
    resumesAt: resumesAt(run),
    counters: counterRows(flow, run).map((row) => ({ ...row })),
    spent: run.spent ?? null,
    stages: showStages(flow, run, attempts),
    items: openItems(run).map((item) =>
      showItem({ run, runNumber: summary.number, resolved, version: itemVersion }, item),
    ),
    handoffs: handoffs.map((handoff) => ({ ...handoff })),
  };
}

/** The earliest time that a stage waits for. */
function resumesAt(run: Run): string | null {
  if (run.status !== "running" || run.paused) return null;
  const times = Object.values(run.tracks).flatMap((track) =>
    track.at === "ready" && track.notBefore !== undefined ? [track.notBefore] : [],
  );
  return times.toSorted()[0] ?? null;
}

function showStages(flow: Flow, run: Run, attempts: readonly AttemptRecord[]): ShownStage[] {
  const rows = stageRows(flow, run, attempts, Date.now());
  return rows.map((row) => {
    const stage = findStage(flow, run, row.track, row.id);
    const ways = stage === undefined ? [] : waysOf(flow, run, row.track, stage);
    return {
      ...row,
      ways: ways.map((way) => ({ ...way, to: [...way.to] })),
      attempts: row.attempts.map(showAttempt),
    };
  });
}

/** The wire calls the cause `reason`, and leaves durations to the reader. */
function showAttempt({ canonical: _key, durationMs: _duration, cause, ...row }: AttemptRow): ShownAttempt {
  return { ...row, reason: cause, issues: [...row.issues], questions: [...row.questions] };
}
