// A separate clone per workspace: the agent's repository shares nothing with the user's, not even objects. Passrail brings its commits back
// from outside, after an attempt and before the clone is removed. Sandboxes build on this.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Result } from "../core/result.ts";
import { checkBranchName } from "../git/branch-name.ts";
import { bringBack } from "./bring-back.ts";
import { clonePlace, makeClone } from "./clone-repository.ts";
import { diffSince } from "../git/diff.ts";
import { inRepository } from "../git/git.ts";
import type { GitWorkspaces } from "./git-workspaces.ts";
import { leaveLarge } from "./leave-large.ts";
import type { WorkLimits } from "../git/large-files.ts";
import { optional } from "../core/optional.ts";
import { type CommitHow, commitWork, pinCommit } from "../git/pin.ts";
import { headName, resolveCommits } from "../git/repository.ts";
import { aim, checkRunId, isOf, type Located, locate, notOurs, type Target } from "./target.ts";
import { inTurns } from "./turns.ts";
import type { Closed, Workspace } from "./workspace.ts";
import type { WorkspaceMode } from "../core/flow/workspace-mode.ts";
import { enter, inTheWay, lookAt, moveAside, sweep, sweepClosed } from "./worktree-folder.ts";

export type CloneSettings = {
  /** The folder that holds the clones; only Passrail writes it. */
  readonly root: string;
  /** For kinds that wrap a clone. */
  readonly mode?: WorkspaceMode;
  readonly limits?: WorkLimits;
  /** Where the processes of the state folder take turns; absent: only this process works here. */
  readonly turns?: string;
};

export function createCloneWorkspaces({ root, mode = "clone", limits, turns }: CloneSettings): GitWorkspaces {
  const inTurn = inTurns(turns === undefined ? undefined : join(turns, "clones"));
  const placeOf: GitWorkspaces["place"] = async (workspace) => {
    const located = await locate(root, workspace);
    return located.ok ? clonePlace(located.value.top) : located;
  };
  return {
    mode,
    place: placeOf,

    async open(request) {
      const target = await aim(root, request);
      if (!target.ok) return target;
      return inTurn(target.value.top, () => openAt(target.value, mode));
    },

    async head(workspace) {
      const place = await placeOf(workspace);
      if (!place.ok) return null;
      const commits = await resolveCommits(place.value.top, ["HEAD"], { place: place.value });
      return commits.ok ? (commits.value[0] ?? null) : null;
    },

    async diff(workspace, from) {
      const place = await placeOf(workspace);
      if (!place.ok) return `[passrail: the diff could not be made: ${place.error.message}]\n`;
      return diffSince(place.value, place.value.top, from, { commits: true, ...optional({ limits }) });
    },

    async publish(workspace, runId) {
      const known = await workspaceOf(root, workspace, runId);
      if (!known.ok) return known;
      const { located, repository, branch } = known.value;
      return inTurn(located.top, async () => {
        const place = await clonePlace(located.top);
        if (!place.ok) return place;
        const brought = await bringBack({ place: place.value, key: located.key, repository, branch, runId }, []);
        return brought.ok ? ok(null) : brought;
      });
    },

    async unlock(workspace) {
      const place = await placeOf(workspace);
      if (!place.ok) return;
      for (const name of ["index.lock", "HEAD.lock"]) await rm(join(place.value.gitDir, name), { force: true });
    },

    async letGo() {
      // No other workspace sees this repository's branches.
      return ok(null);
    },

    sweep: (runId) => sweepClosed(root, runId),

    async close(workspace, runId, how) {
      const known = await workspaceOf(root, workspace, runId);
      if (!known.ok) return known;
      return inTurn(known.value.located.top, () => closeAt(known.value, runId, how?.later === true, limits));
    },
  };
}

type Known = { readonly located: Located; readonly repository: string; readonly branch: string };

async function workspaceOf(root: string, workspace: Workspace, runId: string): Promise<Result<Known>> {
  const checked = checkRunId(runId);
  if (!checked.ok) return checked;
  const located = await locate(root, workspace);
  if (!located.ok) return located;
  if (!isOf(workspace, located.value, runId))
    return err(notOurs(`${workspace.dir} is not the workspace of run ${runId}`));
  const branch = checkBranchName(workspace.branch ?? "");
  const { repository } = workspace;
  if (repository === undefined || !branch.ok) return err(notOurs(`${workspace.dir} was not opened as a clone`));
  return ok({ located: located.value, repository, branch: branch.value });
}

async function openAt(target: Target, mode: WorkspaceMode): Promise<Result<Workspace>> {
  const { top, repository, branch, key } = target;
  const there = await lookAt(top);
  if (!there.ok) return there;
  const ready = there.value === "filled" ? await reopen(target) : await makeClone(target);
  if (!ready.ok) return ready;
  const dir = await enter(top, repository.prefix);
  if (!dir.ok) return dir;
  const lockKeys = [`branch:${repository.commonDir}:${branch}`, `dir:${top}`];
  return ok({ mode, key, dir: dir.value, branch, repository: repository.commonDir, lockKeys });
}

/** A clone is moved into place in one step, so an existing one has been used before and stays unchanged. */
async function reopen({ top, branch }: Target): Promise<Result<null>> {
  const place = await clonePlace(top);
  if (!place.ok) return place;
  const name = await headName(place.value);
  if (!name.ok) return name;
  const current = name.value;
  if (current === "HEAD" || current === `refs/heads/${branch}`) return ok(null);
  return err(inTheWay(top, `it is on ${current.replace("refs/heads/", "").slice(0, 120)}, not on ${branch}`));
}

async function closeAt(
  { located, repository, branch }: Known,
  runId: string,
  later: boolean,
  limits?: WorkLimits,
): Promise<Result<Closed>> {
  const { root, top, key } = located;
  const there = await lookAt(top);
  if (!there.ok) return there;
  const kept =
    there.value === "filled"
      ? await keepWork(located, repository, branch, runId, limits)
      : await keepBranch(repository, branch, runId);
  // A diverged branch is no reason to keep the clone: its work is pinned and the divergence reported once.
  if (!kept.ok && kept.error.code !== "branch_diverged") return kept;
  await moveAside(root, top, key);
  const swept = later ? ok(null) : await sweep(root, key);
  return swept.ok ? kept : swept;
}

async function keepWork(
  located: Located,
  repository: string,
  branch: string,
  runId: string,
  limits?: WorkLimits,
): Promise<Result<Closed>> {
  const { root, top, key } = located;
  const how: CommitHow = { leave: leaveLarge(root, key), ...optional({ limits }) };
  const place = await clonePlace(top);
  if (!place.ok) return keepFiles(top, repository, branch, runId, how);
  const commits = await resolveCommits(top, ["HEAD", `refs/heads/${branch}`], { place: place.value });
  if (!commits.ok) return keepFiles(top, repository, branch, runId, how);
  const head = commits.value[0] ?? null;
  const made = await commitWork(place.value, { from: "index" }, head, runId, how);
  if (!made.ok) return made;
  const brought = await bringBack({ place: place.value, key, repository, branch, runId }, [made.value]);
  if (!brought.ok) return brought;
  // The head last: an agent may have left it detached, and then it is not on the branch.
  for (const commit of [commits.value[1] ?? null, head]) {
    if (commit === null) continue;
    const pinned = await pinCommit(repository, runId, commit);
    if (!pinned.ok) return pinned;
  }
  const pinned = await pinCommit(repository, runId, made.value);
  return pinned.ok ? ok({ pinned: pinned.value, leftover: made.value === head ? null : made.value }) : pinned;
}

/** The agent ruined its repository: its files are kept on top of the project's version of the branch. */
async function keepFiles(
  top: string,
  repository: string,
  branch: string,
  runId: string,
  how: CommitHow,
): Promise<Result<Closed>> {
  const commits = await resolveCommits(repository, [`refs/heads/${branch}`, "HEAD"], inRepository(repository));
  if (!commits.ok) return commits;
  const parent = commits.value[0] ?? commits.value[1] ?? null;
  // A leftover .git must not look like a repository inside the work.
  await rm(join(top, ".git"), { recursive: true, force: true });
  const place = { gitDir: repository, commonDir: repository, top };
  const made = await commitWork(place, { from: "commit", commit: parent }, parent, runId, how);
  if (!made.ok) return made;
  const pinned = await pinCommit(repository, runId, made.value);
  return pinned.ok ? ok({ pinned: pinned.value, leftover: made.value }) : pinned;
}

/** Closed before, or never opened: keeps the branch as the project has it. */
async function keepBranch(repository: string, branch: string, runId: string): Promise<Result<Closed>> {
  const commits = await resolveCommits(repository, [`refs/heads/${branch}`], inRepository(repository));
  if (!commits.ok) return commits;
  const [tip] = commits.value;
  if (!tip) return ok({ pinned: null, leftover: null });
  const pinned = await pinCommit(repository, runId, tip);
  return pinned.ok ? ok({ pinned: pinned.value, leftover: null }) : pinned;
}
