// A person answers an inbox item. Repeating the same answer changes nothing and succeeds, also from another person (R-000-23). A different
// answer to a closed item is refused, and the refusal names the decision.

import { canonicalJson } from "../core/json.ts";
import { optional } from "../core/optional.ts";
import { err, ok, type Result } from "../core/result.ts";
import { answersOf, type InboxItem, type Run } from "../core/run/run.ts";
import type { SignalBody } from "../core/run/signal.ts";
import { CHANGED_SINCE } from "../engine/runs.ts";
import { type Delivering, deliver, type Sent, wasApplied } from "./deliver.ts";
import { type ClosedItem, findItem } from "./find-item.ts";
import type { FoundRun } from "./find-run.ts";
import { type Looking, refuseMoved, type Seen, seenCommit } from "./item-version.ts";
import { type AnswerRules, type GivenAnswer, needsWords, refuseAnswer, takenAnswer } from "./offered.ts";
import type { AppProblem, ClosingDecision } from "./problem.ts";

export type AnswerRequest = GivenAnswer & {
  /** `RUN.NUMBER`. */
  readonly item: string;
  readonly seen: Seen;
  readonly rules: AnswerRules;
};

/** `answered`: by this request. `already`: the same answer was given earlier, and this request changed nothing. */
export type Answered =
  | { readonly type: "answered"; readonly run: Run; readonly item: InboxItem; readonly answer: string }
  | (AlreadyAnswered & {
      /** The earlier answer had the same key: the caller repeats its own request. */
      readonly isRepeated: boolean;
    });

type AlreadyAnswered = {
  readonly type: "already";
  readonly run: Run;
  readonly item: ClosedItem;
  readonly decided: ClosingDecision;
};

export type Answering = Looking & Delivering;

export async function answerItem(
  deps: Answering,
  request: AnswerRequest,
  sent: Sent,
): Promise<Result<Answered, AppProblem>> {
  let refused: string | undefined;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const checked = await checkAnswer(deps, request);
    if (!checked.ok) return checked;
    if (checked.value.type === "already") return already(deps, checked.value, sent.key);
    // Another process may have answered first; then the second look has found that. Else it is refused for another reason.
    if (refused !== undefined && refused !== CHANGED_SINCE) break;
    const { found, item, signal } = checked.value;
    // The version must still be current when the answer is stored: the run counts the answer for this version only.
    const bound = request.seen.type === "version" ? { ifVersion: found.version } : {};
    const delivered = await deliver(deps, found.run, signal, { ...sent, ...bound });
    if (delivered.ok) return ok({ type: "answered", run: delivered.value.run, item, answer: signal.answer });
    refused = delivered.error;
  }
  return err({ code: "action_refused", message: `${request.item}: ${refused}.` });
}

/** A run whose other tracks work may change between each check and its answer. */
const MAX_TRIES = 50;

/** For a sender without the right to answer: the run refuses the answer and records the request. */
export async function requestAnswer(
  deps: Answering,
  request: AnswerRequest,
  key: string,
): Promise<Result<Answered, AppProblem>> {
  const checked = await checkAnswer(deps, request);
  if (!checked.ok) return checked;
  if (checked.value.type === "already") return already(deps, checked.value, key);
  const { found, item, signal } = checked.value;
  const { run } = await deps.engine.deliver(found.run.id, signal, "system", key);
  return ok({ type: "answered", run, item, answer: signal.answer });
}

async function already(
  { store }: Pick<Looking, "store">,
  answered: AlreadyAnswered,
  key: string | undefined,
): Promise<Result<Answered, AppProblem>> {
  return ok({ ...answered, isRepeated: await wasApplied(store, answered.run.id, key) });
}

export type CheckedAnswer =
  | AlreadyAnswered
  | { readonly type: "fits"; readonly found: FoundRun; readonly item: InboxItem; readonly signal: AnswerSignal };

type AnswerSignal = SignalBody & { readonly type: "item.answered" };

/** Every check of an answer that is possible without changing the run. */
export async function checkAnswer(
  looking: Looking,
  request: AnswerRequest,
): Promise<Result<CheckedAnswer, AppProblem>> {
  const found = await findItem(looking.store, request.item);
  if (!found.ok) return found;
  if (found.value.type === "closed") return closedWith(found.value.item, found.value.found, request);
  const { item, found: at } = found.value;
  const commit = await looking.commitOf(at.run);
  const refused =
    refuseAnswer(item, request, request.rules) ?? (await refuseMoved(looking, at, item, request.seen, commit));
  return refused === undefined
    ? ok({
        type: "fits",
        found: at,
        item,
        signal: { ...signalOf(item, request, commit), ...seenOf(item, request.seen, commit) },
      })
    : err(refused);
}

function signalOf(item: InboxItem, { answer, text, issues }: GivenAnswer, commit: string | null): AnswerSignal {
  return {
    type: "item.answered",
    number: item.number,
    kind: item.kind,
    answer: takenAnswer(item.kind, answersOf(item), answer),
    text,
    ...(issues.length === 0 ? {} : { issues }),
    ...optional({ commit: item.kind === "gate" ? (commit ?? undefined) : undefined }),
  };
}

/** For a gate: the commit that the caller looked at. The run compares it with the one that it records. */
function seenOf({ kind }: InboxItem, seen: Seen, commit: string | null): Pick<AnswerSignal, "seenCommit"> {
  return kind === "gate" ? optional({ seenCommit: seenCommit(seen, commit) }) : {};
}

function closedWith(item: ClosedItem, { run }: FoundRun, request: AnswerRequest): Result<AlreadyAnswered, AppProblem> {
  const { decided } = item;
  return decided !== null && isSame(decided, request)
    ? ok({ type: "already", run, item, decided })
    : err(notWaiting(request.item, item, run));
}

/** Where the text is part of the decision, a different text is a different decision: work is sent back again for a new reason. */
function isSame(decided: ClosingDecision, { answer, text, issues }: GivenAnswer): boolean {
  const { kind } = decided;
  if (takenAnswer(kind, [decided.answer], answer) !== decided.answer) return false;
  if (kind === "choice" || (kind === "gate" && !needsWords(decided.answer))) return true;
  const saysNothing = text === "" && issues.length === 0 && kind !== "question";
  return saysNothing || (text === decided.text && canonicalJson(issues) === canonicalJson(decided.issues));
}

/** With the current status of the run, so that the caller need not ask for it. */
export function notWaiting(reference: string, { kind, decided }: ClosedItem, run: Run): AppProblem {
  const how =
    decided === null
      ? "it was withdrawn"
      : `${decided.by} answered ${decided.answer === "" ? "it" : decided.answer} at ${decided.at}`;
  return {
    code: kind === "gate" ? "gate_not_waiting" : "item_not_waiting",
    message: `${kind} ${reference} is not open any more: ${how}. The run is ${run.status} (${run.word}).`,
    ...optional({ decided: decided ?? undefined }),
  };
}
