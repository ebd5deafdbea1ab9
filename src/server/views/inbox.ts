// An open item as the wire shows it: what is asked and what may be answered, whatever kind it is.

import type { z } from "zod";
import type { inboxItemSchema } from "../../api/schemas/inbox.ts";
import type { InboxItem, Run } from "../../core/run.ts";
import { overText } from "../../core/spending.ts";

type Shown = z.input<typeof inboxItemSchema>;

export function showItem(run: Run, item: InboxItem, version: string): Shown {
  const { number, kind, stage, who, openedAt } = item;
  return {
    id: `${run.id}.${number}`,
    runId: run.id,
    number,
    kind,
    flow: run.flow,
    subject: { id: run.subject.id, title: run.subject.title },
    stage,
    who,
    openedAt,
    version,
    asks: [...asksOf(item)],
    answers: [...answersOf(item)],
    issues: item.kind === "escalation" ? [...item.issues] : [],
    budget: item.kind === "budget" ? budgetOf(item) : null,
  };
}

function asksOf(item: InboxItem): readonly string[] {
  switch (item.kind) {
    case "gate":
      return item.notes ?? [];
    case "question":
    case "choice":
      return item.questions;
    case "escalation":
      return [item.reason];
    case "budget":
      return [overText(item)];
  }
}

/** Empty for a question: it wants a text. */
export function answersOf(item: InboxItem): readonly string[] {
  switch (item.kind) {
    case "gate":
      return item.answers;
    case "question":
      return [];
    case "choice":
    case "escalation":
      return Object.keys(item.choices);
    case "budget":
      return ["raise", "stop"];
  }
}

function budgetOf({ scope, unit, used, limit, needed }: InboxItem & { kind: "budget" }): Shown["budget"] {
  return { scope, unit, used, limit, needed };
}
