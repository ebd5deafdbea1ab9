// Takes back what landed although its run was canceled. A merge: one commit on top of the target, with the tree as it would be without the
// work. A pull request is closed; a pushed branch is removed if it is still at that commit. Nothing is rewritten. Repeating it changes nothing.

import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Result } from "../../core/result.ts";
import { lateLanding } from "../../core/run/outward.ts";
import type { DoneSight, OutwardAct } from "../../core/run/outward-act.ts";
import type { Run } from "../../core/run/run.ts";
import type { Forge } from "../../forge/forge.ts";
import { git, inRepository } from "../../git/git.ts";
import { resolveCommits } from "../../git/repository.ts";
import { sightOf } from "./sight.ts";

export async function takeBack(run: Run, undo: OutwardAct, forge: Forge, home: string): Promise<Result<DoneSight>> {
  const late = lateLanding(run);
  if (late === undefined) return err({ code: "nothing_to_undo", message: "nothing landed after the cancel" });
  const { verb, seen } = late.act;
  if (verb === "merge") return revert(run, undo, forge, join(home, "forge", "trees"));
  const { branch, commit, target } = undo;
  if (verb === "propose") {
    const closed = await forge.withdraw({ ...seen, branch, target, commit });
    if (!closed.ok) return closed;
  }
  const removed = await forge.removeBranch({ branch, commit });
  return removed.ok ? ok({ ...seen, commit }) : removed;
}

async function revert(run: Run, undo: OutwardAct, forge: Forge, folder: string): Promise<Result<DoneSight>> {
  const { gitDir } = forge;
  const here = inRepository(gitDir);
  const ref = `refs/passrail/undo/${run.id}`;
  const head = await forge.head(undo.target);
  if (!head.ok) return head;
  if (head.value === null)
    return err({ code: "target_missing", message: `there is no branch ${undo.target} any more` });
  const known = await resolveCommits(gitDir, [ref], here);
  if (!known.ok) return known;
  const [earlier] = known.value;
  if (earlier != null) {
    const isThere = await forge.contains(undo.target, earlier);
    if (!isThere.ok) return isThere;
    if (isThere.value) return ok(sightOf(earlier));
  }
  const made = await inverse(run, undo, gitDir);
  if (!made.ok) return made;
  const onTop =
    head.value === undo.commit ? made : await pickOnto(gitDir, join(folder, `undo-${run.id}`), head.value, made.value);
  if (!onTop.ok) return onTop;
  // Written down first: after a crash it is known as ours.
  const noted = await git(gitDir, ["update-ref", "--no-deref", ref, onTop.value], here);
  if (!noted.ok) return noted;
  const landed = await forge.land({ commit: onTop.value, target: undo.target, expect: head.value });
  return landed.ok ? ok(sightOf(onTop.value)) : landed;
}

/** A commit on top of the landed one that has the tree from before it. */
async function inverse(run: Run, { before, commit }: OutwardAct, gitDir: string): Promise<Result<string>> {
  if (before === null) return err({ code: "nothing_to_undo", message: "the commit before the landing is not known" });
  const message = `Take back ${run.subject.id}\n\nIts run was canceled before it landed as ${commit}.`;
  const args = ["commit-tree", `${before}^{tree}`, "-p", commit, "-m", message];
  const made = await git(gitDir, args, { ...inRepository(gitDir), env: { ...inRepository(gitDir).env, ...US } });
  return made.ok ? ok(made.value.trim()) : made;
}

async function pickOnto(gitDir: string, dir: string, head: string, commit: string): Promise<Result<string>> {
  const here = inRepository(gitDir);
  const remove = async (): Promise<void> => {
    await rm(dir, { recursive: true, force: true });
    await git(gitDir, ["worktree", "prune"], here);
  };
  await mkdir(join(dir, ".."), { recursive: true, mode: 0o700 });
  await remove();
  try {
    const added = await git(gitDir, ["worktree", "add", "--quiet", "--detach", "--force", dir, head], here);
    if (!added.ok) return added;
    const picked = await git(dir, ["cherry-pick", "--allow-empty", "--keep-redundant-commits", commit], { env: US });
    if (!picked.ok)
      return err({
        code: "undo_conflict",
        message: `later work builds on it, so it cannot be undone alone: ${picked.error.message}`,
      });
    const now = await resolveCommits(dir, ["HEAD"]);
    if (!now.ok) return now;
    return ok(now.value[0] ?? head);
  } finally {
    await remove();
  }
}

const US = {
  GIT_COMMITTER_NAME: "Passrail",
  GIT_COMMITTER_EMAIL: "passrail@localhost",
  GIT_AUTHOR_NAME: "Passrail",
  GIT_AUTHOR_EMAIL: "passrail@localhost",
};
