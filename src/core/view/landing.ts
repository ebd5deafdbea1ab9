// Where each answer would bring the work, in true words: into which branch of which remote, by whom, or nowhere. A gate named "merge" may
// merge nothing, so a person reads it before they decide. Every door shows this one reading.

import type { ResolvedFlow } from "../flow/agent.ts";
import { MAIN_TRACK } from "../flow/flow.ts";
import { branchOf } from "../run/branch.ts";
import { runFacts } from "../run/facts.ts";
import { type Joint, jointOf, memberName } from "../run/joint.ts";
import type { Run } from "../run/run.ts";
import { workspaceMode } from "../run/run-settings.ts";
import { findStage } from "../run/sequence.ts";
import { type MergeWay, wayToLand } from "../ticket/merge-rule.ts";
import type { Lead } from "./consequences.ts";

/** Where the settings and the repository say that finished work goes. */
export type LandingPlace = {
  /** `merge.mode` of the settings; a run may have been started with another one. */
  readonly mode: string;
  /** The name of the remote; null if work lands in the project's own repository. */
  readonly remote: string | null;
  /** The remote has pull requests. */
  readonly hasPullRequests: boolean;
  /** Null if only the remote knows its default branch. */
  readonly target: string | null;
};

type Landing = {
  /** land: it is merged. pr: a person merges it later at the forge. push: only the branch leaves. stays: no work leaves. */
  readonly way: MergeWay | "stays";
  readonly text: string;
};

/** For a list, beside the gate. */
export const LANDING_WORDS: Readonly<Record<Landing["way"], string>> = {
  land: "approving merges it",
  pr: "approving does not merge yet",
  push: "approving only pushes it",
  stays: "approving does not merge",
};

/** Null if more work or another decision follows, so that nothing is settled yet. `number`: of the run. */
export function landingOf(
  resolved: ResolvedFlow,
  run: Run,
  number: number,
  lead: Lead,
  place: LandingPlace,
): Landing | null {
  const branch = branchOf(resolved.flow, run);
  const isInPlace = workspaceMode(resolved, run) === "in-place";
  if (lead.to === "end" || lead.to === "cancel") {
    // Before the first stage has worked there is no work that could stay.
    if (Object.values(run.stages).every(({ last }) => last === undefined)) return null;
    if (isInPlace) return { way: "stays", text: "Merges nothing: the work is in the project's own folder." };
    if (jointOf(run) !== null)
      return { way: "stays", text: `Does not merge: the work stays on ${branch} of each repository.` };
    const later = lead.to === "end" ? ` To land it later: passrail merge ${number}` : "";
    return { way: "stays", text: `Does not merge: the work stays on ${branch}.${later}` };
  }
  const stage = findStage(resolved.flow, run, MAIN_TRACK, lead.to);
  if (stage?.kind !== "builtin" || stage.agent !== "land") return null;
  const mode = runFacts(run).config.mergeMode || place.mode;
  const modes = resolved.flow.merge?.modes;
  const [alone, builtOn] = [wayToLand(modes, mode, true), wayToLand(modes, mode, false)];
  if (alone === undefined || builtOn === undefined)
    return { way: "stays", text: `Lands nothing: the flow has no way to land in the mode "${mode}".` };
  const joint = jointOf(run);
  if (joint !== null) return ofSeveral(alone, branch, joint);
  const text = `${sentence(alone, branch, place)}.`;
  // Whether other tickets build on this one is decided when it lands.
  const other = alone === builtOn ? "" : ` If other tickets build on it: ${lower(sentence(builtOn, branch, place))}.`;
  return { way: alone, text: `${text}${other}` };
}

/** Each repository has a target of its own; pull requests in several would be several decisions. */
function ofSeveral(way: MergeWay, branch: string, { members }: Joint): Landing {
  const places = members.map(({ dir, base }) => `${memberName(dir)} on ${base ?? "its default branch"}`).join(", ");
  switch (way) {
    case "land":
      return { way, text: `Lands ${branch} of each repository through its merge queue: ${places}.` };
    case "push":
      return { way, text: `Pushes ${branch} of each repository; it does not merge.` };
    case "pr":
      return { way: "stays", text: "Lands nothing: pull requests in several repositories are not one decision." };
  }
}

function sentence(way: MergeWay, branch: string, { remote, target, hasPullRequests }: LandingPlace): string {
  const into = target ?? "the default branch";
  const where = remote === null ? `${into} of the project's repository` : `${into} of ${remote}`;
  switch (way) {
    case "land":
      return `Lands ${branch} on ${where}, through the merge queue`;
    case "pr":
      if (hasPullRequests) return `Opens a pull request of ${branch} into ${where}; it does not merge`;
      return remote === null
        ? `Does not merge: ${branch} waits until a person merges it into ${where}`
        : `Pushes ${branch} to ${remote} and does not merge: it waits until a person merges it into ${into}`;
    case "push":
      return remote === null
        ? `Does not merge: the work stays on ${branch}`
        : `Pushes ${branch} to ${remote}; it does not merge`;
  }
}

function lower(text: string): string {
  return `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;
}
