// When a run waited for a person, read from its events.

import type { Wait } from "./timeline.ts";
import type { ListedEvent } from "./types.ts";

const OPENED: Readonly<Record<string, true>> = {
  "gate.opened": true,
  "question.asked": true,
  "escalation.opened": true,
  "budget.reached": true,
};
const CLOSED: Readonly<Record<string, string>> = {
  "gate.answered": "answer",
  "question.answered": "answer",
  "escalation.resolved": "choice",
  "budget.answered": "answer",
  "item.withdrawn": "",
};

export function waitsOf(events: readonly ListedEvent[], endedAt: string | null): readonly Wait[] {
  const waits = new Map<number, Wait>();
  for (const { event } of events) {
    if (OPENED[event.type] === true && isItem(event["item"])) {
      const { number, stage, kind } = event["item"];
      waits.set(number, { stage, kind, from: event.at, to: null, answer: null });
    }
    const key = CLOSED[event.type];
    const open = key === undefined ? undefined : waits.get(Number(event["number"]));
    if (key === undefined || open === undefined) continue;
    const said = event[key];
    const answer = event.type === "question.answered" ? "answered" : typeof said === "string" ? said : "withdrawn";
    waits.set(Number(event["number"]), { ...open, to: event.at, answer });
  }
  // The end of a run closes its open items.
  return [...waits.values()].map((wait) => (wait.to === null && endedAt !== null ? { ...wait, to: endedAt } : wait));
}

function isItem(value: unknown): value is { readonly number: number; readonly stage: string; readonly kind: string } {
  return typeof value === "object" && value !== null && "number" in value && "stage" in value && "kind" in value;
}
