// A person's decision, read from the events of a run. An answer to a choice is stored as a question's: only the opened
// item distinguishes the two, so every reader asks here.

import type { Issue } from "../flow/outcome.ts";
import { type AnswerEvent, isAnswer } from "../run/closing-event.ts";
import type { RunEvent } from "../run/event.ts";
import type { InboxItem } from "../run/run.ts";

export type ItemDecision = {
  readonly kind: InboxItem["kind"];
  /** One of the answers on offer; empty for a question, which takes any text. */
  readonly answer: string;
  readonly text: string;
  readonly issues: readonly Issue[];
  readonly by: string;
  readonly at: string;
};

/** An item that a run has opened at some time. */
export type PastItem = {
  readonly number: number;
  readonly kind: InboxItem["kind"];
  readonly stage: string;
  /** Null while the item is open, and where the run withdrew it. */
  readonly decision: ItemDecision | null;
};

/** Every item of a run in the order in which it was opened. `events`: those of one run, from its first. */
export function pastItems(events: Iterable<RunEvent>): readonly PastItem[] {
  const items = new Map<number, PastItem>();
  for (const event of events) {
    if ("item" in event) {
      const { number, kind, stage } = event.item;
      items.set(number, { number, kind, stage, decision: null });
    }
    const item = isAnswer(event) ? items.get(event.number) : undefined;
    if (isAnswer(event) && item !== undefined)
      items.set(item.number, { ...item, decision: decisionOf(event, item.kind) });
  }
  return [...items.values()];
}

/** `kind`: of the item that the event answers. */
export function decisionOf(event: AnswerEvent, kind: InboxItem["kind"]): ItemDecision {
  const by = { kind, by: event.actor, at: event.at, issues: [] };
  switch (event.type) {
    case "gate.answered":
      return { ...by, answer: event.answer, text: event.comment, issues: event.issues ?? [] };
    case "question.answered":
      return kind === "choice" ? { ...by, answer: event.answer, text: "" } : { ...by, answer: "", text: event.answer };
    case "escalation.resolved":
      return { ...by, answer: event.choice, text: event.note, issues: event.issues ?? [] };
    case "budget.answered":
      return { ...by, answer: event.answer, text: event.note };
  }
}

/** The kind of the answered item as far as the event alone shows it; an answer to a choice looks like one to a question. */
export function answeredKind(event: AnswerEvent): InboxItem["kind"] {
  switch (event.type) {
    case "gate.answered":
      return "gate";
    case "question.answered":
      return "question";
    case "escalation.resolved":
      return "escalation";
    case "budget.answered":
      return "budget";
  }
}
