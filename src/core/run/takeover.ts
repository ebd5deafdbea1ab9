// A person takes over a stage: its agent ends, and the person works in its session and its workspace until they hand both back. Then the same
// stage continues in the same session. A takeover gives no verdict, so every gate and every check still comes.
//
//   takeover.requested ──▶ takeover.prepared ──▶ handback.requested ──▶ handback.settled ──▶ the stage is ready again
//     (a person)            (the engine)   ▲       (a person)        │     (the engine)
//                                          └─────────────────────────┘ handback.failed

import { type Draft, emit } from "./draft.ts";
import { ownCommand } from "../flow/own-command.ts";
import { handOffAgain } from "./handoff.ts";
import { currentTrack, endCurrent } from "./interventions.ts";
import { MESSAGE_CHARS } from "./message.ts";
import { ready, stop } from "./routing.ts";
import { type Carry, takenOver, type Track } from "./run.ts";
import { findWork } from "./sequence.ts";
import type { Signal } from "./signal.ts";

export function takeoverRequested(draft: Draft, signal: Signal & { type: "takeover.requested" }): string | undefined {
  const { run, flow } = draft;
  const taken = takenOver(run)?.track;
  if (taken !== undefined) return `${taken.by} has taken over ${taken.stage} already, since ${taken.since}`;
  const found = currentTrack(run, signal.stage);
  if (typeof found === "string") return found;
  const { name, track } = found;
  const stage = findWork(flow, run, name, track.stage);
  if (stage?.kind !== "agent" || ownCommand(stage) !== null) return `no agent works at ${track.stage}`;
  if (track.at === "waiting" || track.at === "taken")
    return `${stage.id} waits for an answer; give it first, and take over when its agent works`;
  if (track.at === "running" && track.outside === true)
    return `${stage.shownAgent} works on ${stage.id} outside, where Passrail cannot reach it`;
  const attempt = track.at === "stopped" ? (run.stages[stage.id]?.attempts ?? 0) : track.attempt;
  endCurrent(draft, name, track, "taken over by a person", signal.actor);
  const { untaken: _closed, ...carry } = track.carry;
  // A stage that stopped has closed its handoff.
  const isOpen = carry.handoff > 0 || track.at !== "stopped";
  const handoff = isOpen ? carry.handoff : handOffAgain(draft, name, stage, carry);
  const kept: Carry = { ...carry, handoff };
  emit(draft, { type: "stage.taken_over", track: name, stage: stage.id, attempt, carry: kept }, signal.actor);
  return undefined;
}

export function takeoverPrepared(draft: Draft, signal: Signal & { type: "takeover.prepared" }): string | undefined {
  const found = takenAt(draft, signal);
  if (found === undefined) return NOT_TAKEN;
  if (found.track.lent !== undefined) return "the workspace is the person's already";
  const { name, track } = found;
  const { stage, attempt } = track;
  emit(draft, { type: "takeover.prepared", track: name, stage, attempt, lent: signal.lent });
  return undefined;
}

export function takeoverFailed(draft: Draft, signal: Signal & { type: "takeover.failed" }): string | undefined {
  const found = takenAt(draft, signal);
  if (found === undefined || found.track.lent !== undefined) return NOT_TAKEN;
  const { name, track } = found;
  const stage = findWork(draft.flow, draft.run, name, track.stage);
  if (stage === undefined) return `the flow has no stage ${track.stage}`;
  const { attempt, by } = track;
  const { handoff: number } = track.carry;
  const carry: Carry = number > 0 ? { ...track.carry, untaken: true } : track.carry;
  if (number > 0) emit(draft, { type: "handoff.withdrawn", track: name, number, reason: signal.reason });
  stop(draft, { track: name, stage, attempt, carry }, undefined, `no workspace for ${by}: ${signal.reason}`);
  return undefined;
}

export function handbackRequested(draft: Draft, signal: Signal & { type: "handback.requested" }): string | undefined {
  const found = takenOver(draft.run);
  if (found === undefined) return "no stage of this run is taken over";
  const { name, track } = found;
  const { stage, attempt } = track;
  if (signal.note.length > MESSAGE_CHARS) return `the note is longer than ${MESSAGE_CHARS} characters`;
  if (track.lent === undefined) return `the agent of ${stage} is still ending`;
  if (track.returning !== undefined) return `${track.returning.by} is handing it back already`;
  const { note, discard } = signal;
  emit(draft, { type: "handback.requested", track: name, stage, attempt, note, discard }, signal.actor);
  return undefined;
}

export function handbackSettled(draft: Draft, signal: Signal & { type: "handback.settled" }): string | undefined {
  const found = takenAt(draft, signal);
  if (found?.track.returning === undefined) return NOT_TAKEN;
  const { name, track } = found;
  const stage = findWork(draft.flow, draft.run, name, track.stage);
  if (stage === undefined) return `the flow has no stage ${track.stage}`;
  const { by, note } = found.track.returning;
  const handedBack = { by, note, ...signal.work };
  emit(draft, { type: "stage.handed_back", track: name, stage: stage.id, attempt: track.attempt, ...handedBack });
  const { cutOff: _before, ...carry } = track.carry;
  ready(draft, { track: name, stage, carry: { ...carry, handedBack } });
  return undefined;
}

export function handbackFailed(draft: Draft, signal: Signal & { type: "handback.failed" }): string | undefined {
  const found = takenAt(draft, signal);
  if (found?.track.returning === undefined) return NOT_TAKEN;
  const { name, track } = found;
  const { stage, attempt } = track;
  emit(draft, { type: "handback.refused", track: name, stage, attempt, reason: signal.reason });
  return undefined;
}

const NOT_TAKEN = "this attempt is not taken over";

function takenAt(
  { run }: Draft,
  { stage, attempt }: { readonly stage: string; readonly attempt: number },
): { readonly name: string; readonly track: Track & { at: "taken" } } | undefined {
  const found = takenOver(run);
  return found?.track.stage === stage && found.track.attempt === attempt ? found : undefined;
}
