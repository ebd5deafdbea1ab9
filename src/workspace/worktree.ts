// One git worktree per run, under Passrail's own root. Opening resumes from any state that a crash left; closing pins first, then removes.
// This file decides by the state on disk; the files next to it have the details.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Result } from "../core/result.ts";
import { addWorktree } from "./add-worktree.ts";
import { checkBranchName } from "../git/branch-name.ts";
import { diffSince } from "../git/diff.ts";
import { git, inRepository, type GitLocation } from "../git/git.ts";
import type { WorkLimits } from "../git/large-files.ts";
import { optional } from "../core/optional.ts";
import type { GitWorkspaces } from "./git-workspaces.ts";
import { leaveLarge } from "./leave-large.ts";
import { commitWork, pinCommit } from "../git/pin.ts";
import { isBelowFolders } from "../git/plain-file.ts";
import { findRegistration, gitFileTarget, isHalfMade, type Registration, relink, unregister } from "./registration.ts";
import { headName, resolveCommits } from "../git/repository.ts";
import { createSpares, type Spares } from "./spares.ts";
import { inTurns, type InTurn } from "./turns.ts";
import { aim, checkRunId, isOf, type Located, locate, notOurs, type Target } from "./target.ts";
import type { Closed, Workspace } from "./workspace.ts";
import { enter, inTheWay, lookAt, moveAside, sweep, sweepClosed } from "./worktree-folder.ts";

export type WorktreeSettings = {
  /** The folder that holds the worktrees; only Passrail writes it. */
  readonly root: string;
  readonly limits?: WorkLimits;
  /** Where the processes of the state folder take turns; absent: only this process works here. */
  readonly turns?: string;
};

export function createWorktreeWorkspaces(settings: WorktreeSettings): GitWorkspaces {
  const { turns } = settings;
  const inTurn = inTurns(turns === undefined ? undefined : join(turns, "worktrees"));
  const registering = inTurns(turns === undefined ? undefined : join(turns, "repositories"));
  const spares = createSpares();
  return {
    mode: "worktree",

    async open(request) {
      const target = await aim(settings.root, request);
      if (!target.ok) return target;
      return inTurn(target.value.top, () => openAt(target.value, registering, settings.limits));
    },

    async head(workspace) {
      const found = await registrationOf(settings.root, workspace);
      if (!found.ok || found.value === null) return null;
      const { place } = found.value;
      const commits = await resolveCommits(place.top, ["HEAD"], { place });
      return commits.ok ? (commits.value[0] ?? null) : null;
    },

    async diff(workspace, from) {
      const found = await registrationOf(settings.root, workspace);
      const missing = found.ok ? "the worktree is not there" : found.error.message;
      if (!found.ok || found.value === null) return `[passrail: the diff could not be made: ${missing}]\n`;
      return diffSince(found.value.place, found.value.place.top, from, {
        commits: true,
        ...optional({ limits: settings.limits }),
      });
    },

    async unlock(workspace) {
      const found = await registrationOf(settings.root, workspace);
      if (!found.ok || found.value === null) return;
      const { gitDir, commonDir } = found.value.place;
      // In git's own folder of this worktree, which no other worktree uses.
      for (const name of ["index.lock", "HEAD.lock"]) await rm(join(gitDir, name), { force: true });
      const branch = checkBranchName(workspace.branch ?? "");
      if (branch.ok) await removeRefLock(commonDir, `refs/heads/${branch.value}`);
    },

    async unlockBranch(request) {
      const target = await aim(settings.root, request);
      if (target.ok) await removeRefLock(target.value.repository.commonDir, `refs/heads/${target.value.branch}`);
    },

    async place(workspace) {
      const found = await registrationOf(settings.root, workspace);
      if (!found.ok) return found;
      return found.value === null ? err(notOurs(`there is no worktree at ${workspace.dir}`)) : ok(found.value.place);
    },

    async letGo(workspace) {
      const found = await registrationOf(settings.root, workspace);
      if (!found.ok) return found;
      return found.value === null ? ok(null) : detach(found.value.place);
    },

    sweep: (runId) => sweepLeft(settings.root, runId, spares),

    async prepare(request) {
      const target = await aim(settings.root, request);
      if (target.ok) await prepareFor(target.value, spares);
    },
    dropPrepared: () => spares.drop(settings.root),

    async close(workspace, runId, how) {
      const checked = checkRunId(runId);
      if (!checked.ok) return checked;
      const located = await locate(settings.root, workspace);
      if (!located.ok) return located;
      if (!isOf(workspace, located.value, runId))
        return err(notOurs(`${workspace.dir} is not the workspace of run ${runId}`));
      const asked = { later: how?.later === true, isCommitted: how?.isCommitted === true };
      const closing = { workspace, runId, ...asked, ...optional({ limits: settings.limits }) };
      return inTurn(located.value.top, () => closeAt(located.value, closing));
    },
  };
}

async function sweepLeft(root: string, runId: string | undefined, spares: Spares): Promise<Result<null>> {
  if (runId === undefined) await spares.sweep(root);
  return sweepClosed(root, runId);
}

async function prepareFor(target: Target, spares: Spares): Promise<void> {
  const { root, top, project, repository, branch, base } = target;
  const there = await lookAt(top);
  if (!there.ok || there.value !== "absent") return;
  const commits = await resolveCommits(project, [`refs/heads/${branch}`, base ?? "HEAD"], { place: repository });
  const [existing, start] = commits.ok ? commits.value : [];
  const commit = existing ?? start ?? null;
  if (commit !== null) await spares.prepare(root, repository.commonDir, commit);
}

/** The branch is the run's own. */
async function removeRefLock(commonDir: string, ref: string): Promise<void> {
  if (isBelowFolders(commonDir, ref.split("/").slice(0, -1)) === true)
    await rm(join(commonDir, `${ref}.lock`), { force: true });
}

async function openAt(target: Target, registering: InTurn, limits?: WorkLimits): Promise<Result<Workspace>> {
  const { top, repository, branch } = target;
  const there = await lookAt(top);
  if (!there.ok) return there;
  const found = findRegistration(repository.commonDir, top);
  if (found !== null && there.value !== "absent" && !isHalfMade(found)) {
    const kept = await reopen(target, found);
    if (!kept.ok) return kept;
  } else {
    const cleared = await clear(target, there.value, found, limits);
    if (!cleared.ok) return cleared;
    const added = await addWorktree(target, registering);
    if (!added.ok) return added;
  }
  const dir = await enter(top, repository.prefix);
  if (!dir.ok) return dir;
  const lockKeys = [`branch:${repository.commonDir}:${branch}`, `dir:${top}`];
  return ok({ mode: "worktree", key: target.key, dir: dir.value, branch, repository: repository.commonDir, lockKeys });
}

/** A used worktree stays unchanged; a detached HEAD is an agent in the middle of a rebase. */
async function reopen(target: Target, found: Registration): Promise<Result<null>> {
  const linked = relink(found);
  if (!linked.ok) return linked;
  const name = await headName(found.place);
  if (!name.ok) return name;
  const current = name.value;
  if (current === "HEAD" || current === `refs/heads/${target.branch}`) return ok(null);
  return err({
    code: "workspace_on_other_branch",
    message: `The workspace ${target.top} is on ${current.replace("refs/heads/", "")}, not on ${target.branch}.`,
    hint: `Put it back: git -C ${target.top} switch ${target.branch}`,
  });
}

/** Makes room for a new worktree. Possible work is pinned before it is removed. */
async function clear(
  target: Target,
  there: "absent" | "empty" | "filled",
  found: Registration | null,
  limits?: WorkLimits,
): Promise<Result<null>> {
  const { repository, top, runId } = target;
  if (found === null && there !== "filled") return ok(null);
  if (found === null) {
    const link = await lookAt(join(top, ".git"));
    if (link.ok && link.value !== "absent") return err(inTheWay(top, "it holds a repository of its own"));
    const elsewhere = gitFileTarget(top);
    if (elsewhere !== null && (await lookAt(elsewhere).then((at) => !at.ok || at.value !== "absent"))) {
      return err(inTheWay(top, `it is a worktree of another repository (${elsewhere})`));
    }
  }
  if (found === null || !isHalfMade(found)) {
    const pinned = await pinWork(
      repository.commonDir,
      target,
      runId,
      there,
      found,
      target.branch,
      optional({ limits }),
    );
    if (!pinned.ok) return pinned;
  }
  return remove(target, found);
}

type Closing = {
  readonly workspace: Workspace;
  readonly runId: string;
  readonly later: boolean;
  readonly isCommitted: boolean;
  readonly limits?: WorkLimits;
};

async function closeAt(located: Located, closing: Closing): Promise<Result<Closed>> {
  const { workspace, runId, later } = closing;
  const { top } = located;
  const commonDir = workspace.repository;
  const branch = checkBranchName(workspace.branch ?? "");
  if (commonDir === undefined || !branch.ok) return err(notOurs(`${workspace.dir} was not opened as a worktree`));
  const there = await lookAt(top);
  if (!there.ok) return there;
  const found = findRegistration(commonDir, top);
  if (found !== null && found.locked !== null && !isHalfMade(found) && there.value !== "absent") {
    return err({
      code: "workspace_locked",
      message: `The worktree ${top} is locked (${found.locked.slice(0, 200)}), so it is kept.`,
      hint: `Unlock it and close again: git -C ${top} worktree unlock ${top}`,
    });
  }
  const pinned = await pinWork(commonDir, located, runId, there.value, found, branch.value, closing);
  if (!pinned.ok) return pinned;
  const removed = await remove(located, found, later);
  return removed.ok ? ok(pinned.value) : removed;
}

/** Pins the head of the worktree and its uncommitted work; null if there is no commit and no file to keep. */
async function pinWork(
  commonDir: string,
  { root, top, key }: Located,
  runId: string,
  there: "absent" | "empty" | "filled",
  found: Registration | null,
  branch: string,
  { limits, isCommitted = false }: Partial<Pick<Closing, "isCommitted" | "limits">>,
): Promise<Result<Closed>> {
  const names = [`refs/heads/${branch}`, ...(found === null ? [] : ["HEAD"])];
  const options = found === null ? inRepository(commonDir) : { place: found.place };
  const resolved = await resolveCommits(commonDir, names, options);
  if (!resolved.ok) return resolved;
  const tip = resolved.value[0] ?? null;
  const head = resolved.value[1] ?? tip;
  // Two commits if an agent left HEAD detached or on another branch: both are pinned, the one with the work last.
  if (tip !== null && tip !== head) {
    const first = await pinCommit(commonDir, runId, tip);
    if (!first.ok) return first;
  }
  let commit = head;
  const hasAll = isCommitted && tip !== null && tip === head;
  if (there === "filled" && !hasAll && (found === null || !isHalfMade(found))) {
    const place = found?.place ?? { gitDir: commonDir, commonDir, top };
    const start = found === null ? ({ from: "commit", commit: head } as const) : ({ from: "index" } as const);
    const made = await commitWork(place, start, head, runId, { leave: leaveLarge(root, key), ...optional({ limits }) });
    if (!made.ok) return made;
    commit = made.value;
  }
  if (commit === null) return ok({ pinned: null, leftover: null });
  const pinned = await pinCommit(commonDir, runId, commit);
  return pinned.ok ? ok({ pinned: pinned.value, leftover: commit === head ? null : commit }) : pinned;
}

/** Frees the branch for others; files, index and commit stay unchanged. */
async function detach(place: GitLocation): Promise<Result<null>> {
  const commits = await resolveCommits(place.top, ["HEAD"], { place });
  if (!commits.ok) return commits;
  const [head] = commits.value;
  if (!head) return ok(null);
  const input = `option no-deref\nupdate HEAD ${head}\n`;
  const moved = await git(place.top, ["update-ref", "--stdin"], { place, input });
  return moved.ok ? ok(null) : moved;
}

async function remove({ root, top, key }: Located, found: Registration | null, later = false): Promise<Result<null>> {
  await moveAside(root, top, key);
  if (found !== null) {
    const dropped = await unregister(found);
    if (!dropped.ok) return dropped;
  }
  return later ? ok(null) : sweep(root, key);
}

async function registrationOf(root: string, workspace: Workspace): Promise<Result<Registration | null>> {
  const place = await locate(root, workspace);
  if (!place.ok) return place;
  const there = await lookAt(place.value.top);
  if (!there.ok) return there;
  if (there.value === "absent" || workspace.repository === undefined) return ok(null);
  return ok(findRegistration(workspace.repository, place.value.top));
}
