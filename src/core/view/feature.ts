// Source 000's feature record: status, revision_count, current_agent and pipeline_log, derived from a run and its events.
// A view: it decides nothing, and a shown entry never changes, because events never do.

import type { RunEvent } from "../run/event.ts";
import { type Flow, MAIN_TRACK } from "../flow/flow.ts";
import type { Issue, Outcome } from "../flow/outcome.ts";
import { counterKey } from "../run/counting.ts";
import type { Run } from "../run/run.ts";
import { findWork } from "../run/sequence.ts";

export type PipelineLogEntry = {
  /** ISO 8601 UTC. */
  readonly timestamp: string;
  /** The agent in its flow's spelling; for decisions of people `human:<name>`. */
  readonly agent: string;
  readonly stage: string;
  /** The source's own word: a verdict, a gate's answer, a choice, HANDOFF, ESCALATED, ANSWERED, RETRY or SKIP. */
  readonly verdict: string;
  readonly issues?: readonly Issue[];
  readonly revision_loop?: number;
  /** A person's words with a decision, or their answer to a question. */
  readonly comment?: string;
};

export type FeatureRecord = {
  readonly status: string;
  readonly revision_count: number;
  readonly current_agent: string | null;
  readonly pipeline_log: readonly PipelineLogEntry[];
};

/** The feature's own column that shows a flow's counter. */
const COLUMN = "revision_count";

export function featureRecord(flow: Flow, events: readonly RunEvent[], run: Run): FeatureRecord {
  return {
    status: run.word,
    revision_count: revisionCount(flow, run),
    current_agent: currentAgent(flow, run),
    pipeline_log: pipelineLog(flow, events, run),
  };
}

function revisionCount(flow: Flow, run: Run): number {
  const [name, counter] = Object.entries(flow.counters).find(([, { column }]) => column === COLUMN) ?? [];
  if (name === undefined || counter === undefined) return 0;
  return run.counters[counterKey(counter, name, { track: MAIN_TRACK, stage: "" })]?.loops ?? 0;
}

/** The agent at work; null at a gate, in the queue and after the end. */
function currentAgent(flow: Flow, run: Run): string | null {
  for (const [track, state] of Object.entries(run.tracks)) {
    if (state.at === "running") return findWork(flow, run, track, state.stage)?.shownAgent ?? null;
  }
  return null;
}

/** One entry per handoff, verdict, gate answer and escalation, in order. */
function pipelineLog(flow: Flow, events: readonly RunEvent[], run: Run): readonly PipelineLogEntry[] {
  const loops = new Map<string, number>();
  // A postponed attempt is no verdict about the work: the next attempt counts.
  const putOff = new Set(
    events.flatMap((event) => (event.type === "stage.postponed" ? [`${event.stage}:${event.attempt}`] : [])),
  );
  return events.flatMap((event) => {
    if (event.type === "stage.finished" && putOff.has(`${event.stage}:${event.attempt}`)) return [];
    if (event.type === "stage.ready") loops.set(`${event.stage}:${event.attempt}`, event.carry.loop);
    const entry = entryOf(flow, run, event, loops);
    return entry === undefined ? [] : [{ timestamp: event.at, ...entry }];
  });
}

function entryOf(
  flow: Flow,
  run: Run,
  event: RunEvent,
  loops: ReadonlyMap<string, number>,
): Omit<PipelineLogEntry, "timestamp"> | undefined {
  if (event.type === "handoff.created") {
    const { toAgent, toStage, loop } = event;
    return { agent: toAgent ?? "engine", stage: toStage ?? "end", verdict: "HANDOFF", ...loopOf(loop) };
  }
  if (event.type === "stage.finished") {
    const { stage, attempt, outcome } = event;
    const agent = findWork(flow, run, event.track, stage)?.shownAgent ?? stage;
    const loop = loops.get(`${stage}:${attempt}`) ?? 0;
    return { agent, stage, verdict: wordOf(outcome), ...issuesOf(outcome.issues), ...loopOf(loop) };
  }
  if (event.type === "gate.answered") {
    const { actor, stage, answer, comment, issues = [] } = event;
    return { agent: actor, stage, verdict: answer, ...issuesOf(issues), ...commentOf(comment) };
  }
  // A person started the stage again, or went back to it.
  if (event.type === "stage.ready" && event.actor.startsWith("human:"))
    return { agent: event.actor, stage: event.stage, verdict: "RETRY", ...commentOf(event.carry.said ?? "") };
  if (event.type === "stage.skipped" && event.actor.startsWith("human:"))
    return { agent: event.actor, stage: event.stage, verdict: "SKIP", ...commentOf(event.reason) };
  if (event.type === "question.answered") {
    const { actor, stage, answer } = event;
    return { agent: actor, stage, verdict: "ANSWERED", ...commentOf(answer) };
  }
  if (event.type === "escalation.opened") {
    const { item, carry } = event;
    const issues = item.kind === "escalation" ? item.issues : [];
    return { agent: "engine", stage: item.stage, verdict: "ESCALATED", ...issuesOf(issues), ...loopOf(carry.loop) };
  }
  if (event.type === "escalation.resolved") {
    const { actor, stage, choice, note, issues = [] } = event;
    return { agent: actor, stage, verdict: choice, ...issuesOf(issues), ...commentOf(note) };
  }
  return undefined;
}

/** An attempt without a verdict is logged under its health, so that no row is empty. */
function wordOf({ word, verdict, health }: Outcome): string {
  return word ?? verdict ?? health;
}

function issuesOf(issues: readonly Issue[]): { issues?: readonly Issue[] } {
  return issues.length === 0 ? {} : { issues };
}

function commentOf(comment: string): { comment?: string } {
  return comment === "" ? {} : { comment };
}

function loopOf(loop: number): { revision_loop?: number } {
  return loop === 0 ? {} : { revision_loop: loop };
}
