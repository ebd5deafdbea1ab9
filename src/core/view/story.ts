// Source 003's view of a story, derived from its handoffs: the current agent and phase, the payload of each row, and the stale rows.
// The table of transitions comes from the flow. Nothing here decides about a run.

import type { Flow } from "../flow/flow.ts";
import type { JsonObject } from "../json.ts";
import type { Run, Subject } from "../run/run.ts";
import { findWork, isWork } from "../run/sequence.ts";

/** The columns of a handoff that these views need; a stored handoff has them. */
export type StoryHandoff = {
  readonly id: number;
  readonly number: number;
  readonly fromStage: string | null;
  readonly fromAgent: string | null;
  readonly fromAttempt: number;
  readonly toAgent: string | null;
  readonly state: "pending" | "accepted" | "done" | "rejected" | "withdrawn" | "expired";
  readonly rejectionReason: string | null;
  readonly createdAt: string;
  readonly added: JsonObject | null;
};

/** Without people's words. */
type Edge = Omit<StoryHandoff, "added">;

export type StoryState = { readonly currentAgent: string | null; readonly phase: string | null };

/**
 * The agent that has the story: the receiver of the newest handoff that it has not answered with a handoff. One whose work has ended
 * without a handoff has crashed or given up, and is no longer current, unless it waits for the answer to a question (`asking`).
 */
export function storyState(flow: Flow, handoffs: readonly StoryHandoff[], asking: readonly string[] = []): StoryState {
  const rows = [...handoffs].sort((a, b) => a.id - b.id);
  const open = rows.findLast((row, index) => {
    if (row.toAgent === null || outwardStatus(row.state) === "rejected") return false;
    return !rows.slice(index + 1).some((later) => later.fromAgent === row.toAgent);
  });
  if (open === undefined) return NOBODY;
  if (open.toAgent === flow.handoffs.exit && open.fromStage !== null) {
    return { currentAgent: null, phase: flow.words.status.completed ?? "complete" };
  }
  if (open.state === "done" && !asking.includes(open.toAgent ?? "")) return NOBODY;
  return { currentAgent: open.toAgent, phase: phaseOf(flow, open.toAgent) };
}

const NOBODY: StoryState = { currentAgent: null, phase: null };

/** The agents that wait for a person's answer to a question of theirs. */
export function askingAgents(flow: Flow, run: Run): readonly string[] {
  return Object.entries(run.tracks).flatMap(([name, track]) => {
    if (track.at !== "waiting" || (track.item.kind !== "question" && track.item.kind !== "choice")) return [];
    const agent = findWork(flow, run, name, track.stage)?.shownAgent;
    return agent === undefined ? [] : [agent];
  });
}

/** Three words outward, however many states there are inside. */
export function outwardStatus(state: StoryHandoff["state"]): "pending" | "accepted" | "rejected" {
  switch (state) {
    case "pending":
      return "pending";
    case "accepted":
    case "done":
      return "accepted";
    case "rejected":
    case "withdrawn":
    case "expired":
      return "rejected";
  }
}

export type Transition = { readonly from: string; readonly to: string };

/**
 * Which agent may create a handoff to which. Routes back count only if a stage names the stage it sends to; `prev` is the effect of a
 * receiver's reject, which needs no create.
 */
export function storyTransitions(flow: Flow): readonly Transition[] {
  const stages = flow.stages.filter(isWork);
  const agentOf = (id: string | undefined) => stages.find((stage) => stage.id === id)?.shownAgent;
  return stages.flatMap((stage, index): Transition[] => {
    const { entry, exit } = flow.handoffs;
    const from = stage.shownAgent;
    const next = stages[index + 1]?.shownAgent ?? exit;
    const back = agentOf(stage.route["revise"]?.goto);
    return [
      ...(index === 0 && entry !== undefined ? [{ from: entry, to: from }] : []),
      ...(next === undefined ? [] : [{ from, to: next }]),
      ...(back === undefined ? [] : [{ from, to: back }]),
    ];
  });
}

export function isValidTransition(flow: Flow, from: string, to: string): boolean {
  return storyTransitions(flow).some((valid) => valid.from === from && valid.to === to);
}

/** The agents of a story: the first sender, those who work, and the last receiver. */
export function storyAgents(flow: Flow): readonly string[] {
  const { entry, exit } = flow.handoffs;
  const working = flow.stages.filter(isWork).map((stage) => stage.shownAgent);
  return [...new Set([...(entry === undefined ? [] : [entry]), ...working, ...(exit === undefined ? [] : [exit])])];
}

/** Pending for longer than the limit; at exactly the limit it is not stale yet. */
export function isStale(handoff: Pick<StoryHandoff, "state" | "createdAt">, nowMs: number, limitMs: number): boolean {
  return handoff.state === "pending" && nowMs - Date.parse(handoff.createdAt) > limitMs;
}

/** Payloads by attempt, as agents gave them: `analyst` 1 -> its plan. */
export type PayloadOf = (stage: string, attempt: number) => JsonObject | undefined;

/**
 * The payload of a handoff: first the story, then its sender's payload; a returned handoff carries the sent payload, what its sender gave
 * with it, and the reason for the refusal. Each also carries people's words to its agents meanwhile.
 */
export function handoffPayload(
  handoffs: readonly StoryHandoff[],
  handoff: StoryHandoff,
  subject: Subject,
  payloadOf: PayloadOf,
): JsonObject | null {
  const carried = carriedPayload(handoffs, handoff, subject, payloadOf);
  return handoff.added === null ? carried : { ...carried, ...handoff.added };
}

/** Without people's words: each handoff has its own. */
function carriedPayload(
  handoffs: readonly Edge[],
  handoff: Edge,
  subject: Subject,
  payloadOf: PayloadOf,
): JsonObject | null {
  if (handoff.fromStage === null) return { story: { id: subject.id, title: subject.title, body: subject.body } };
  const own = payloadOf(handoff.fromStage, handoff.fromAttempt) ?? null;
  const [refused, ...before] = refusals(handoffs, handoff);
  if (refused === undefined) return own;
  const first = before.at(-1) ?? refused;
  const sent = handoffPayload([], { ...first, added: null }, subject, payloadOf);
  return { ...sent, ...own, rejection_reason: refused.rejectionReason ?? "", rejected_by: handoff.fromAgent };
}

/** The handoffs that this one returns, the newest first: a returned handoff may itself have been returned. */
function refusals(handoffs: readonly Edge[], handoff: Edge): readonly Edge[] {
  const refused = handoff.fromStage === null ? undefined : refusedBy(handoffs, handoff);
  return refused === undefined ? [] : [refused, ...refusals(handoffs, refused)];
}

/** The handoff that this one returns: the newest before it, from its receiver to its sender, that was rejected. */
function refusedBy(handoffs: readonly Edge[], handoff: Edge): Edge | undefined {
  const last = [...handoffs]
    .sort((a, b) => a.id - b.id)
    .findLast((row) => row.id < handoff.id && row.fromAgent === handoff.toAgent && row.toAgent === handoff.fromAgent);
  return last?.state === "rejected" ? last : undefined;
}

function phaseOf(flow: Flow, agent: string | null): string | null {
  return flow.stages.filter(isWork).find((stage) => stage.shownAgent === agent)?.status.running ?? null;
}
