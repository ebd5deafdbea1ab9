// Runs the user's checks on the merged tree until one fails, with the machinery of all checks. Their results are kept apart from those of
// attempts: there an agent has worked, and files that git ignores are its own.

import type { CheckResult, CheckedBy, NamedCheck } from "../../core/flow/check-result.ts";
import type { Result } from "../../core/result.ts";
import { ok } from "../../core/result.ts";
import { type CheckPorts, runCheck } from "../../attempt/checks/run-check.ts";
import { git, type GitOptions } from "../../git/git.ts";

export type MergeCheckPlan = {
  readonly commands: readonly (readonly string[])[];
  readonly dir: string;
  readonly commit: string;
  /** For git calls in that folder. */
  readonly place: GitOptions;
  readonly timeoutMs: number;
  /** The folder of the attempt that lands the work. */
  readonly logFolder: string;
  readonly marker: string;
  readonly by: Omit<CheckedBy, "at">;
  readonly ports: CheckPorts;
};

export type MergeCheck =
  | { readonly type: "passed"; readonly results: readonly CheckResult[] }
  | {
      readonly type: "failed";
      readonly results: readonly CheckResult[];
      readonly command: string;
      readonly why: string;
      readonly excerpt: string;
    };

const PLACE_OF_MERGES = "merge";

export async function runChecks(plan: MergeCheckPlan): Promise<Result<MergeCheck>> {
  const { commit, dir, logFolder, marker, by, ports } = plan;
  if (plan.commands.length === 0) return ok({ type: "passed", results: [] });
  const named = await git(dir, ["rev-parse", `${commit}^{tree}`], plan.place);
  if (!named.ok) return named;
  const results: CheckResult[] = [];
  for (const check of plan.commands.map((run, index) => mergeCheck(run, index, plan.timeoutMs))) {
    const { result, excerpt } = await runCheck(
      check,
      {
        dir,
        commit,
        tree: named.value.trim(),
        isExact: true,
        prefix: "",
        kind: PLACE_OF_MERGES,
        env: {},
        marker,
        logFile: (name) => `${logFolder}/check-${name}.log`,
        by,
        confinement: {},
      },
      ports,
    );
    results.push(result);
    if (result.state === "passed") continue;
    // Completes the sentence "the check … ".
    const why = (result.why ?? result.state).replace(/^it /u, "");
    return ok({ type: "failed", results, command: result.command, why, excerpt });
  }
  return ok({ type: "passed", results });
}

function mergeCheck(run: readonly string[], index: number, timeoutMs: number): NamedCheck {
  return { name: `merge-${index + 1}`, run, timeoutMs, env: [] };
}
