// People's latest decisions, read from the events, newest first. The search ends after a fixed number of events, so it answers a
// large store as fast as a small one.

import type { z } from "zod";
import type { decisionsSchema } from "../contract/schemas/inbox.ts";
import { allEvents } from "../../app/find-run.ts";
import { type AnswerEvent, isAnswer } from "../../core/run/closing-event.ts";
import type { InboxItem, Subject } from "../../core/run/run.ts";
import { answeredKind, decisionOf, pastItems } from "../../core/view/decision.ts";
import type { Store } from "../../store/store.ts";

const PAGE = 500;
const PAGES_AT_MOST = 40;

type Shown = z.input<typeof decisionsSchema>;
type Decision = Shown["decisions"][number];
type Query = { readonly since: string; readonly limit: number };

export async function decisionsSince(store: Store, { since, limit }: Query): Promise<Shown> {
  const from = Date.parse(since);
  const decisions: Decision[] = [];
  const show = createShow(store);
  let until = await store.lastSeq();
  for (let page = 0; page < PAGES_AT_MOST && until > 0; page++) {
    const after = Math.max(0, until - PAGE);
    const events = (await store.events({ after, limit: PAGE })).filter(({ seq }) => seq <= until);
    for (const { runId, event } of events.toReversed()) {
      if (!isAnswer(event) || Date.parse(event.at) < from) continue;
      const shown = await show(runId, event);
      if (shown !== undefined) decisions.push(shown);
      if (decisions.length === limit) return { decisions, isWhole: false };
    }
    const [oldest] = events;
    if (after === 0 || (oldest !== undefined && Date.parse(oldest.event.at) < from))
      return { decisions, isWhole: true };
    until = after;
  }
  return { decisions, isWhole: until <= 0 };
}

type Show = (runId: string, event: AnswerEvent) => Promise<Decision | undefined>;

/** Looks each run up once. */
function createShow(store: Store): Show {
  const subjects = new Map<string, Pick<Subject, "id" | "title">>();
  const kinds = new Map<string, ReadonlyMap<number, InboxItem["kind"]>>();
  return async (runId, event) => {
    const subject = subjects.get(runId) ?? (await store.loadRun(runId))?.run.subject;
    if (subject === undefined) return undefined;
    subjects.set(runId, subject);
    const { issues: _issues, ...decision } = decisionOf(event, await kindOf(runId, event));
    return {
      id: `${runId}.${event.number}`,
      runId,
      subject: { id: subject.id, title: subject.title },
      stage: event.stage,
      ...decision,
    };
  };

  /** Only the opened item distinguishes a choice from a question, and it may be far back. */
  async function kindOf(runId: string, event: AnswerEvent): Promise<InboxItem["kind"]> {
    if (event.type !== "question.answered") return answeredKind(event);
    const known =
      kinds.get(runId) ?? new Map(pastItems(await allEvents(store, runId)).map(({ number, kind }) => [number, kind]));
    kinds.set(runId, known);
    return known.get(event.number) ?? answeredKind(event);
  }
}
