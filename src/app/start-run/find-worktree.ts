// Whether the project can have worktrees. A folder without a repository, or without a commit, may be worked on in place; every other reason
// (another user's repository, no git, a bare one) refuses the start, because isolation must not be given up by mistake.

import { realpath } from "node:fs/promises";
import type { Problem } from "../../core/result.ts";
import { findRepository, resolveCommits } from "../../git/repository.ts";

/** `canWorkInPlace`: only isolation is missing. */
export type NoWorktree = { readonly problem: Problem; readonly canWorkInPlace: boolean };

export async function noWorktree(project: string): Promise<NoWorktree | undefined> {
  const folder = await realpath(project);
  const found = await findRepository(folder);
  if (!found.ok) {
    if (found.error.code !== "not_a_git_repository") return { problem: found.error, canWorkInPlace: false };
    return { problem: without(`${project} is not a git repository.`, "not_a_git_repository"), canWorkInPlace: true };
  }
  const head = await resolveCommits(folder, ["HEAD"], { place: found.value });
  if (!head.ok) return { problem: head.error, canWorkInPlace: false };
  if (head.value[0] !== null) return undefined;
  const problem = without(`The repository at ${project} has no commit yet.`, "no_commit_yet");
  return { problem, canWorkInPlace: true };
}

const without = (message: string, code: string): Problem => ({ code, message });
