// The location of a run's worktree: the one place that turns ids and names from outside into paths, after checking them.

import { join, relative, sep } from "node:path";
import { err, ok, type Problem, type Result } from "../core/result.ts";
import { checkBranchName } from "../git/branch-name.ts";
import { findProject, findRepository, type Repository } from "../git/repository.ts";
import type { Workspace, WorkspaceRequest } from "./workspace.ts";
import { openRoot } from "./worktree-folder.ts";

export type Target = {
  readonly runId: string;
  /** The name of the folder; a run may have several workspaces. */
  readonly key: string;
  readonly root: string;
  readonly top: string;
  readonly repository: Repository;
  readonly project: string;
  readonly branch: string;
  readonly base: string | null;
};

/** Checks a request and finds its repository. */
export async function aim(root: string, request: WorkspaceRequest): Promise<Result<Target>> {
  const runId = checkRunId(request.runId);
  if (!runId.ok) return runId;
  const key = checkKey(request.key ?? runId.value);
  if (!key.ok) return key;
  const branch = checkBranchName(request.branch ?? `passrail/${runId.value}`);
  if (!branch.ok) return branch;
  if (request.base !== undefined && !/^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/u.test(request.base)) {
    const message = `${JSON.stringify(request.base.slice(0, 120))} cannot name the commit where a branch starts.`;
    return err({ code: "invalid_base", message, hint: "Give a branch, a tag or a commit id, for example main." });
  }
  const project = await findProject(request.project);
  if (!project.ok) return project;
  const repository = await findRepository(project.value);
  if (!repository.ok) return repository;
  const opened = await openRoot(root);
  if (!opened.ok) return opened;
  return ok({
    runId: runId.value,
    key: key.value,
    root: opened.value,
    top: join(opened.value, key.value),
    repository: repository.value,
    project: project.value,
    branch: branch.value,
    base: request.base ?? null,
  });
}

export type Located = { readonly root: string; readonly top: string; readonly key: string };

/** Finds the folder of a workspace that was opened earlier. */
export async function locate(root: string, workspace: Workspace): Promise<Result<Located>> {
  const opened = await openRoot(root);
  if (!opened.ok) return opened;
  const [name = ".."] = relative(opened.value, workspace.dir).split(sep);
  const key = checkKey(name);
  return key.ok
    ? ok({ root: opened.value, top: join(opened.value, name), key: name })
    : err(notOurs(`${workspace.dir} is not under ${root}`));
}

export function checkRunId(runId: string): Result<string> {
  if (/^[a-z0-9][a-z0-9-]{0,63}$/u.test(runId)) return ok(runId);
  const message = `${JSON.stringify(runId.slice(0, 120))} cannot be the id of a run.`;
  return err({ code: "invalid_run_id", message, hint: "Use lower-case letters, digits and -, up to 64 characters." });
}

function checkKey(key: string): Result<string> {
  if (/^[a-z0-9][a-z0-9-]{0,127}$/u.test(key)) return ok(key);
  const message = `${JSON.stringify(key.slice(0, 160))} cannot name a workspace.`;
  return err({ code: "invalid_workspace_key", message });
}

/** Whether the located workspace is the requested one and belongs to this run: its key is the run's id, or begins with it. */
export function isOf({ key }: Workspace, located: Located, runId: string): boolean {
  return located.key === (key ?? runId) && (located.key === runId || located.key.startsWith(`${runId}-`));
}

export const notOurs = (what: string): Problem => ({
  code: "not_a_workspace",
  message: `${what}; nothing was touched.`,
});
