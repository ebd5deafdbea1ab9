// Short messages about finished acts. They wait here until the list that shows them is there.

import type { Tone } from "../base/status.ts";

export type Message = { readonly text: string; readonly tone: Tone };

type Show = (message: Message) => void;

let waiting: readonly Message[] = [];
let show: Show | undefined;
const watchers = new Set<() => void>();

export function toast(text: string, tone: Tone = "good"): void {
  const message = { text, tone };
  if (show !== undefined) return show(message);
  waiting = [...waiting, message];
  for (const watcher of watchers) watcher();
}

export function waitingMessages(): readonly Message[] {
  return waiting;
}

export function watchMessages(changed: () => void): () => void {
  watchers.add(changed);
  return () => watchers.delete(changed);
}

/** The list takes them over: those that wait, and all that come. */
export function takeMessages(by: Show): () => void {
  show = by;
  for (const message of waiting) by(message);
  waiting = [];
  return () => {
    show = undefined;
  };
}
