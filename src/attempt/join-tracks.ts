// The builtin `join`: merges the branches of the tracks into the run's branch, in the order of the flow. Every merge can be repeated: a
// branch that is contained already is passed over, and none is left half-done. A conflict changes nothing and is told with its files.

import { MAIN_TRACK } from "../core/flow/flow.ts";
import type { Report } from "../core/flow/outcome.ts";
import type { Problem } from "../core/result.ts";
import { repositoryOf } from "../core/run/joint.ts";
import { joinedBefore, trackBranch } from "../core/run/track-branch.ts";
import { inRepository } from "../git/git.ts";
import { findProject, findRepository, resolveCommits } from "../git/repository.ts";
import type { BuiltinContext } from "./builtins.ts";
import { failpoint } from "./failpoint.ts";
import { branchRequest, TRACKS_IN_PLACE } from "./stage-workspace.ts";

export async function joinTracks(context: BuiltinContext): Promise<Report> {
  const { resolved, run, stage, workspace, workspaces, project } = context;
  const parallel = joinedBefore(resolved.flow, stage.id);
  if (parallel === undefined) return { cause: "nothing_to_join", reason: `no parallel stage is before ${stage.id}` };
  if (workspace.mode === "in-place") return { cause: "tracks_in_place", reason: TRACKS_IN_PLACE };
  const joined: string[] = [];
  for (const track of parallel.join) {
    const branch = trackBranch(resolved.flow, run, track);
    const tip = await tipOf(repositoryOf(run), branch);
    if (typeof tip === "object") return { cause: tip.code, reason: tip.message };
    // Publishing workspaces bring the branches home; a track whose stages were all skipped has none.
    if (tip === "") continue;
    const merged = await workspaces.open({ ...branchRequest(resolved.flow, run, project), contains: [tip] });
    if (!merged.ok) return trouble(context, { track, branch, problem: merged.error });
    joined.push(`${branch} (${tip.slice(0, 12)})`);
    failpoint("track-joined");
  }
  const what = joined.length === 0 ? "nothing" : joined.join(", ");
  return { structured: true, verdict: "pass", summary: `${workspace.branch ?? MAIN_TRACK} contains ${what}.` };
}

/** "" if there is no such branch. */
async function tipOf(folder: string, branch: string): Promise<string | Problem> {
  const project = await findProject(folder);
  const repository = project.ok ? await findRepository(project.value) : project;
  if (!repository.ok) return repository.error;
  const { commonDir } = repository.value;
  const found = await resolveCommits(commonDir, [`refs/heads/${branch}`], inRepository(commonDir));
  return found.ok ? (found.value[0] ?? "") : found.error;
}

type Trouble = { readonly track: string; readonly branch: string; readonly problem: Problem };

/** A conflict is a person's decision, or the track's own work where the flow has a way back to it. Anything else has failed. */
function trouble({ stage, workspace }: BuiltinContext, { track, branch, problem }: Trouble): Report {
  if (problem.code !== "merge_conflict") return { cause: problem.code, reason: problem.message };
  const own = workspace.branch ?? "";
  const reason = `${branch} conflicts with the tracks that were joined before it. ${problem.message} Nothing of ${track} was joined.`;
  if ("revise" in stage.route) {
    const description = `${reason} Merge ${own} into your branch, resolve the conflict, and commit: git merge ${own}`;
    return {
      structured: true,
      verdict: "revise",
      reason,
      blame: [track],
      issues: [{ severity: "major", description }],
    };
  }
  const hand = `Join it by hand, then answer: git -C ${workspace.dir} merge ${branch}`;
  const issues = [{ severity: "major", description: `${reason} ${hand}` }];
  return { structured: true, verdict: "reject", reason: `${reason} ${hand}`, issues };
}
