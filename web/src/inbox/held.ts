// Decisions that a person has made and can still take back. A decision leaves this page when its time is over, when the person sends it now,
// or when the page is closed; taken back, it was never sent. A daemon that does not answer is said at once: nothing is kept to be sent later.

import { useSyncExternalStore } from "react";
import { queryClient } from "../base/queries.ts";
import { toast } from "../ui/toast.tsx";
import { clearDraft } from "./draft.ts";
import type { WaitingItem } from "./types.ts";
import { type AnswerOutcome, type Given, sendAnswer } from "./use-answer.ts";

type Answered = Pick<WaitingItem, "id" | "runId" | "subject">;

export type HeldAnswer = {
  readonly item: Answered;
  /** What the person saw. */
  readonly version: string;
  readonly given: Given;
  /** In milliseconds since 1970. */
  readonly dueAt: number;
};

let held: readonly HeldAnswer[] = [];
const timers = new Map<string, ReturnType<typeof setTimeout>>();
const watchers = new Set<() => void>();

export function hold(item: Answered, version: string, given: Given, ms: number): void {
  drop(item.id);
  set([...held, { item, version, given, dueAt: Date.now() + ms }]);
  timers.set(
    item.id,
    setTimeout(() => sendNow(item.id), ms),
  );
}

/** False if it was sent meanwhile. */
export function takeBack(id: string): boolean {
  return drop(id) !== undefined;
}

export function sendNow(id: string): void {
  const answer = drop(id);
  if (answer !== undefined) void send(answer);
}

export function useHeld(): readonly HeldAnswer[] {
  return useSyncExternalStore(
    (changed) => {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
    () => held,
  );
}

async function send({ item, version, given }: HeldAnswer, isLeaving = false): Promise<void> {
  const outcome = await sendAnswer(item, version, given, isLeaving);
  if (outcome.type === "taken") clearDraft(item.id);
  tell(outcome, item.subject.title, given.done);
  for (const queryKey of [["inbox"], ["item", item.id], ["run", item.runId], ["decisions"]])
    void queryClient.invalidateQueries({ queryKey });
}

function tell(outcome: AnswerOutcome, title: string, done: string): void {
  switch (outcome.type) {
    case "taken":
      return toast(`${done}: ${title}`);
    case "late":
      return toast(`Another person has already decided this: ${title}`, "warning");
    case "moved":
      return toast(`Not sent, because it changed after you looked at it: ${title}`, "bad");
    case "failed": {
      const why = outcome.error instanceof Error ? outcome.error.message : "Something went wrong.";
      return toast(`Not sent: ${title}. ${why}`, "bad");
    }
  }
}

function drop(id: string): HeldAnswer | undefined {
  clearTimeout(timers.get(id));
  timers.delete(id);
  const found = held.find(({ item }) => item.id === id);
  if (found !== undefined) set(held.filter((each) => each !== found));
  return found;
}

function set(next: readonly HeldAnswer[]): void {
  held = next;
  for (const watcher of watchers) watcher();
}

// Whoever decided and closes the page has decided: it goes out now, and the browser sends it without the page.
addEventListener("pagehide", () => {
  for (const { item } of held) {
    const answer = drop(item.id);
    if (answer !== undefined) void send(answer, true);
  }
});
