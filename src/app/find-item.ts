// The inbox item that a caller means, `RUN.NUMBER`: open, or closed with the decision that closed it.

import { err, ok, type Result } from "../core/result.ts";
import type { RunEvent } from "../core/run/event.ts";
import { type InboxItem, openItems } from "../core/run/run.ts";
import type { Store } from "../store/store.ts";
import { eventsOf, findRun, type FoundRun } from "./find-run.ts";
import type { AppProblem, ClosingDecision } from "./problem.ts";

export type FoundItem =
  | { readonly type: "open"; readonly found: FoundRun; readonly item: InboxItem }
  | { readonly type: "closed"; readonly found: FoundRun; readonly item: ClosedItem };

export type ClosedItem = {
  readonly number: number;
  readonly kind: InboxItem["kind"];
  readonly stage: string;
  /** Null where the run withdrew the item before anyone answered it. */
  readonly decided: ClosingDecision | null;
};

export async function findItem(store: Store | undefined, reference: string): Promise<Result<FoundItem, AppProblem>> {
  const dot = reference.lastIndexOf(".");
  const number = Number(reference.slice(dot + 1));
  const found = await findRun(store, reference.slice(0, dot));
  if (!found.ok) return found;
  const open = openItems(found.value.run).find((item) => item.number === number);
  if (open !== undefined) return ok({ type: "open", found: found.value, item: open });
  const past = store === undefined ? [] : await pastItems(store, found.value.run.id);
  const closed = past.find((item) => item.number === number);
  return closed === undefined
    ? err({ code: "item_not_found", message: `There is no item ${reference}.` })
    : ok({ type: "closed", found: found.value, item: closed });
}

/** Every item that the run has ever opened, in order. Open ones have no decision yet. */
export async function pastItems(store: Store, runId: string): Promise<readonly ClosedItem[]> {
  const items = new Map<number, ClosedItem>();
  for await (const { event } of eventsOf(store, runId)) {
    if ("item" in event) {
      const { number, kind, stage } = event.item;
      items.set(number, { number, kind, stage, decided: null });
    }
    if (!isAnswer(event)) continue;
    const item = items.get(event.number);
    if (item !== undefined) items.set(item.number, { ...item, decided: decidedBy(event, item.kind) });
  }
  return [...items.values()];
}

type AnswerEvent = Extract<
  RunEvent,
  { readonly type: "gate.answered" | "question.answered" | "escalation.resolved" | "budget.answered" }
>;

const ANSWERS: ReadonlySet<string> = new Set<AnswerEvent["type"]>([
  "gate.answered",
  "question.answered",
  "escalation.resolved",
  "budget.answered",
]);

function isAnswer(event: RunEvent): event is AnswerEvent {
  return ANSWERS.has(event.type);
}

function decidedBy(event: AnswerEvent, kind: InboxItem["kind"]): ClosingDecision {
  const by = { kind, by: event.actor, at: event.at };
  switch (event.type) {
    case "gate.answered":
      return { ...by, answer: event.answer, text: event.comment, issues: event.issues ?? [] };
    case "question.answered":
      return kind === "choice"
        ? { ...by, answer: event.answer, text: "", issues: [] }
        : { ...by, answer: "", text: event.answer, issues: [] };
    case "escalation.resolved":
      return { ...by, answer: event.choice, text: event.note, issues: event.issues ?? [] };
    case "budget.answered":
      return { ...by, answer: event.answer, text: event.note, issues: [] };
  }
}
