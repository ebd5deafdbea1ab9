// Acts outside, for people: which are open, and where the work of a canceled run landed nevertheless.

import type { DoneSight, OutwardAct, OutwardVerb } from "./outward-act.ts";
import type { Run } from "./run.ts";

/** The work of a canceled run that is at the remote nevertheless. */
export type LateLanding = {
  readonly act: OutwardAct & { readonly seen: DoneSight };
  /** The commit that took it back, or the removed one. */
  readonly undoneBy: string | null;
};

/** Acts that bring the work out. */
export const LANDING: ReadonlySet<OutwardVerb> = new Set(["push", "propose", "merge"]);

export function openActs(run: Run): readonly OutwardAct[] {
  return (run.outward ?? []).filter(({ seen }) => seen === undefined);
}

/** The last discard of the run's branch; undefined without one. */
export function discarded(run: Run): DoneSight | undefined {
  return run.outward?.findLast(({ verb, seen }) => verb === "discard" && seen !== undefined)?.seen;
}

/** Undefined unless the run is canceled and its work was seen outside. */
export function lateLanding(run: Run): LateLanding | undefined {
  if (run.status !== "canceled") return undefined;
  const acts = run.outward ?? [];
  const act = acts.findLast(isSeenLanding);
  if (act === undefined) return undefined;
  return { act, undoneBy: acts.find(({ verb }) => verb === "undo")?.seen?.commit ?? null };
}

/** One sentence about the work of a canceled run that left or may have left; undefined if none did. */
export function lateText(run: Run): string | undefined {
  const late = lateLanding(run);
  if (late !== undefined) {
    const { subject } = run;
    if (late.act.repository !== undefined) return `canceled, but ${placesOf(run)}; take it back there: git revert`;
    const isOpen = openActs(run).some(({ verb }) => verb === "undo");
    if (late.undoneBy !== null) return `canceled, but ${placeOf(late.act)}; taken back as ${late.undoneBy}`;
    if (isOpen) return `canceled, but ${placeOf(late.act)}; it is being taken back`;
    return `canceled, but ${placeOf(late.act)}; to take it back: passrail undo ${subject.id}`;
  }
  const open = run.status === "canceled" ? openActs(run).find(({ verb }) => LANDING.has(verb)) : undefined;
  return open === undefined
    ? undefined
    : `canceled while it was on its way; whether ${open.commit} reached ${whereOf(open)} is being looked up`;
}

/** A reason for people, after the sentence about work that left. */
export function withLate(reason: string, run: Run): string {
  const late = lateText(run);
  if (late === undefined) return reason;
  return reason === "" ? late : `${late} (${reason})`;
}

/** Every place of a run over several repositories. */
function placesOf(run: Run): string {
  const acts = (run.outward ?? []).filter(isSeenLanding);
  return acts.map((act) => `${placeOf(act)} (${act.repository ?? ""})`).join(", ");
}

function placeOf(act: OutwardAct & { readonly seen: DoneSight }): string {
  const { commit, url } = act.seen;
  if (act.verb === "merge") return `it landed as ${commit} in ${act.target}`;
  if (url !== null) return `its pull request was opened: ${url}`;
  return `it was pushed as ${act.branch} at ${commit}`;
}

function whereOf({ verb, branch, target }: OutwardAct): string {
  return verb === "merge" ? target : `the branch ${branch} of the remote`;
}

function isSeenLanding(act: OutwardAct): act is OutwardAct & { readonly seen: DoneSight } {
  return LANDING.has(act.verb) && act.seen !== undefined;
}
