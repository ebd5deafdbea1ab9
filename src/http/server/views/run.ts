// One run on the wire: state, stages with their attempts, counters, open items, handoffs.

import type { z } from "zod";
import type { attemptSchema, runDetailSchema, stageSchema } from "../../contract/schemas/run.ts";
import type { Takeover } from "../../../app/takeover.ts";
import type { BudgetLimit } from "../../../core/budget/budget.ts";
import type { ResolvedFlow } from "../../../core/flow/agent.ts";
import type { Flow } from "../../../core/flow/flow.ts";
import { counterRows } from "../../../core/run/counters.ts";
import { lateLanding, withLate } from "../../../core/run/outward.ts";
import { openItems, type Run } from "../../../core/run/run.ts";
import { findStage } from "../../../core/run/sequence.ts";
import { waysOf } from "../../../core/run/targets.ts";
import type { AttemptRow } from "../../../core/view/attempt-row.ts";
import type { LandingPlace } from "../../../core/view/landing.ts";
import { unmergedVerbs } from "../../../core/view/loose-end-verb.ts";
import { runState } from "../../../core/view/run-state.ts";
import type { RunEnd } from "../../../core/view/run-end.ts";
import { evidenceTable } from "../../../core/view/evidence-table.ts";
import { messageRows } from "../../../core/view/messages.ts";
import { takeoverLine } from "../../../core/view/taken-over.ts";
import { loopRows } from "../../../core/view/loops.ts";
import { stageRows } from "../../../core/view/stage-list.ts";
import type { AttemptRecord, HandoffRecord, RunSummary } from "../../../store/store.ts";
import { findingRows } from "../../../core/view/findings.ts";
import { showFinding, showItem } from "./inbox.ts";

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
  readonly end: RunEnd | null;
  readonly takeover: Takeover | null;
  /** ISO 8601, UTC. */
  readonly now: string;
  readonly limit: BudgetLimit;
  /** Null without an open item. */
  readonly place: LandingPlace | null;
};

export function showRun({
  run,
  version,
  itemVersion,
  summary,
  resolved,
  attempts,
  handoffs,
  end,
  takeover,
  limit,
  place,
  now,
}: ShownRunFacts): Shown {
  const { flow } = resolved;
  return {
    ...summary,
    subject: run.subject,
    version,
    flowHash: run.flowHash,
    paused: run.paused,
    reason: run.status === "stopped" || run.status === "canceled" ? withLate(run.reason, run) : null,
    landedLate: landedLate(run),
    endedAt: run.status === "completed" || run.status === "canceled" ? run.endedAt : null,
    resumesAt: resumesAt(run),
    counters: counterRows(flow, run).map((row) => ({ ...row })),
    loops: loopRows(flow, run).map((row) => ({ ...row })),
    spent: run.spent ?? null,
    limit: { ...limit },
    messages: messageRows(resolved, run).map((row) => ({ ...row })),
    findings: findingRows(run).map(showFinding),
    stages: showStages(flow, run, attempts),
    items:
      place === null
        ? []
        : openItems(run).map((item) =>
            showItem({ run, runNumber: summary.number, resolved, version: itemVersion, place }, item),
          ),
    evidence: evidenceTable(attempts).map((line) => ({ ...line })),
    handoffs: handoffs.map((handoff) => ({ ...handoff })),
    state: { ...runState(resolved, run, Date.parse(now)) },
    takeover: takeover === null ? null : showTakeover(takeover),
    end: end === null ? null : showEnd(end, summary.number),
  };
}

function showTakeover(takeover: Takeover): NonNullable<Shown["takeover"]> {
  const { command, env } = takeover;
  return {
    ...takeover,
    command: command === null ? null : [...command],
    env: { ...env },
    line: takeoverLine(takeover),
  };
}

function landedLate(run: Run): Shown["landedLate"] {
  const late = lateLanding(run);
  if (late === undefined) return null;
  const { branch, target, seen } = late.act;
  return { commit: seen.commit, branch, target, url: seen.url, undoneBy: late.undoneBy };
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

function showEnd(end: RunEnd, number: number): NonNullable<Shown["end"]> {
  const commands = end.commands.map((each) => ({ ...each }));
  return { ...end, commands, verbs: unmergedVerbs(number, end).map((each) => ({ ...each })) };
}
