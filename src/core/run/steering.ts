// A person sends a message to the agent of a stage. The message is an event before it is sent; its delivery is another one.

import { type Draft, emit } from "./draft.ts";
import { ownCommand } from "../flow/own-command.ts";
import { currentTrack } from "./interventions.ts";
import { MESSAGE_CHARS, WAITING_MESSAGES, waitingMessages } from "./message.ts";
import { findWork } from "./sequence.ts";
import type { Signal } from "./signal.ts";

export function steered(draft: Draft, signal: Signal & { type: "steer.requested" }): string | undefined {
  const { run, flow } = draft;
  const text = signal.text.trim();
  if (text === "") return "the message is empty";
  if (text.length > MESSAGE_CHARS) return `the message is longer than ${MESSAGE_CHARS} characters`;
  const found = currentTrack(run, signal.stage);
  if (typeof found === "string") return found;
  const { name, track } = found;
  const stage = findWork(flow, run, name, track.stage);
  if (stage === undefined || stage.kind === "builtin" || ownCommand(stage) !== null)
    return `no agent works at ${track.stage}`;
  if (track.at === "taken") return `${track.by} has taken over ${stage.id}, and no agent works on it`;
  if (track.at === "running" && track.outside === true)
    return `${stage.shownAgent} works on ${stage.id} outside, where Passrail cannot reach it`;
  if (waitingMessages(run).length >= WAITING_MESSAGES)
    return `${WAITING_MESSAGES} messages wait for an agent already; they come first`;
  const isCurrent = track.at === "running" || track.at === "ready";
  const attempt = isCurrent ? track.attempt : (run.stages[stage.id]?.attempts ?? 0) + 1;
  const number = (run.messages?.last ?? 0) + 1;
  emit(draft, { type: "message.sent", track: name, stage: stage.id, attempt, number, text }, signal.actor);
  return undefined;
}

export function messageHeard(draft: Draft, signal: Signal & { type: "message.heard" }): string | undefined {
  const { number, stage, attempt, way } = signal;
  if (!waitingMessages(draft.run, stage).some((each) => each.number === number))
    return `message ${number} does not wait at ${stage}`;
  emit(draft, { type: "message.delivered", stage, attempt, number, way });
  return undefined;
}
