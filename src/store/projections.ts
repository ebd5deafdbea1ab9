// Translates events into changes of the rows that people ask for: attempts, handoffs, inbox, spending. Pure: events in, row changes out.
// `evolve` makes the run itself.

import { dayOf, toMicros } from "../core/budget/budget.ts";
import type { EventType, HandoffEdge, RunEvent } from "../core/run/event.ts";
import type { JsonObject } from "../core/json.ts";
import type { InboxItem } from "../core/run/run.ts";
import type { AttemptRecord, HandoffRecord } from "./store.ts";

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
      /** The id that the store gives it, if it keeps one. */
      readonly id?: number;
      readonly track: string;
      readonly state: HandoffRecord["state"];
      readonly createdAt: string;
      readonly processedAt: string | null;
      readonly added?: JsonObject;
    } & HandoffEdge)
  | { readonly type: "accept-handoff"; readonly number: number; readonly at: string }
  /** The handoff that brought this attempt has done its work, unless it was sent back. */
  | ({ readonly type: "finish-handoff"; readonly at: string } & AttemptKey)
  /** The attempt is postponed: the handoff that brought it is still open. */
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
  // The table pairs each type with its event; the compiler cannot follow that through a lookup.
  const changes = CHANGES[event.type] as (event: RunEvent, seq: number) => readonly RowChange[];
  return changes(event, seq);
}

type EventOf<T extends EventType> = Extract<RunEvent, { readonly type: T }>;
type ChangesByType = { readonly [T in EventType]: (event: EventOf<T>, seq: number) => readonly RowChange[] };

const NONE: readonly RowChange[] = [];

const CHANGES: ChangesByType = {
  "run.created": none,
  "run.imported": none,
  "run.waiting": none,
  "run.resumed": none,
  "run.paused": none,
  "run.unpaused": none,
  "run.stopped": none,
  "run.stalled": none,
  "findings.reviewed": none,
  "findings.answered": none,
  "findings.accepted": none,
  "run.canceled": () => [{ type: "close-items" }],
  "run.completed": () => [{ type: "close-items" }],
  "stage.ready": attemptOpened,
  "stage.held": none,
  "stage.released": none,
  "stage.started": attemptStarted,
  "stage.finished": ({ stage, attempt, at }, seq) => [
    { type: "end-attempt", stage, attempt, status: "done", at, outcomeSeq: seq },
    { type: "finish-handoff", stage, attempt, at },
  ],
  "stage.interrupted": ({ stage, attempt, at }) => [
    { type: "end-attempt", stage, attempt, status: "interrupted", at, outcomeSeq: null },
  ],
  "stage.canceled": ({ stage, attempt, at }) => [
    { type: "end-attempt", stage, attempt, status: "canceled", at, outcomeSeq: null },
  ],
  "stage.postponed": ({ stage, attempt }) => [{ type: "reopen-handoff", stage, attempt }],
  "stage.moved": ({ stage, attempt }) => [{ type: "reopen-handoff", stage, attempt }],
  "stage.timed_out": none,
  "stage.skipped": none,
  "stage.stopped": none,
  "stage.taken_over": none,
  "takeover.prepared": none,
  "handback.requested": none,
  "handback.refused": none,
  "stage.handed_back": none,
  "stage.expanded": none,
  "tracks.forked": none,
  "track.done": none,
  "tracks.joined": none,
  "handoff.created": (event) => [
    { ...event, type: "open-handoff", state: "pending", createdAt: event.at, processedAt: null },
  ],
  "handoff.accepted": ({ number, at }) => [{ type: "accept-handoff", number, at }],
  "handoff.rejected": ({ number, reason, at }) => [{ type: "end-handoff", number, state: "rejected", reason, at }],
  "handoff.withdrawn": ({ number, reason, at }) => [{ type: "end-handoff", number, state: "withdrawn", reason, at }],
  "handoff.expired": ({ number, reason, at }) => [{ type: "end-handoff", number, state: "expired", reason, at }],
  "gate.opened": itemOpened,
  "gate.answered": ({ stage, number, at }) => [
    { type: "answer-gate", stage, at },
    { type: "close-item", number },
  ],
  "question.asked": itemOpened,
  "question.answered": itemAnswered,
  "question.expired": none,
  // The same item, as it is without an agent that waits.
  "question.kept": ({ item }) => [
    { type: "close-item", number: item.number },
    { type: "open-item", item },
  ],
  "inputs.decided": none,
  "escalation.opened": itemOpened,
  "escalation.resolved": itemAnswered,
  "budget.reached": itemOpened,
  "budget.answered": itemAnswered,
  "budget.raised": none,
  "budget.warned": none,
  "item.withdrawn": ({ number, reason, at }) => [
    { type: "withdraw-gate", number, reason, at },
    { type: "close-item", number },
  ],
  "usage.recorded": usageSettled,
  "counter.changed": none,
  "counter.spent": none,
  "way.taken": none,
  "status.changed": none,
  "ticket.edited": none,
  "settings.renewed": none,
  "runners.chosen": none,
  "message.sent": none,
  "message.delivered": none,
  "outward.intended": none,
  "outward.seen": none,
  "work.undone": none,
  "warning.raised": none,
  "signal.ignored": none,
};

function none(): readonly RowChange[] {
  return NONE;
}

function attemptOpened(
  { stage, attempt, track, carry, at }: EventOf<"stage.ready">,
  seq: number,
): readonly RowChange[] {
  const opened = { status: "ready", handoff: carry.handoff, readySeq: seq, readyAt: at, startedAt: null } as const;
  return [{ type: "open-attempt", stage, attempt, track, ...opened }];
}

function attemptStarted({ stage, attempt, reserved, at }: EventOf<"stage.started">): readonly RowChange[] {
  const started: RowChange = { type: "start-attempt", stage, attempt, at };
  if (reserved === undefined) return [started];
  const usd = toMicros(reserved.usd);
  return [started, { type: "reserve", stage, attempt, ...reserved, usd, day: dayOf(at), at }];
}

function usageSettled(event: EventOf<"usage.recorded">, seq: number): readonly RowChange[] {
  const { stage, attempt, agent, runner, model, ticket, usage, at } = event;
  const spender = { agent, runner, model, ticket, day: dayOf(at), at };
  return [{ type: "settle", stage, attempt, ...spender, ...usage, usd: toMicros(usage.usd), seq }];
}

function itemOpened({ item }: { readonly item: InboxItem }): readonly RowChange[] {
  return [{ type: "open-item", item }];
}

function itemAnswered({ number }: { readonly number: number }): readonly RowChange[] {
  return [{ type: "close-item", number }];
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
