// The record of an edge: which stage hands the work to which. It does not decide where a run goes.

import { type Draft, emit } from "./draft.ts";
import type { HandoffEdge } from "./event.ts";
import { MAIN_TRACK, type Stage } from "../flow/flow.ts";
import type { Carry } from "./run.ts";
import { optional } from "../optional.ts";
import { findStage, isWork } from "./sequence.ts";
import { toldPayload } from "./told.ts";

/** The stage or person that sends the run onwards, and the carry. */
export type Sender = {
  readonly track: string;
  readonly stage: Stage;
  readonly attempt: number;
  readonly carry: Omit<Carry, "handoff">;
};

/** Whether a stage continues with a handoff that was never taken. */
export function isSentAgain({ stage, carry }: Sender, to: Stage): boolean {
  return carry.untaken === true && stage.id === to.id;
}

/** Whether a stage continues with the work that it was handed: the next handoff comes from the sender of that work. */
function goesOn({ stage, carry }: Sender, to: Stage): boolean {
  return carry.origin !== undefined && stage.id === to.id;
}

/** Who sent the work that an attempt was handed. */
export function senderOf({ origin, from }: Pick<Carry, "origin" | "from">): string {
  return origin ?? from;
}

/** Records the edge from the sender to a stage; the first stage has one only if the flow names its sender. */
export function handOff(draft: Draft, sender: Sender, track: string, stage: Stage): number {
  const isAgain = isSentAgain(sender, stage) || goesOn(sender, stage);
  const from = isAgain ? originOf(draft, track, sender) : sender;
  const entry = draft.flow.handoffs.entry;
  if (from.carry.from === "" && entry === undefined) return 0;
  return handOver(draft, from, track, { toStage: stage.id, toAgent: isWork(stage) ? stage.shownAgent : null });
}

/** Continues a stage whose handoff is closed: a new handoff from the same sender. */
export function handOffAgain(draft: Draft, track: string, stage: Stage, carry: Carry): number {
  const sender: Sender = { track, stage, attempt: draft.run.stages[stage.id]?.attempts ?? 0, carry };
  return handOff(draft, { ...sender, carry: { ...carry, untaken: true } }, track, stage);
}

export function handOver(
  draft: Draft,
  sender: Sender,
  track: string,
  to: Pick<HandoffEdge, "toStage" | "toAgent">,
): number {
  const number = draft.run.handoffs + 1;
  const { stage, attempt, carry } = sender;
  const first = carry.from === "";
  const fromAgent = isWork(stage) ? stage.shownAgent : null;
  emit(draft, {
    type: "handoff.created",
    track,
    number,
    fromStage: first ? null : stage.id,
    fromAgent: first ? (draft.flow.handoffs.entry ?? null) : fromAgent,
    fromAttempt: attempt,
    ...to,
    loop: carry.loop,
    ...optional({ added: toldPayload(carry) }),
  });
  return number;
}

/** The stage that sent the closed handoff, with its last attempt. */
function originOf(draft: Draft, track: string, sender: Sender): Sender {
  const from = senderOf(sender.carry);
  const carry = { ...sender.carry, from };
  const stage = findStage(draft.flow, draft.run, track, from) ?? findStage(draft.flow, draft.run, MAIN_TRACK, from);
  const attempt = draft.run.stages[from]?.attempts ?? 0;
  return stage === undefined ? { ...sender, carry, attempt } : { ...sender, carry, stage, attempt };
}

/** A stage that leads elsewhere sends in its own name, even if it never took its handoff. */
export function inOwnName(sender: Sender): Sender {
  const { untaken, ...carry } = sender.carry;
  return untaken === true ? { ...sender, carry: { ...carry, from: sender.stage.id } } : sender;
}
