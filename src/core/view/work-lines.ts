// Where the work of a run is while a person decides about it: each branch with its commit and its folder, and what its agents report of
// their checks. A reported check stays a report.

import { attemptFacts } from "../attempt-facts.ts";
import type { Json, JsonObject } from "../json.ts";
import { lastTips, memberName } from "../run/joint.ts";

export type WorkedAttempt = {
  readonly stage: string;
  readonly status: string;
  readonly outcome: JsonObject | null;
  readonly facts: JsonObject;
};

const CHECKS_AT_MOST = 20;

export type WorkBranch = {
  readonly branch: string;
  /** Null if no attempt has reported it. */
  readonly commit: string | null;
  /** How many commits the run's attempts added. */
  readonly commits: number;
  readonly workspace: string | null;
};

/** Oldest first; the last attempt on a branch shows where it is. */
export function workLines(attempts: readonly WorkedAttempt[]): readonly string[] {
  return [...workBranches(attempts).map(branchLine), ...repositoryLines(attempts), ...checkLines(attempts)];
}

/** Each of several repositories with its part of the work. */
function repositoryLines(attempts: readonly WorkedAttempt[]): readonly string[] {
  return lastTips(attempts).map(
    ({ dir, branch, commit }) => `repository ${memberName(dir)}: ${branch} at ${commit.slice(0, 12)}`,
  );
}

export function workBranches(attempts: readonly Pick<WorkedAttempt, "facts">[]): readonly WorkBranch[] {
  const found = new Map<string, WorkBranch & { readonly made: ReadonlySet<string> }>();
  for (const { branch, to, from, workspace, commits } of attempts.map(attemptFacts)) {
    if (branch === null) continue;
    const known = found.get(branch);
    const made = new Set([...(known?.made ?? []), ...commits]);
    const commit = to ?? from;
    found.set(branch, { branch, commit, commits: made.size, workspace: workspace ?? known?.workspace ?? null, made });
  }
  return [...found.values()].map(({ made: _made, ...row }) => row);
}

function branchLine({ branch, commit, commits, workspace }: WorkBranch): string {
  const at = commit === null ? "" : ` at ${commit.slice(0, 12)}`;
  const where = workspace === null ? "" : `, in ${workspace}`;
  return `${branch}${at}, ${commits} ${commits === 1 ? "commit" : "commits"}${where}`;
}

function checkLines(attempts: readonly WorkedAttempt[]): readonly string[] {
  const done = attempts.filter(({ status }) => status === "done");
  const stages = [...new Set(done.map(({ stage }) => stage))];
  return stages.flatMap((stage) => {
    const gates = gatesOf(done.findLast((each) => each.stage === stage)?.outcome ?? null);
    if (gates.length === 0) return [];
    const said = gates.slice(0, CHECKS_AT_MOST).map(({ line, clean }) => `${line}${clean ? "" : " (not clean)"}`);
    return [`${stage} reports, and Passrail did not see: ${said.join("; ")}`];
  });
}

function gatesOf(outcome: JsonObject | null): readonly { readonly line: string; readonly clean: boolean }[] {
  const payload = outcome?.["payload"];
  const gates: Json | undefined = isObject(payload) ? payload["gates"] : undefined;
  if (!Array.isArray(gates)) return [];
  return (gates as readonly Json[]).filter(isObject).map(({ line, clean }) => ({
    line: typeof line === "string" ? line : "",
    clean: clean === true,
  }));
}

function isObject(value: Json | undefined): value is JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
