// Source 001's `.brain/pipeline-state.json` as a view of a run and its events. Only the shape is made here; nothing is written.

import type { RunEvent } from "../run/event.ts";
import type { Flow } from "../flow/flow.ts";
import type { Outcome, RoutedStage } from "../flow/outcome.ts";
import type { Run } from "../run/run.ts";
import { runFacts } from "../run/facts.ts";
import { optional } from "../optional.ts";

export type PipelineState = {
  readonly project: string;
  readonly task: string;
  /** The stages that were chosen, in order; empty until the router has answered. */
  readonly agentPipeline: readonly RoutedStage[];
  readonly status: "running" | "completed" | "failed" | "stalled" | "canceled";
  /** The stage at which the run stands; null after its end. */
  readonly phase: string | null;
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly retries: number;
  /** The last verdict of a run that ended or stopped, in the source's word. */
  readonly finalVerdict?: string;
  readonly error?: string;
};

export function pipelineState(flow: Flow, events: readonly RunEvent[], run: Run): PipelineState {
  const status = statusOf(flow, run);
  const last = lastVerdict(events);
  const error = errorOf(run);
  return {
    project: textOf(run),
    task: run.subject.title,
    agentPipeline: agentsOf(flow, run),
    status,
    phase: phaseOf(run),
    startedAt: run.createdAt,
    updatedAt: events.at(-1)?.at ?? run.createdAt,
    retries: Object.values(run.counters).reduce((sum, { loops }) => sum + loops, 0),
    ...(last === undefined || status === "running" || status === "stalled" ? {} : { finalVerdict: last }),
    ...optional({ error }),
  };
}

/** A run that waits for a person is still under way; the source knows no word for waiting. */
function statusOf(flow: Flow, run: Run): PipelineState["status"] {
  switch (run.status) {
    case "completed":
    case "canceled":
      return run.status;
    case "stopped":
      return "failed";
    case "running":
    case "waiting":
      return run.word === flow.words.status.stalled ? "stalled" : "running";
  }
}

function agentsOf(flow: Flow, run: Run): readonly RoutedStage[] {
  const stages = flow.stages.flatMap((stage) => (stage.kind === "dynamic" ? (run.expanded[stage.id] ?? []) : []));
  return stages.map(({ agent, teams }) => ({ agent, teams }));
}

function phaseOf(run: Run): string | null {
  for (const track of Object.values(run.tracks)) if (track.at !== "done") return track.stage;
  return null;
}

/** Stages that only work say nothing here; the word of the last one that judged counts. */
function lastVerdict(events: readonly RunEvent[]): string | undefined {
  const judged = events.flatMap((event): Outcome[] => (event.type === "stage.finished" ? [event.outcome] : []));
  const last = judged.findLast(({ word, verdict }) => word !== undefined || (verdict ?? "pass") !== "pass");
  return last?.word ?? last?.verdict?.toUpperCase();
}

function errorOf(run: Run): string | undefined {
  return run.status === "stopped" || run.status === "canceled" ? run.reason : undefined;
}

function textOf(run: Run): string {
  return runFacts(run).config.project ?? "";
}
