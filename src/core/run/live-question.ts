// A working agent asks a person and waits alive for a short time. An answer within that time reaches it in place, and
// its attempt continues. Otherwise the attempt ends with the question, which keeps waiting under the same number. The
// store decides between the two: whichever is stored first counts, and an answer that comes before the attempt has
// ended is carried into the next one.

import type { Route } from "../flow/flow.ts";
import { type Draft, emit, tell } from "./draft.ts";
import { runningTrack } from "./running-track.ts";
import { type AnsweredQuestion, asksAtWork, type AskedQuestion, type Carry, type Run, type Track } from "./run.ts";
import { findWork } from "./sequence.ts";
import type { Signal } from "./signal.ts";

export function questionRequested(draft: Draft, signal: Signal & { type: "question.requested" }): string | undefined {
  const { stage, attempt, request, question, until } = signal;
  const found = runningTrack(draft.run, stage, attempt);
  if (found === undefined) return `attempt ${attempt} of ${stage} is not running`;
  const { name, track } = found;
  if (track.asks !== undefined) return `item ${track.asks.number} asks a person for this attempt already`;
  const route = findWork(draft.flow, draft.run, name, stage)?.route["blocked"];
  if (!mayAnswerInPlace(route)) return `the flow decides what follows from a question of ${stage}`;
  const who = route?.ask?.who ?? draft.flow.escalation.notify;
  const item: AskedQuestion = {
    kind: "question",
    number: draft.run.items + 1,
    stage,
    who,
    openedAt: draft.at,
    questions: [question],
    goto: "self",
    key: "blocked",
    live: { attempt, request, until },
  };
  emit(draft, { type: "question.asked", track: name, item, carry: track.carry });
  tell(draft, { to: who, event: "question", text: question, item: item.number });
  return undefined;
}

/** Only where the answer leads back to the very same stage anyway: a flow that counts questions, or offers choices, sees each of them. */
function mayAnswerInPlace(route: Route | undefined): boolean {
  if (route?.ask === undefined) return true;
  return route.goto === "self" && route.ask.choices === undefined && route.counter === undefined && !route.once;
}

/** The question with this number that an agent at work has asked. */
export function askingTrack(run: Run, number: number) {
  for (const [name, track] of Object.entries(run.tracks)) {
    const item = track.at === "running" ? track.asks : undefined;
    if (item !== undefined && asksAtWork(item) && item.number === number) return { name, item };
  }
  return undefined;
}

export function answerAtWork(
  draft: Draft,
  { name, item }: { readonly name: string; readonly item: AskedQuestion },
  signal: Signal & { type: "item.answered" },
): string | undefined {
  if (signal.kind !== "question") return `item ${signal.number} is a question, not a ${signal.kind}`;
  if (signal.text.trim() === "") return "the answer is empty";
  const { stage, number, live } = item;
  const inPlace = live.isOver === true ? {} : { inPlace: true as const };
  emit(draft, { type: "question.answered", track: name, stage, number, answer: signal.text, ...inPlace }, signal.actor);
  return undefined;
}

export function questionExpired(draft: Draft, signal: Signal & { type: "question.expired" }): string | undefined {
  const found = runningTrack(draft.run, signal.stage, signal.attempt);
  const item = found?.track.asks;
  if (found === undefined || item?.kind !== "question" || item.live.request !== signal.request)
    return "nothing asks this question any more";
  if (item.live.isOver === true) return "it has expired already";
  emit(draft, { type: "question.expired", track: found.name, stage: item.stage, number: item.number });
  return undefined;
}

/** The fate of a question: undefined while its agent may wait for it. `none`: it gets no answer in place. */
export type LiveAnswer = { readonly type: "answer"; readonly text: string } | { readonly type: "none" };

/** As it came over a wire; undefined for anything else. */
export function toLiveAnswer(value: unknown): LiveAnswer | undefined {
  if (typeof value !== "object" || value === null || !("type" in value)) return undefined;
  if (value.type === "none") return { type: "none" };
  return value.type === "answer" && "text" in value && typeof value.text === "string"
    ? { type: "answer", text: value.text }
    : undefined;
}

export function liveAnswer(
  run: Run,
  { stage, attempt, request }: { readonly stage: string; readonly attempt: number; readonly request: string },
): LiveAnswer | undefined {
  const track = runningTrack(run, stage, attempt)?.track;
  if (track === undefined) return { type: "none" };
  const { answered, asks } = track;
  if (answered?.request === request)
    return answered.inPlace ? { type: "answer", text: answered.answer } : { type: "none" };
  const isOver = asks?.kind === "question" && asks.live.request === request && asks.live.isOver === true;
  return isOver ? { type: "none" } : undefined;
}

/** Of the question that ends an attempt: its item, if it was asked while the agent worked, and an answer that came meanwhile. */
export function askedBefore(
  run: Run,
  name: string,
  questions: readonly string[],
): { readonly number: number; readonly openedAt: string; readonly answer?: string } | undefined {
  const track = run.tracks[name];
  if (track?.at !== "running") return undefined;
  const { asks, answered } = track;
  if (asks?.kind === "question" && isSame(asks.questions, questions)) return asks;
  return answered !== undefined && isSame(answered.questions, questions) ? answered : undefined;
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text, index) => text === other[index]);
}

/** An attempt that was cut off may have died with an answer that it had just got: the next one gets it again. */
export function withAnswer(carry: Carry, { answered }: Track & { at: "running" }): Carry {
  if (answered === undefined) return carry;
  const { questions, answer } = answered satisfies AnsweredQuestion;
  return { ...carry, reason: "answered", questions, said: answer };
}
