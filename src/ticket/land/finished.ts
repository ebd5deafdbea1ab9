// A person's acts on the work of an ended run: land it, propose it, or discard it. Commands and API check and plan it here.

import { optional } from "../../core/optional.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { jointOf } from "../../core/run/joint.ts";
import { projectOf } from "../../core/run/run-settings.ts";
import { isEnded, type Run } from "../../core/run/run.ts";
import type { RunEnd } from "../../core/view/run-end.ts";
import { planRun, type RunPlan, type StartPlace } from "../../app/start-run/start-run.ts";

export type FinishedWork = {
  readonly run: Run;
  readonly number: number;
  /** Null while the run works or waits. */
  readonly end: RunEnd | null;
};

export type KeptBranch = { readonly branch: string; readonly tip: string };

/** The branch of a completed run whose work has not left it. */
export function landable(work: FinishedWork): Result<KeptBranch> {
  const { run, number } = work;
  if (run.status !== "completed")
    return err({
      code: "not_completed",
      message: `#${number} is ${run.status}; only the work of a completed run is merged.`,
      hint: `passrail runs show ${number}`,
    });
  return keptBranch(work);
}

/** The branch of any run that has ended, if its work has not left it. */
export function discardable(work: FinishedWork): Result<KeptBranch> {
  const { run, number } = work;
  if (!isEnded(run))
    return err({
      code: "run_not_ended",
      message: `#${number} is ${run.status}.`,
      hint: `passrail runs cancel ${number}`,
    });
  return keptBranch(work);
}

function keptBranch({ run, number, end }: FinishedWork): Result<KeptBranch> {
  if (jointOf(run) !== null) return err(several(number, end));
  if (end?.state === "kept" && end.branch !== null && end.tip !== null) return ok({ branch: end.branch, tip: end.tip });
  const why = end === null ? `#${number} has not ended` : end.text;
  const message = `There is no branch with unmerged work: ${why}`;
  return err({ code: "nothing_to_merge", message, hint: `passrail runs show ${number}` });
}

/** One act cannot merge or discard the branches of several repositories. */
function several(number: number, end: RunEnd | null) {
  const commands = (end?.commands ?? []).map(({ command }) => command).join("\n");
  return {
    code: "several_repositories",
    message: `#${number} has a branch in each of several repositories; merge or remove them there.`,
    hint: commands === "" ? `passrail runs show ${number}` : commands,
  };
}

export type LandingChoice = {
  /** A pull request instead of a merge. */
  readonly pr: boolean;
  /** The same key gives the same run. */
  readonly key?: string;
};

/** The run of the flow `land` that lands or proposes it. */
export function planLanding(
  place: Pick<StartPlace, "home" | "settings">,
  { run }: FinishedWork,
  { branch }: KeptBranch,
  { pr, key }: LandingChoice,
): Promise<Result<RunPlan>> {
  return planRun(
    { ...place, project: projectOf(run) },
    {
      flow: "land",
      subject: run.subject,
      input: [
        ["land.run", run.id],
        ["land.branch", branch],
        ["config.merge_mode", pr ? "pr" : "merge"],
      ],
      workspace: "worktree",
      ...optional({ key }),
    },
  );
}
