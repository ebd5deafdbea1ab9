// The effect of a person's answer to a gate, a question, a choice, an escalation or a budget. Each answer either fits the open item and
// moves the run, or is refused with a reason.

import { type Draft, emit, showStatus } from "./draft.ts";
import { type Place, resetCounter } from "./counting.ts";
import type { Sender } from "./handoff.ts";
import { acceptFindings } from "./review.ts";
import { cancel, goTo, leave } from "./routing.ts";
import { answerInputs } from "./changed-inputs.ts";
import { answerAtWork, askingTrack } from "./live-question.ts";
import { answerPermission } from "./permission.ts";
import { pinnedOf } from "./pinned.ts";
import { asksAboutInputs, type InboxItem } from "./run.ts";
import { findStage, statusWord } from "./sequence.ts";
import type { Signal } from "./signal.ts";
import { answerBudget } from "./spending.ts";
import { toldAnswer, toldNote } from "./told.ts";
import { wholeIssueText } from "../flow/outcome.ts";
import { optional } from "../optional.ts";

export function answered(draft: Draft, signal: Signal & { type: "item.answered" }): string | undefined {
  const waiting = Object.entries(draft.run.tracks).find(
    ([, track]) => track.at === "waiting" && track.item.number === signal.number,
  );
  const [name, track] = waiting ?? [];
  if (name === undefined) {
    const asking = askingTrack(draft.run, signal.number);
    return asking === undefined ? answerPermission(draft, signal) : answerAtWork(draft, asking, signal);
  }
  if (track?.at !== "waiting") return `item ${signal.number} is not open`;
  const { item, carry } = track;
  if (item.kind !== signal.kind) return `item ${signal.number} is a ${item.kind}, not a ${signal.kind}`;
  const stage = findStage(draft.flow, draft.run, name, item.stage);
  if (stage === undefined) return `the flow has no stage ${item.stage}`;
  const sender: Sender = { track: name, stage, attempt: draft.run.stages[stage.id]?.attempts ?? 0, carry };
  switch (item.kind) {
    case "gate":
      return answerGate(draft, sender, signal);
    case "question":
      return answerQuestion(draft, sender, item, signal);
    case "choice":
      if (asksAboutInputs(item)) return answerInputs(draft, name, { item, carry }, signal);
      return answerChoice(draft, sender, item, signal);
    case "escalation":
      return resolveEscalation(draft, sender, item, signal);
    case "budget":
      return answerBudget(draft, name, { ...track, item }, signal);
  }
}

type Answer = Signal & { type: "item.answered" };

function answerGate(draft: Draft, sender: Sender, signal: Answer): string | undefined {
  const { stage, track } = sender;
  if (stage.kind !== "gate") return `${stage.id} is not a gate`;
  if (isAboutOther(signal)) return `the work is not at ${signal.seenCommit ?? "no commit"}, which was looked at`;
  // People say reject, some flows say decline: both mean the same, and the gate's own word wins.
  const answer = signal.answer === "reject" && !("reject" in stage.route) ? "decline" : signal.answer;
  const route = Object.hasOwn(stage.route, answer) ? stage.route[answer] : undefined;
  if (route === undefined)
    return `gate ${stage.id} does not know "${signal.answer}"; answers: ${Object.keys(stage.route).join(", ")}`;
  emit(
    draft,
    {
      type: "gate.answered",
      track,
      stage: stage.id,
      number: signal.number,
      answer,
      comment: signal.text,
      ...named(signal),
      ...optional({ commit: signal.commit }),
      ...agreedInputs(draft),
    },
    signal.actor,
  );
  if (route.status !== undefined && route.goto !== "end") showStatus(draft, statusWord(draft.run, route.status));
  const said = {
    ...(signal.text === "" ? {} : { said: signal.text }),
    ...toldNote(draft.flow, sender.carry, noteOf(signal)),
  };
  const carry = {
    ...sender.carry,
    from: stage.id,
    reason: "next" as const,
    names: route.carry,
    issues: signal.issues ?? [],
    questions: [],
    ...said,
  };
  const answered = { ...sender, carry: { ...carry, loop: 0, loopMax: null } };
  goTo(draft, answered, { target: route.goto, route, outcome: undefined });
  return undefined;
}

/** The texts that the person saw at the gate, by their hashes. */
function agreedInputs({ run }: Draft): { readonly inputs?: Readonly<Record<string, string>> } {
  const { inputs } = pinnedOf(run);
  return inputs.length === 0 ? {} : { inputs: Object.fromEntries(inputs.map(({ name, sha256 }) => [name, sha256])) };
}

/** The stored approval is for the version that the person saw, also if the caller compared another one. */
function isAboutOther({ commit, seenCommit }: Answer): boolean {
  if (seenCommit === undefined) return false;
  return seenCommit === null ? commit !== undefined : commit?.startsWith(seenCommit) !== true;
}

function answerQuestion(
  draft: Draft,
  sender: Sender,
  item: InboxItem & { kind: "question" },
  signal: Answer,
): string | undefined {
  if (signal.text.trim() === "") return "the answer is empty";
  emit(
    draft,
    { type: "question.answered", track: sender.track, stage: item.stage, number: item.number, answer: signal.text },
    signal.actor,
  );
  const told = toldAnswer(draft.flow, sender.carry, item.questions.join("\n"), signal.text);
  leave(draft, { ...sender, carry: { ...sender.carry, reason: "answered", said: signal.text, ...told } }, item.goto);
  return undefined;
}

function answerChoice(
  draft: Draft,
  sender: Sender,
  item: InboxItem & { kind: "choice" },
  signal: Answer,
): string | undefined {
  const target = Object.hasOwn(item.choices, signal.answer) ? item.choices[signal.answer] : undefined;
  if (target === undefined)
    return `"${signal.answer}" is not offered; choices: ${Object.keys(item.choices).join(", ")}`;
  emit(
    draft,
    { type: "question.answered", track: sender.track, stage: item.stage, number: item.number, answer: signal.answer },
    signal.actor,
  );
  const said = signal.text === "" ? {} : { said: signal.text };
  const answer = signal.text === "" ? signal.answer : `${signal.answer}: ${signal.text}`;
  const told = toldAnswer(draft.flow, sender.carry, item.questions.join("\n"), answer);
  leave(draft, { ...sender, carry: { ...sender.carry, reason: "answered", ...said, ...told } }, target);
  return undefined;
}

function resolveEscalation(
  draft: Draft,
  sender: Sender,
  item: InboxItem & { kind: "escalation" },
  signal: Answer,
): string | undefined {
  const action = Object.hasOwn(item.choices, signal.answer) ? item.choices[signal.answer] : undefined;
  if (action === undefined)
    return `"${signal.answer}" is not offered; choices: ${Object.keys(item.choices).join(", ")}`;
  const { track } = sender;
  emit(
    draft,
    {
      type: "escalation.resolved",
      track,
      stage: item.stage,
      number: item.number,
      choice: signal.answer,
      note: signal.text,
      ...named(signal),
    },
    signal.actor,
  );
  const said = {
    ...(signal.text === "" ? {} : { said: signal.text }),
    ...toldNote(draft.flow, sender.carry, noteOf(signal)),
  };
  if (action === "cancel") {
    cancel(draft, signal.actor, signal.text === "" ? "canceled at an escalation" : signal.text);
  } else if (action === "accept") {
    acceptFindings(draft, track, item.stage, signal.actor);
    leave(
      draft,
      { ...sender, carry: { ...sender.carry, reason: "next", issues: [], loop: 0, loopMax: null, ...said } },
      "next",
    );
  } else {
    // The agents' issues stay open; the person's issues are added.
    const issues = [...sender.carry.issues, ...(signal.issues ?? [])];
    const loops =
      action === "again" && item.counter !== undefined
        ? restartLoop(draft, item.counter, { track, stage: item.stage })
        : {};
    leave(
      draft,
      { ...sender, carry: { ...sender.carry, reason: "again", issues, ...loops, ...said } },
      action === "again" ? item.again : action,
    );
  }
  return undefined;
}

/** A person's "again" resets the loop's exhausted counter; the next attempt sees the new count. */
function restartLoop(draft: Draft, counter: string, place: Place): Pick<Sender["carry"], "loop" | "loopMax"> {
  resetCounter(draft, counter, place);
  return { loop: 0, loopMax: draft.flow.counters[counter]?.maxLoops ?? null };
}

/** All that the person said, with the findings line by line. */
function noteOf({ text, issues = [] }: Answer): string {
  return [text, ...issues.map(wholeIssueText)].filter((line) => line.trim() !== "").join("\n");
}

function named({ issues = [] }: Answer): { readonly issues?: NonNullable<Answer["issues"]> } {
  return issues.length === 0 ? {} : { issues };
}
