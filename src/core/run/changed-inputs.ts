// A file that the run was started with has changed in the project: the next stage that reads it waits until a person has taken the new text
// or kept the agreed one.

import { type Draft, emit, showStatus, tell } from "./draft.ts";
import { cancel } from "./routing.ts";
import { type AskedInputs, type InboxItem, pendingInputs, type Track } from "./run.ts";
import type { Signal } from "./signal.ts";

/** The answers to a changed input. */
const TAKE = "new-text";
const KEEP = "keep-agreed-text";
const CANCEL = "cancel";

/** The attempt stays where it is, with everything it was handed, until a person has decided. */
export function inputsChanged(draft: Draft, signal: Signal & { type: "inputs.changed" }): string | undefined {
  const { stage, attempt, changes, questions, mayTake } = signal;
  const [name, track] =
    Object.entries(draft.run.tracks).find(
      ([, each]) => each.at === "ready" && each.stage === stage && each.attempt === attempt,
    ) ?? [];
  if (name === undefined || track?.at !== "ready") return `attempt ${attempt} of ${stage} is not ready`;
  if (pendingInputs(draft.run) !== undefined) return "a person is asked about changed files already";
  const who = draft.flow.escalation.notify;
  const item: InboxItem = {
    kind: "choice",
    number: draft.run.items + 1,
    stage,
    who,
    openedAt: draft.at,
    questions,
    choices: { ...(mayTake ? { [TAKE]: "self" } : {}), [KEEP]: "self", [CANCEL]: "cancel" },
    key: "inputs",
    inputs: { attempt, changes, word: draft.run.word },
  };
  emit(draft, { type: "question.asked", track: name, item, carry: track.carry });
  const { choice, waiting } = draft.flow.words.status;
  showStatus(draft, choice ?? waiting);
  const paths = changes.map(({ path }) => path).join(", ");
  tell(draft, {
    to: who,
    event: "choice",
    text: `${stage} waits: ${paths} changed after the start`,
    item: item.number,
  });
  return undefined;
}

export function answerInputs(
  draft: Draft,
  track: string,
  { item, carry }: { readonly item: AskedInputs; readonly carry: (Track & { at: "waiting" })["carry"] },
  signal: Signal & { type: "item.answered" },
): string | undefined {
  const { stage, number, choices, inputs } = item;
  if (!Object.hasOwn(choices, signal.answer))
    return `"${signal.answer}" is not offered; choices: ${Object.keys(choices).join(", ")}`;
  emit(draft, { type: "question.answered", track, stage, number, answer: signal.answer }, signal.actor);
  if (signal.answer === CANCEL) {
    cancel(draft, signal.actor, signal.text === "" ? "canceled because its files changed" : signal.text);
    return undefined;
  }
  const decision = signal.answer === TAKE ? "taken" : "kept";
  emit(draft, { type: "inputs.decided", stage, decision, changes: inputs.changes }, signal.actor);
  // The same attempt: it has not started.
  emit(draft, { type: "stage.ready", track, stage, attempt: inputs.attempt, carry });
  showStatus(draft, inputs.word);
  return undefined;
}
