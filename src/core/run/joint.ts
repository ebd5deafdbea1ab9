// A run over several repositories. Its work is in one joint repository of Passrail's own, in which every member is a folder: one commit there
// holds the work in all of them, so one commit is reviewed, bound by a gate and landed. Each member gets its part as a branch of its own.

import type { Json, JsonObject } from "../json.ts";
import { runFacts } from "./facts.ts";
import type { Run } from "./run.ts";

export type Member = {
  /** Relative to the project; "." for the project's own repository. */
  readonly dir: string;
  /** The commit where the run begins. */
  readonly commit: string;
  /** The branch that the work goes into; null if nothing says which. */
  readonly base: string | null;
};

export type Joint = {
  /** The folder of the joint repository, absolute. */
  readonly folder: string;
  readonly members: readonly Member[];
};

/** A member's branch at the commit that holds its part of the work. */
export type MemberTip = { readonly dir: string; readonly branch: string; readonly commit: string };

/** Null for a run in one repository. */
export function jointOf(run: Pick<Run, "facts">): Joint | null {
  const folder = runFacts(run).config.joint;
  return folder === null || folder === ""
    ? null
    : { folder, members: listOf(run.facts["repositories"]).flatMap(memberOf) };
}

/** The folder whose repository has the run's branch. */
export function repositoryOf(run: Pick<Run, "facts">): string {
  return jointOf(run)?.folder ?? runFacts(run).config.project ?? "";
}

/** The ref of the joint repository that holds a member's part, as it was published last. */
export const splitRef = (index: number): string => `refs/passrail/split/${index}`;

/** "the project", or the folder. */
export function memberName(dir: string): string {
  return dir === "." ? "the project" : dir;
}

/** Where each member's part is, by the newest attempt that says so; empty for a run in one repository. */
export function lastTips(attempts: readonly { readonly facts: JsonObject }[]): readonly MemberTip[] {
  const found = attempts.findLast(({ facts }) => Array.isArray(facts["repositories"]));
  return found === undefined ? [] : tipsOf(found.facts);
}

function tipsOf(facts: JsonObject): readonly MemberTip[] {
  return listOf(facts["repositories"]).flatMap((value) => {
    const { dir, branch, commit } = objectOf(value);
    if (typeof dir !== "string" || typeof branch !== "string" || typeof commit !== "string") return [];
    return [{ dir, branch, commit }];
  });
}

function memberOf(value: Json): readonly Member[] {
  const { dir, commit, base } = objectOf(value);
  if (typeof dir !== "string" || typeof commit !== "string") return [];
  return [{ dir, commit, base: typeof base === "string" ? base : null }];
}

function objectOf(value: Json | undefined): JsonObject {
  return value === null || typeof value !== "object" || Array.isArray(value) ? {} : (value as JsonObject);
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}
