// A working agent asks for permission: a person answers while its attempt waits alive. The answer counts for that attempt only; silence
// denies, and so does the end of the attempt.

import { type Draft, emit, tell } from "./draft.ts";
import { isClosing } from "./closing-event.ts";
import {
  type AskedPermission,
  asksPermission,
  type InboxItem,
  PERMISSION_ANSWERS,
  type PermissionAnswer,
  type Run,
} from "./run.ts";
import { runningTrack } from "./running-track.ts";
import type { Signal } from "./signal.ts";

export function permissionRequested(
  draft: Draft,
  signal: Signal & { type: "permission.requested" },
): string | undefined {
  const { stage, attempt, request, tool, what, why, until } = signal;
  const found = runningTrack(draft.run, stage, attempt);
  if (found === undefined) return `attempt ${attempt} of ${stage} is not running`;
  const { name, track } = found;
  if (track.asks !== undefined) return `item ${track.asks.number} asks a person for this attempt already`;
  const who = draft.flow.escalation.notify;
  const item: InboxItem = {
    kind: "choice",
    number: draft.run.items + 1,
    stage,
    who,
    openedAt: draft.at,
    questions: [`${tool}: ${what}`, `${why} The agent waits. Without an answer it is denied at ${until}.`],
    choices: Object.fromEntries(PERMISSION_ANSWERS.map((answer) => [answer, "self"])),
    key: "permission",
    permission: { attempt, request, until },
  };
  emit(draft, { type: "question.asked", track: name, item, carry: track.carry });
  tell(draft, { to: who, event: "choice", text: `${stage} asks for permission: ${tool}`, item: item.number });
  return undefined;
}

/** The asking process reads the answer from the run: the answer is stored before it has any effect. */
export function answerPermission(draft: Draft, signal: Signal & { type: "item.answered" }): string | undefined {
  const found = askingTrack(draft.run, ({ number }) => number === signal.number);
  if (found === undefined) return `item ${signal.number} is not open`;
  const { name, item } = found;
  if (signal.kind !== "choice") return `item ${signal.number} is a choice, not a ${signal.kind}`;
  if (!Object.hasOwn(item.choices, signal.answer))
    return `"${signal.answer}" is not offered; choices: ${Object.keys(item.choices).join(", ")}`;
  // The agent has been denied already, even if no process recorded it.
  if (signal.at > item.permission.until && signal.answer !== "deny")
    return `no answer came until ${item.permission.until}, so it was denied`;
  const { stage, number } = item;
  emit(draft, { type: "question.answered", track: name, stage, number, answer: signal.answer }, signal.actor);
  return undefined;
}

export function permissionExpired(draft: Draft, signal: Signal & { type: "permission.expired" }): string | undefined {
  const found = askingTrack(
    draft.run,
    ({ stage, permission }) =>
      stage === signal.stage && permission.attempt === signal.attempt && permission.request === signal.request,
  );
  if (found === undefined) return `nothing asks for this permission any more`;
  const { name, item } = found;
  const { stage, number } = item;
  emit(draft, { type: "question.answered", track: name, stage, number, answer: "deny" }, signal.actor);
  return undefined;
}

/** A request goes with its attempt, however that ended; a question that ended it waits on. */
export function withdrawUnasked(draft: Draft, before: Run): void {
  for (const [name, track] of Object.entries(before.tracks)) {
    if (track.at !== "running" || track.asks === undefined) continue;
    const { number } = track.asks;
    const now = draft.run.tracks[name];
    const item = now?.at === "running" ? now.asks : now?.at === "waiting" ? now.item : undefined;
    const isOpen = item?.number === number;
    const isClosed = draft.events.some((event) => isClosing(event) && event.number === number);
    if (!isOpen && !isClosed)
      emit(draft, { type: "item.withdrawn", track: name, number, reason: "its attempt has ended" });
  }
}

/** The fate of a request: undefined while it is open, or not stored yet. The end of its attempt denies it. */
export function permissionAnswer(
  run: Run,
  { stage, attempt, request }: { readonly stage: string; readonly attempt: number; readonly request: string },
): PermissionAnswer | undefined {
  const track = runningTrack(run, stage, attempt)?.track;
  if (track === undefined) return "deny";
  return track.permitted?.request === request ? track.permitted.answer : undefined;
}

/** An agent at work waits for a person. */
export function isAsking(run: Run): boolean {
  return Object.values(run.tracks).some((track) => track.at === "running" && track.asks !== undefined);
}

function askingTrack(run: Run, isMeant: (item: AskedPermission) => boolean) {
  for (const [name, track] of Object.entries(run.tracks)) {
    const item = track.at === "running" ? track.asks : undefined;
    if (item !== undefined && asksPermission(item) && isMeant(item)) return { name, item };
  }
  return undefined;
}
