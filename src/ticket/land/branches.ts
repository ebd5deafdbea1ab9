// Removes branches whose work has landed, if the settings say so, and restores them on request. Passrail pins the commit first, and removes
// a branch only if it is still at the commit that was seen in the target.

import type { Result } from "../../core/result.ts";
import { err, ok } from "../../core/result.ts";
import type { Forge } from "../../forge/forge.ts";
import { checkedOut } from "../../forge/local.ts";
import { checkBranchName } from "../../git/branch-name.ts";
import { git, inRepository } from "../../git/git.ts";
import { pinCommit } from "../../git/pin.ts";
import { findProject, findRepository, resolveCommits } from "../../git/repository.ts";
import type { Landed } from "../../core/ticket/landed.ts";

/** `kept` says why. */
export type Cleanup = { readonly type: "removed" } | { readonly type: "kept" | "later"; readonly why: string };

/** `act` performs the removal as an act outside. It is not called if nothing is left to remove. */
export async function removeLanded(
  forge: Forge,
  project: string,
  runId: string,
  landed: Landed,
  act: (remove: () => Promise<Result<null>>) => Promise<Result<null>>,
): Promise<Result<Cleanup>> {
  const { branch, approved, target, commit, how } = landed;
  if (how !== "land" && how !== "merged") return ok({ type: "kept", why: "its work was not seen in the target" });
  const commonDir = await repositoryOf(project);
  if (!commonDir.ok) return commonDir;
  const here = inRepository(commonDir.value);
  const seen = await forge.contains(target, commit);
  if (!seen.ok) return seen;
  if (!seen.value) return ok({ type: "kept", why: `${target} does not hold ${commit} any more` });
  const found = await resolveCommits(commonDir.value, [`refs/heads/${branch}`], here);
  if (!found.ok) return found;
  const [head] = found.value;
  if (head != null && head !== approved) return ok({ type: "kept", why: `${branch} has moved to ${head}` });
  const user = await checkedOut(commonDir.value, branch);
  if (!user.ok) return user;
  if (user.value !== null) return ok({ type: "later", why: `${branch} is checked out in ${user.value}` });
  const pinned = await pinCommit(commonDir.value, runId, approved);
  if (!pinned.ok) return pinned;
  const there = await forge.head(branch);
  if (!there.ok) return there;
  if (head == null && there.value !== approved) return ok({ type: "removed" });
  const away = await act(async () => {
    const deletion = ["update-ref", "--no-deref", "-d", `refs/heads/${branch}`, approved];
    const gone = head == null ? ok("") : await git(commonDir.value, deletion, here);
    return gone.ok ? forge.removeBranch({ branch, commit: approved }) : gone;
  });
  return away.ok ? ok({ type: "removed" }) : away;
}

export type Restored = { readonly type: "restored" | "there"; readonly branch: string; readonly commit: string };

/** Restores the branch under its own name, or under a free one if that is taken. No existing branch is changed. */
export async function restoreBranch(
  project: string,
  work: { readonly branch: string; readonly commit: string },
): Promise<Result<Restored>> {
  const { branch, commit } = work;
  const checked = checkBranchName(branch);
  if (!checked.ok) return checked;
  const commonDir = await repositoryOf(project);
  if (!commonDir.ok) return commonDir;
  const here = inRepository(commonDir.value);
  for (let number = 0; number < 100; number++) {
    const name = number === 0 ? branch : `${branch}-restored${number === 1 ? "" : `-${number}`}`;
    const found = await resolveCommits(commonDir.value, [`refs/heads/${name}`, commit], here);
    if (!found.ok) return found;
    const [head, kept] = found.value;
    if (kept == null) return err(lost(commit, project));
    if (head === commit) return ok({ type: "there", branch: name, commit });
    if (head != null) continue;
    // "Only if it does not exist": another process may create it right now.
    const none = "0".repeat(commit.length);
    const made = await git(commonDir.value, ["update-ref", "--no-deref", `refs/heads/${name}`, commit, none], here);
    return made.ok ? ok({ type: "restored", branch: name, commit }) : made;
  }
  return err({ code: "branch_taken", message: `${branch} and a hundred names like it are taken.` });
}

/** The pinned commits of a run, newest first, including work that never landed. */
export async function pinnedCommits(project: string, runId: string): Promise<Result<readonly string[]>> {
  const commonDir = await repositoryOf(project);
  if (!commonDir.ok) return commonDir;
  const patterns = [`refs/passrail/keep/${runId}`, `refs/passrail/keep/${runId}.*`, `refs/passrail/keep/${runId}-*`];
  const args = ["for-each-ref", "--sort=-committerdate", "--format=%(objectname)", ...patterns];
  const listed = await git(commonDir.value, args, inRepository(commonDir.value));
  return listed.ok ? ok(listed.value.split("\n").filter((line) => line !== "")) : listed;
}

/** The head of each of these branches; null if there is no such branch. */
export async function branchHeads(
  project: string,
  branches: readonly string[],
): Promise<Result<readonly (string | null)[]>> {
  const commonDir = await repositoryOf(project);
  if (!commonDir.ok) return commonDir;
  const names = branches.map((branch) => `refs/heads/${branch}`);
  return resolveCommits(commonDir.value, names, inRepository(commonDir.value));
}

export async function repositoryOf(folder: string): Promise<Result<string>> {
  const project = await findProject(folder);
  if (!project.ok) return project;
  const repository = await findRepository(project.value);
  return repository.ok ? ok(repository.value.commonDir) : repository;
}

function lost(commit: string, project: string) {
  return {
    code: "commit_missing",
    message: `The commit ${commit} is not in ${project} any more.`,
    hint: `It may still be on the remote: git -C ${project} fetch`,
  };
}
