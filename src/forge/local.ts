// A repository without a remote: a person merges the branches here. The target moves only forward; if it is checked out, only when no
// uncommitted change is in the way.

import { err, ok, type Result } from "../core/result.ts";
import { checkBranchName } from "../git/branch-name.ts";
import { git, inRepository } from "../git/git.ts";
import { findRepository, type Repository, resolveCommits } from "../git/repository.ts";
import { bringHome } from "./bring-home.ts";
import { type MirrorRepository, isAncestor } from "./mirror-repository.ts";
import type { Forge } from "./forge.ts";
import { noTarget, proven } from "./remote.ts";

/** `own`: folders whose changes are Passrail's own, such as the tickets'; they never block a move. */
export function createLocalForge(repository: Repository, mirror: MirrorRepository, own: readonly string[]): Forge {
  const { commonDir } = repository;
  const here = inRepository(commonDir);

  const forge: Forge = {
    name: "local",
    gitDir: mirror.gitDir,
    async defaultTarget() {
      const named = await git(repository.top, ["symbolic-ref", "--quiet", "--short", "HEAD"], { place: repository });
      return named.ok
        ? checkBranchName(named.value.trim())
        : err(noTarget("the project is on no branch, and has no remote"));
    },
    async push({ branch, commit }) {
      return proven(await forge.contains(branch, commit), `the branch ${branch} does not hold ${commit}`);
    },
    async propose(work) {
      const { branch, target, commit } = work;
      const there = await forge.push(work);
      return there.ok ? ok({ number: null, url: null, branch, target, commit }) : there;
    },
    async proposed(work) {
      const there = await forge.contains(work.branch, work.commit);
      if (!there.ok) return there;
      return ok(there.value ? { number: null, url: null, ...work } : null);
    },
    withdraw: async () => ok(null),
    // The project itself is the target.
    checkAccess: async () => ok(null),
    async look({ target, commit }) {
      const reached = await forge.contains(target, commit);
      if (!reached.ok) return reached;
      return ok(reached.value ? { state: "merged", commit } : { state: "open", note: null });
    },
    async land({ commit, target, expect }) {
      const checked = checkBranchName(target);
      if (!checked.ok) return checked;
      const now = await forge.head(target);
      if (!now.ok) return now;
      if (now.value !== expect)
        return err({ code: "target_moved", message: `${target} is at ${now.value}, not at ${expect}.` });
      const onTop = await mirror.isAncestor(expect, commit);
      if (!onTop.ok) return onTop;
      if (!onTop.value)
        return err({ code: "target_moved", message: `${commit} is not on top of ${target} (${expect}).` });
      const brought = await bringHome(commonDir, mirror.gitDir, commit);
      if (!brought.ok) return brought;
      const where = await checkedOut(commonDir, target);
      if (!where.ok) return where;
      const moved =
        where.value === null
          ? await git(commonDir, ["update-ref", "--no-deref", `refs/heads/${target}`, commit, expect], here)
          : await moveWorktree(where.value, target, commit, own);
      if (!moved.ok) return moved;
      return proven(await forge.contains(target, commit), `${target} does not hold ${commit} after it was moved`);
    },
    async contains(branch, commit) {
      const there = await forge.head(branch);
      if (!there.ok) return there;
      return there.value === null ? ok(false) : isAncestor(commonDir, commit, there.value);
    },
    async head(branch) {
      const checked = checkBranchName(branch);
      if (!checked.ok) return checked;
      const found = await resolveCommits(commonDir, [`refs/heads/${branch}`], here);
      return found.ok ? ok(found.value[0] ?? null) : found;
    },
    keep: (commit) => bringHome(commonDir, mirror.gitDir, commit),
    // There is no remote, and the repository's branch belongs to the caller.
    removeBranch: async () => ok(null),
  };
  return forge;
}

/** The work tree that has the branch, or null. */
export async function checkedOut(commonDir: string, branch: string): Promise<Result<string | null>> {
  const listed = await git(commonDir, ["worktree", "list", "--porcelain", "-z"], inRepository(commonDir));
  if (!listed.ok) return listed;
  for (const entry of listed.value.split("\0\0")) {
    const lines = entry.split("\0");
    if (!lines.includes(`branch refs/heads/${branch}`)) continue;
    const top = lines.find((line) => line.startsWith("worktree "))?.slice("worktree ".length);
    if (top !== undefined) return ok(top);
  }
  return ok(null);
}

/** Touches files only if no change is lost; otherwise git itself refuses. */
async function moveWorktree(
  top: string,
  target: string,
  commit: string,
  own: readonly string[],
): Promise<Result<null>> {
  const by = `git -C ${top} merge --ff-only ${commit}`;
  const place = await findRepository(top);
  if (!place.ok) return place;
  const others = own.map((folder) => `:(top,exclude)${folder}`);
  const status = await git(top, ["status", "--porcelain", "--untracked-files=no", "--", ".", ...others], {
    place: place.value,
    touchesFiles: true,
  });
  if (!status.ok) return status;
  if (status.value.trim() !== "") {
    return err({
      code: "target_in_use",
      message: `${target} is checked out in ${top} with changes that are not committed; it was not moved.`,
      hint: `Commit or put them aside, then try again, or do it yourself: ${by}`,
    });
  }
  const merged = await git(top, ["merge", "--ff-only", "--no-verify", "--quiet", commit], {
    place: place.value,
    touchesFiles: true,
  });
  if (merged.ok) return ok(null);
  return err({
    code: "target_in_use",
    message: `${target} is checked out in ${top} and could not be moved: ${merged.error.message}`,
    hint: by,
  });
}
