// What people decided lately, read off the events from the newest backwards, and not further than a bound: a day of a large store has
// more events than anybody waits for.

import type { z } from "zod";
import type { decisionsSchema } from "../contract/schemas/inbox.ts";
import type { RunEvent } from "../../core/run/event.ts";
import type { Subject } from "../../core/run/run.ts";
import type { Store } from "../../store/store.ts";

const PAGE = 500;
const PAGES_AT_MOST = 40;

type Shown = z.input<typeof decisionsSchema>;
type Decision = Shown["decisions"][number];
type Query = { readonly since: string; readonly limit: number };

export async function decisionsSince(store: Store, { since, limit }: Query): Promise<Shown> {
  const from = Date.parse(since);
  const decisions: Decision[] = [];
  const subjects = new Map<string, Pick<Subject, "id" | "title">>();
  let until = await store.lastSeq();
  for (let page = 0; page < PAGES_AT_MOST && until > 0; page++) {
    const after = Math.max(0, until - PAGE);
    const events = (await store.events({ after, limit: PAGE })).filter(({ seq }) => seq <= until);
    for (const { runId, event } of events.toReversed()) {
      const told = decisionOf(event);
      if (told === undefined || Date.parse(event.at) < from) continue;
      const subject = subjects.get(runId) ?? (await store.loadRun(runId))?.run.subject;
      if (subject === undefined) continue;
      subjects.set(runId, subject);
      const { number, ...rest } = told;
      decisions.push({
        id: `${runId}.${number}`,
        runId,
        subject: { id: subject.id, title: subject.title },
        ...rest,
        by: event.actor,
        at: event.at,
      });
      if (decisions.length === limit) return { decisions, isWhole: false };
    }
    const [oldest] = events;
    if (after === 0 || (oldest !== undefined && Date.parse(oldest.event.at) < from))
      return { decisions, isWhole: true };
    until = after;
  }
  return { decisions, isWhole: until <= 0 };
}

type Told = Pick<Decision, "kind" | "stage" | "answer" | "text"> & { readonly number: number };

function decisionOf(event: RunEvent): Told | undefined {
  if (event.type === "gate.answered")
    return { ...told(event), kind: "gate", answer: event.answer, text: event.comment };
  if (event.type === "question.answered") return { ...told(event), kind: "question", answer: "", text: event.answer };
  if (event.type === "escalation.resolved")
    return { ...told(event), kind: "escalation", answer: event.choice, text: event.note };
  if (event.type === "budget.answered")
    return { ...told(event), kind: "budget", answer: event.answer, text: event.note };
  return undefined;
}

function told({ number, stage }: { readonly number: number; readonly stage: string }): Pick<Told, "number" | "stage"> {
  return { number, stage };
}
