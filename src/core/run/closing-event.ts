// The events that close an inbox item: a person's answer, or the run withdrawing the item.

import type { RunEvent } from "./event.ts";

/** A person's answer to an item; `number` is the item's. Handoffs are numbered separately. */
export type AnswerEvent = Extract<
  RunEvent,
  { type: "gate.answered" | "question.answered" | "escalation.resolved" | "budget.answered" }
>;
export type ClosingEvent = AnswerEvent | Extract<RunEvent, { type: "item.withdrawn" }>;

const ANSWERS: ReadonlySet<string> = new Set<AnswerEvent["type"]>([
  "gate.answered",
  "question.answered",
  "escalation.resolved",
  "budget.answered",
]);

export function isAnswer(event: RunEvent): event is AnswerEvent {
  return ANSWERS.has(event.type);
}

export function isClosing(event: RunEvent): event is ClosingEvent {
  return isAnswer(event) || event.type === "item.withdrawn";
}
