// Looks up what a passing report cites as evidence: files in the commit that holds the work, and the checks that Passrail has just run.

import { join, relative } from "node:path";
import type { Issue, Report } from "../../core/flow/outcome.ts";
import { citedPaths, criteriaIn, isGap, verified } from "../../core/verdict/criteria.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { AttemptJob, AttemptPorts } from "../job.ts";

/** `dir` is the folder in which the agent worked: it may cite files from there, too. */
export async function verifyEvidence(
  { stage }: AttemptJob,
  { workspaces }: AttemptPorts,
  { workspace, dir, report }: { readonly workspace: Workspace; readonly dir: string; readonly report: Report },
): Promise<Report> {
  const criteria = criteriaIn(report.payload);
  if (criteria.length === 0 || report.cause !== undefined) return report;
  const paths = citedPaths(criteria);
  const checks = report.checks ?? [];
  const commit = checks.find((check) => check.commit !== null)?.commit ?? (await workspaces.head(workspace));
  const below = relative(workspace.dir, dir);
  const wanted = below === "" ? paths : [...paths, ...paths.map((path) => join(below, path))];
  const looked =
    commit === null || wanted.length === 0 ? undefined : await workspaces.lines?.(workspace, commit, wanted);
  const found = new Map(looked?.ok === true ? wanted.map((path, index) => [path, looked.value[index] ?? null]) : []);
  const linesOf = (path: string): number | null | undefined => {
    const here = found.get(path);
    return here === null && below !== "" ? found.get(join(below, path)) : here;
  };
  const evidence = verified(criteria, { linesOf, checks, commit: looked?.ok === true ? commit : null });
  const gaps = stage.evidence === "required" ? evidence.filter(isGap) : [];
  if (gaps.length === 0) return { ...report, evidence };
  const issues = gaps.map(
    ({ what, why }): Issue => ({
      severity: "major",
      description: `The row "${what}" is marked as met, and its evidence does not hold: ${why}. Cite a file of your work as path:line, or a check.`,
    }),
  );
  return { ...report, evidence, checkIssues: [...(report.checkIssues ?? []), ...issues] };
}
