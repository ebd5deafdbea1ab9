// The folder in which a stage's agent works: its workspace, or the folder of it that the flow and the run's facts name.

import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { fillFacts } from "../core/flow/template.ts";
import { err, ok, type Problem, type Result } from "../core/result.ts";
import { jointOf } from "../core/run/joint.ts";
import { factOf } from "../core/run/sequence.ts";
import { joinOf } from "../core/run/track-branch.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { AttemptJob } from "./job.ts";

/** Never the root in silence: a name that leads elsewhere, or that tracks of one workspace need and nobody gave, is a problem. */
export function workDir(
  job: Pick<AttemptJob, "resolved" | "run" | "stage" | "track" | "project">,
  workspace: Workspace,
): Result<string> {
  const { resolved, run, stage, track } = job;
  const plan = resolved.flow.stages.find((each) => each.kind === "parallel" && Object.hasOwn(each.tracks, track));
  const trackDir = plan?.kind === "parallel" ? plan.tracks[track]?.workspace?.dir : undefined;
  const named = stage.workspace?.dir ?? trackDir;
  if (named === undefined) return ok(workspace.dir);
  const dir = fillFacts(named, (path) => factOf(run, path));
  // A track with a worktree of its own may have all of it.
  if (dir === undefined)
    return plan !== undefined && joinOf(resolved.flow, track) === undefined
      ? err(unset(named, track))
      : ok(workspace.dir);
  if (isAbsolute(dir) || dir.split(/[/\\]/u).includes("..") || dir.includes("\0")) return err(outside(dir));
  const isMember = jointOf(run)?.members.some((member) => member.dir === dir) === true;
  if (!isMember && existsSync(join(job.project, dir, ".git"))) return err(ownRepository(dir));
  return ok(join(workspace.dir, dir));
}

const outside = (dir: string): Problem => ({
  code: "workspace_dir_invalid",
  message: `${JSON.stringify(dir.slice(0, 200))} is not a folder inside the workspace; name one relative to it, without "..".`,
});

const unset = (named: string, track: string): Problem => ({
  code: "workspace_dir_missing",
  message: `Track ${track} works in ${named}, which has no value, and shares its workspace with other tracks; give it with --input.`,
});

const ownRepository = (dir: string): Problem => ({
  code: "workspace_dir_is_repository",
  message: `${dir} is a repository of its own; a run works in one repository. Start a run in ${dir} itself.`,
});
