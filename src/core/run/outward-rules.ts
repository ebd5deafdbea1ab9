// The rules for acts outside. The order of the stored signals decides: after a cancel no intent is taken, and an act whose intent came
// first is looked for until its outcome is known.

import { type Draft, emit } from "./draft.ts";
import { LANDING, lateLanding, lateText, openActs } from "./outward.ts";
import type { OutwardAct, OutwardIntent } from "./outward-act.ts";
import { isEnded, type Run } from "./run.ts";
import type { Signal } from "./signal.ts";

/** An attempt that works may act; nothing else of the run may, except the removal of a branch whose work has landed. */
export function intended(draft: Draft, signal: Signal & { type: "outward.intended" }): string | undefined {
  const { run } = draft;
  const { type: _type, id: _id, at: _at, actor, ...act } = signal;
  if (act.verb === "undo" || act.verb === "discard") return `only a person's request is a reason to ${act.verb} work`;
  if (run.outward?.some(({ key }) => key === act.key) === true) return `the act ${act.key} is stored already`;
  if (act.verb === "delete-branch") {
    if (run.status !== "completed") return `the run is ${run.status}`;
  } else {
    if (run.status === "canceled" || run.status === "completed") return `the run is ${run.status}`;
    if (run.paused) return "the run is paused";
    if (!isAtWork(run, act)) return `attempt ${act.attempt} of ${act.stage} is not running`;
  }
  emit(draft, { type: "outward.intended", ...act }, actor);
  return undefined;
}

export function seenOutside(draft: Draft, signal: Signal & { type: "outward.seen" }): string | undefined {
  const act = openActs(draft.run).find(({ key }) => key === signal.key);
  if (act === undefined) return `the act ${signal.key} is not open`;
  const { verb, branch, target, stage } = act;
  const isLate = LANDING.has(verb) && !isComing(draft.run, act);
  emit(
    draft,
    { type: "outward.seen", key: signal.key, stage, verb, branch, target, sight: signal.sight },
    signal.actor,
  );
  if (signal.sight.result === "not-done") {
    if (verb === "undo") warn(draft, stage, "undo_failed", `the landing was not taken back: ${signal.sight.why}`);
    if (verb === "discard") warn(draft, stage, "discard_failed", `${branch} was not discarded: ${signal.sight.why}`);
  } else if (isLate) warnLate(draft, stage);
  return undefined;
}

/** A person wants the late landing of a canceled run taken back. */
export function undoRequested(draft: Draft, signal: Signal & { type: "undo.requested" }): string | undefined {
  const late = lateLanding(draft.run);
  if (late === undefined) return "nothing of this run landed after it was canceled";
  if (late.undoneBy !== null) return `it was taken back as ${late.undoneBy}`;
  if (openActs(draft.run).some(({ verb }) => verb === "undo")) return "it is being taken back already";
  // The target before is known per repository, but one act cannot take back all of them.
  if (late.act.repository !== undefined)
    return "work in several repositories is taken back in each of them: git revert";
  const { branch, target, before, seen } = late.act;
  const act: OutwardIntent = { key: `undo:${draft.at}`, verb: "undo", branch, target, commit: seen.commit, before };
  emit(draft, { type: "outward.intended", stage: "", attempt: 0, ...act }, signal.actor);
  draft.commands.push({ type: "settle-outward" });
  return undefined;
}

/** A person does not want the work of an ended run. The command carries it out if the process that asked for it dies. */
export function discardRequested(draft: Draft, signal: Signal & { type: "discard.requested" }): string | undefined {
  if (!isEnded(draft.run)) return `the run is ${draft.run.status}`;
  const [open] = openActs(draft.run);
  if (open !== undefined) return `an earlier act is not known yet: ${open.verb} of ${open.commit}`;
  const { branch, commit } = signal;
  const act: OutwardIntent = { key: `discard:${draft.at}`, verb: "discard", branch, target: "", commit, before: null };
  emit(draft, { type: "outward.intended", stage: "", attempt: 0, ...act }, signal.actor);
  draft.commands.push({ type: "settle-outward" });
  return undefined;
}

/** After every decision: acts that no attempt looks for any more are settled by a command, which survives a crash. */
export function followActs(draft: Draft, before: Run): void {
  const wasComing = openActs(draft.run).filter((act) => isComing(before, act));
  if (wasComing.some((act) => !isComing(draft.run, act))) draft.commands.push({ type: "settle-outward" });
  const isCanceledNow = draft.run.status === "canceled" && before.status !== "canceled";
  if (isCanceledNow && lateLanding(draft.run) !== undefined) warnLate(draft, "");
}

function warnLate(draft: Draft, stage: string): void {
  const text = lateText(draft.run) ?? "it landed, although its stage was ended meanwhile";
  warn(draft, stage, "landed_late", text);
}

function warn(draft: Draft, stage: string, code: string, message: string): void {
  emit(draft, { type: "warning.raised", stage, code, message });
}

/** The stage works, or will work again: its attempt finds out what became of the acts of the one before. */
function isComing(run: Run, { stage }: Pick<OutwardAct, "stage">): boolean {
  return Object.values(run.tracks).some(
    (track) => (track.at === "running" || track.at === "ready") && track.stage === stage,
  );
}

function isAtWork(run: Run, { stage, attempt }: Pick<OutwardAct, "stage" | "attempt">): boolean {
  return Object.values(run.tracks).some(
    (track) => track.at === "running" && track.stage === stage && track.attempt === attempt,
  );
}
