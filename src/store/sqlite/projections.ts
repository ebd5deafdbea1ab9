// What an event means for the rows that people ask for: attempts, handoffs, inbox, spending. Pure: events in, row changes out.
// The run itself is not made here; that is `evolve`.

import { dayOf, toMicros } from "../../core/budget/budget.ts";
import type { HandoffEdge, RunEvent } from "../../core/run/event.ts";
import type { InboxItem } from "../../core/run/run.ts";
import type { AttemptRecord, HandoffRecord } from "../store.ts";

type AttemptKey = { readonly stage: string; readonly attempt: number };

export type RowChange =
  | ({
      readonly type: "open-attempt";
      readonly track: string;
      readonly status: AttemptRecord["status"];
      readonly handoff: number;
      readonly readySeq: number;
      readonly readyAt: string;
      readonly startedAt: string | null;
    } & AttemptKey)
  | ({ readonly type: "start-attempt"; readonly at: string } & AttemptKey)
  | ({
      readonly type: "end-attempt";
      readonly status: "done" | "interrupted" | "canceled";
      readonly at: string;
      readonly outcomeSeq: number | null;
    } & AttemptKey)
  | ({
      readonly type: "open-handoff";
      readonly track: string;
      readonly state: HandoffRecord["state"];
      readonly createdAt: string;
      readonly processedAt: string | null;
    } & HandoffEdge)
  | { readonly type: "accept-handoff"; readonly number: number; readonly at: string }
  /** The handoff that brought this attempt has done its work, unless it was sent back. */
  | ({ readonly type: "finish-handoff"; readonly at: string } & AttemptKey)
  /** The attempt is put off: the handoff that brought it still has its work before it. */
  | ({ readonly type: "reopen-handoff" } & AttemptKey)
  | {
      readonly type: "end-handoff";
      readonly number: number;
      readonly state: "rejected" | "withdrawn" | "expired";
      readonly reason: string;
      readonly at: string;
    }
  /** A person answered the gate: the handoff that brought the run there is done. */
  | { readonly type: "answer-gate"; readonly stage: string; readonly at: string }
  /** The run withdrew the item. If it was a gate's, its handoff goes with it. */
  | { readonly type: "withdraw-gate"; readonly number: number; readonly reason: string; readonly at: string }
  | { readonly type: "open-item"; readonly item: InboxItem }
  | { readonly type: "close-item"; readonly number: number }
  | { readonly type: "close-items" }
  | ({ readonly type: "reserve"; readonly usd: number; readonly tokens: number } & AttemptKey & Spender)
  | ({
      readonly type: "settle";
      readonly usd: number | null;
      readonly inputTokens: number | null;
      readonly outputTokens: number | null;
      readonly cachedTokens: number | null;
      readonly seq: number;
    } & AttemptKey &
      Spender);

/** Who spends, and what it is counted under. Money is in millionths of a dollar. */
type Spender = {
  readonly agent: string;
  readonly runner: string;
  readonly model: string | null;
  readonly ticket: string;
  readonly day: string;
  readonly at: string;
};

/**
 * The row changes of one commit, in order. A handoff is usually created and accepted, and its attempt made ready and started, in
 * the same commit: those become one row written once.
 */
export function rowChanges(events: readonly RunEvent[], firstSeq: number): readonly RowChange[] {
  const changes: RowChange[] = [];
  for (const [index, event] of events.entries()) {
    for (const change of changesOf(event, firstSeq + index)) {
      if (!joinWithOpening(changes, change)) changes.push(change);
    }
  }
  return changes;
}

function changesOf(event: RunEvent, seq: number): readonly RowChange[] {
  const { at } = event;
  switch (event.type) {
    case "stage.ready": {
      const { stage, attempt, track, carry } = event;
      const opened = { status: "ready", handoff: carry.handoff, readySeq: seq, readyAt: at, startedAt: null } as const;
      return [{ type: "open-attempt", stage, attempt, track, ...opened }];
    }
    case "stage.started": {
      const { stage, attempt, reserved } = event;
      const started: RowChange = { type: "start-attempt", stage, attempt, at };
      if (reserved === undefined) return [started];
      const usd = toMicros(reserved.usd);
      return [started, { type: "reserve", stage, attempt, ...reserved, usd, day: dayOf(at), at }];
    }
    case "usage.recorded": {
      const { stage, attempt, agent, runner, model, ticket, usage } = event;
      const spender = { agent, runner, model, ticket, day: dayOf(at), at };
      return [{ type: "settle", stage, attempt, ...spender, ...usage, usd: toMicros(usage.usd), seq }];
    }
    case "stage.postponed":
      return [{ type: "reopen-handoff", stage: event.stage, attempt: event.attempt }];
    case "stage.finished":
      return [
        { type: "end-attempt", stage: event.stage, attempt: event.attempt, status: "done", at, outcomeSeq: seq },
        { type: "finish-handoff", stage: event.stage, attempt: event.attempt, at },
      ];
    case "stage.interrupted":
      return [
        {
          type: "end-attempt",
          stage: event.stage,
          attempt: event.attempt,
          status: "interrupted",
          at,
          outcomeSeq: null,
        },
      ];
    case "stage.canceled":
      return [
        { type: "end-attempt", stage: event.stage, attempt: event.attempt, status: "canceled", at, outcomeSeq: null },
      ];
    case "handoff.created":
      return [{ ...event, type: "open-handoff", state: "pending", createdAt: at, processedAt: null }];
    case "handoff.accepted":
      return [{ type: "accept-handoff", number: event.number, at }];
    case "handoff.rejected":
      return [{ type: "end-handoff", number: event.number, state: "rejected", reason: event.reason, at }];
    case "handoff.withdrawn":
      return [{ type: "end-handoff", number: event.number, state: "withdrawn", reason: event.reason, at }];
    case "handoff.expired":
      return [{ type: "end-handoff", number: event.number, state: "expired", reason: event.reason, at }];
    case "gate.opened":
    case "question.asked":
    case "escalation.opened":
    case "budget.reached":
      return [{ type: "open-item", item: event.item }];
    case "gate.answered":
      return [
        { type: "answer-gate", stage: event.stage, at },
        { type: "close-item", number: event.number },
      ];
    case "item.withdrawn":
      return [
        { type: "withdraw-gate", number: event.number, reason: event.reason, at },
        { type: "close-item", number: event.number },
      ];
    case "question.answered":
    case "escalation.resolved":
    case "budget.answered":
      return [{ type: "close-item", number: event.number }];
    case "run.canceled":
    case "run.completed":
      return [{ type: "close-items" }];
    case "run.created":
    case "run.waiting":
    case "run.resumed":
    case "run.paused":
    case "run.unpaused":
    case "run.stopped":
    case "run.stalled":
    case "stage.timed_out":
    case "stage.held":
    case "stage.skipped":
    case "stage.stopped":
    case "stage.expanded":
    case "tracks.forked":
    case "track.done":
    case "tracks.joined":
    case "counter.changed":
    case "counter.spent":
    case "way.taken":
    case "budget.raised":
    case "budget.warned":
    case "status.changed":
    case "ticket.edited":
    case "warning.raised":
    case "signal.ignored":
      return [];
  }
}

/** True when the change could be written into a row that this commit opens anyway. An end in between keeps the order visible. */
function joinWithOpening(changes: RowChange[], change: RowChange): boolean {
  if (change.type !== "start-attempt" && change.type !== "accept-handoff") return false;
  for (let index = changes.length - 1; index >= 0; index -= 1) {
    const earlier = changes[index];
    if (change.type === "start-attempt") {
      if (earlier?.type === "end-attempt") return false;
      if (earlier?.type !== "open-attempt" || earlier.stage !== change.stage || earlier.attempt !== change.attempt)
        continue;
      changes[index] = { ...earlier, status: "running", startedAt: change.at };
      return true;
    }
    if (earlier?.type === "finish-handoff" || earlier?.type === "end-handoff") return false;
    if (earlier?.type !== "open-handoff" || earlier.number !== change.number) continue;
    changes[index] = { ...earlier, state: "accepted", processedAt: change.at };
    return true;
  }
  return false;
}
