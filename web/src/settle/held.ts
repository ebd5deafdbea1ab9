// Acts of a person that can still be taken back: this page keeps them for a few seconds, then sends them. When the page is left they go out
// at once, because the person has decided. An act that cannot be sent is reported; nothing is kept to be sent later.

import { useSyncExternalStore } from "react";

export type HeldAct = {
  /** One act at a time about the same thing: the id of an item, of a run or of a ticket; of a batch one of its own. */
  readonly id: string;
  readonly title: string;
  /** The act, in the past tense: "Approved". */
  readonly done: string;
  /** Where the thing is, for a person who takes the act back. */
  readonly place: HeldPlace;
  /** Sends it and returns its result. `isLeaving`: the page is about to go, and the request must outlive it. */
  readonly send: (isLeaving: boolean) => void;
};

export type HeldPlace =
  | { readonly is: "item"; readonly item: string }
  | { readonly is: "run"; readonly run: string }
  | { readonly is: "ticket"; readonly ticket: string }
  /** Many things, on the page where they were selected. */
  | { readonly is: "many" };

type Waiting = HeldAct & {
  /** In milliseconds since 1970. */
  readonly dueAt: number;
};

let held: readonly Waiting[] = [];
const timers = new Map<string, ReturnType<typeof setTimeout>>();
const watchers = new Set<() => void>();

/** An earlier act about the same thing gives way to this one. */
export function hold(act: HeldAct, ms: number): void {
  drop(act.id);
  set([...held, { ...act, dueAt: Date.now() + ms }]);
  timers.set(
    act.id,
    setTimeout(() => sendNow(act.id), ms),
  );
}

/** False if it was sent meanwhile. */
export function takeBack(id: string): boolean {
  return drop(id) !== undefined;
}

export function sendNow(id: string): void {
  drop(id)?.send(false);
}

export function useHeld(): readonly Waiting[] {
  return useSyncExternalStore(
    (changed) => {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
    () => held,
  );
}

function drop(id: string): Waiting | undefined {
  clearTimeout(timers.get(id));
  timers.delete(id);
  const found = held.find((each) => each.id === id);
  if (found !== undefined) set(held.filter((each) => each !== found));
  return found;
}

function set(next: readonly Waiting[]): void {
  held = next;
  for (const watcher of watchers) watcher();
}

globalThis.addEventListener?.("pagehide", () => {
  for (const { id } of held) drop(id)?.send(true);
});
