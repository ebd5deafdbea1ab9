// The record of an edge: who hands the work to whom. It says nothing about where a run goes.

import { type Draft, emit } from "./draft.ts";
import type { HandoffEdge } from "./event.ts";
import type { Stage } from "./flow.ts";
import type { Carry } from "./run.ts";
import { isWork } from "./sequence.ts";

/** Who sends the run onwards, and with what. */
export type Sender = {
  readonly track: string;
  readonly stage: Stage;
  readonly attempt: number;
  readonly carry: Omit<Carry, "handoff">;
};

/** Records the edge from the sender to a stage; the first stage has one only where the flow names who sends it. */
export function handOff(draft: Draft, sender: Sender, track: string, stage: Stage): number {
  const entry = draft.flow.handoffs.entry;
  if (sender.carry.from === "" && entry === undefined) return 0;
  return handOver(draft, sender, track, { toStage: stage.id, toAgent: isWork(stage) ? stage.shownAgent : null });
}

export function handOver(
  draft: Draft,
  sender: Sender,
  track: string,
  to: Pick<HandoffEdge, "toStage" | "toAgent">,
): number {
  const number = draft.run.handoffs + 1;
  const first = sender.carry.from === "";
  const fromAgent = isWork(sender.stage) ? sender.stage.shownAgent : null;
  emit(draft, {
    type: "handoff.created",
    track,
    number,
    fromStage: first ? null : sender.stage.id,
    fromAgent: first ? (draft.flow.handoffs.entry ?? null) : fromAgent,
    fromAttempt: sender.attempt,
    ...to,
    loop: sender.carry.loop,
  });
  return number;
}
