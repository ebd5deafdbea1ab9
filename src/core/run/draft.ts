// A decision in the making: the run as it is so far, the events that led there, the commands that follow.
// `emit` is the only way to change it, so that every change of a run is an event.

import type { Command } from "./command.ts";
import type { Actor, EventBody, RunEvent } from "./event.ts";
import { evolve } from "./evolve.ts";
import type { Flow } from "../flow/flow.ts";
import type { Run } from "./run.ts";

export type Draft = {
  readonly flow: Flow;
  readonly at: string;
  run: Run;
  readonly events: RunEvent[];
  readonly commands: Command[];
};

export function emit(draft: Draft, body: EventBody, actor: Actor = "engine"): void {
  const event: RunEvent = { ...body, at: draft.at, actor };
  draft.events.push(event);
  draft.run = evolve(draft.run, event);
}

/** The source's status word changes; nothing is recorded when it stays. */
export function showStatus(draft: Draft, word: string | undefined): void {
  if (word === undefined || word === draft.run.word) return;
  emit(draft, { type: "status.changed", from: draft.run.word, to: word });
}

/** A message to a person; `item` is the number of the inbox item that it is about. */
type Notice = { readonly to: string; readonly event: string; readonly text: string; readonly item?: number };

export function tell(draft: Draft, { to, event, text, item }: Notice): void {
  const key = `${event}:${draft.run.items}:${draft.run.handoffs}:${draft.events.length}`;
  draft.commands.push({ type: "notify", key, to, event, text, item: item ?? null });
}
