// The run's memory of its reviews: ids for new findings, dispositions of open ones, the builders' words about them. Fed by every attempt
// that ends; whether a review counts at all is decided before its outcome is recorded.

import { type Draft, emit } from "./draft.ts";
import type { Actor } from "./event.ts";
import { awaiting, type Finding, isOpen, whyStuck } from "../finding/finding.ts";
import { effectOf, reviewFault } from "../finding/review.ts";
import { MAIN_TRACK, type Stage, type WorkStage } from "../flow/flow.ts";
import type { Outcome } from "../flow/outcome.ts";
import type { Run } from "./run.ts";
import { isWork, stagesOf } from "./sequence.ts";

/** An attempt that has ended. */
type Reported = { readonly track: string; readonly stage: WorkStage; readonly attempt: number };

/** A review that leaves open findings out, or contradicts itself, has failed: it says which. */
export function heldToFindings(run: Run, stage: WorkStage, outcome: Outcome): Outcome {
  if (stage.findings === undefined) return outcome;
  const fault = reviewFault(stage.findings, stage.id, run.findings, outcome);
  if (fault === undefined) return outcome;
  const { verdict: _verdict, ...rest } = outcome;
  return { ...rest, health: "failed", cause: fault.code, reason: fault.message };
}

/** Records an attempt's words about findings: a review's dispositions, or the notes of the agent that worked on them. */
export function recordFindings(draft: Draft, ended: Reported, outcome: Outcome): void {
  if (outcome.health !== "complete") return;
  if (ended.stage.findings === undefined) recordNotes(draft, ended, outcome);
  else recordReview(draft, ended, ended.stage.findings, outcome);
}

function recordReview(
  draft: Draft,
  { track, stage, attempt }: Reported,
  mode: NonNullable<WorkStage["findings"]>,
  outcome: Outcome,
): void {
  const effect = effectOf({ mode, stage: stage.id, track, attempt }, draft.run.findings, outcome);
  if (effect === undefined) return;
  const { over, ...review } = effect;
  emit(draft, { type: "findings.reviewed", ...review });
  if (over > 0) {
    const text = `${over} findings of ${stage.id}#${attempt} got no id: a run carries a limited number of open ones. They are in the attempt's record and go to the builder; no later review is asked about them`;
    emit(draft, { type: "warning.raised", stage: stage.id, code: "findings_over_limit", message: text });
  }
}

/** An agent that works before the judge comments on its findings: on each by its id, else by the summary of the work. */
function recordNotes(draft: Draft, { track, stage, attempt }: Reported, outcome: Outcome): void {
  if (stage.kind !== "agent") return;
  const own = openFor(draft, track, stage);
  if (own.length === 0) return;
  const given = new Map((outcome.findings ?? []).map(({ id, said }) => [id, said]));
  const summary = outcome.summary ?? "";
  const notes = own.flatMap(({ id }) => {
    const said = given.get(id) ?? summary;
    return said.trim() === "" ? [] : [{ id, said: given.has(id) ? said : `(about the whole work) ${said}` }];
  });
  if (notes.length > 0) emit(draft, { type: "findings.answered", track, stage: stage.id, attempt, notes });
}

/** Open findings of judges that come after the stage: in its own track, and for a track also those of the run's later stages. */
export function openFor({ flow, run }: Pick<Draft, "flow" | "run">, track: string, stage: Stage): readonly Finding[] {
  const open = (run.findings?.list ?? []).filter((each) => isOpen(each) && each.acceptedBy === undefined);
  if (open.length === 0) return [];
  const isLater = (name: string, id: string, judge: string): boolean => {
    const ids = stagesOf(flow, run, name).map((each) => each.id);
    return ids.indexOf(judge) > ids.indexOf(id);
  };
  return open.filter((finding) => {
    if (finding.track === track) return isLater(track, stage.id, finding.stage);
    if (finding.track !== MAIN_TRACK || track === MAIN_TRACK) return false;
    const fork = flow.stages.find((each) => each.kind === "parallel" && Object.hasOwn(each.tracks, track));
    return fork !== undefined && isLater(MAIN_TRACK, fork.id, finding.stage);
  });
}

/** Why the stage's findings should go to a person now instead of into another loop. */
export function stuckReason(run: Run, stage: Stage): string | undefined {
  if (!isWork(stage) || stage.findings === undefined) return undefined;
  const reasons = awaiting(run.findings, stage.id).flatMap((finding) => whyStuck(finding) ?? []);
  return reasons.length === 0 ? undefined : reasons.join("; ");
}

/** The person accepts the work with the stage's open findings. */
export function acceptFindings(draft: Draft, track: string, stage: string, actor: Actor): void {
  const ids = awaiting(draft.run.findings, stage).map(({ id }) => id);
  if (ids.length > 0) emit(draft, { type: "findings.accepted", track, stage, ids }, actor);
}
