// Registers a new worktree, then checks out its files. Only inside the new worktree does git report which filters apply there (an include
// can depend on the branch), and they must be off before the first file is written.

import { mkdirSync, rmSync } from "node:fs";
import { rmdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { err, ok, type Problem, type Result } from "../core/result.ts";
import { git } from "../git/git.ts";
import { rememberCheckout } from "../git/known-trees.ts";
import { moveRef } from "../git/move-ref.ts";
import { committer } from "../git/pin.ts";
import { isPlainlyWritten, readConfigText } from "../git/plain-config.ts";
import { ASK_GIT, type AskGit, statPlain } from "../git/plain-file.ts";
import { checkOutPlainly } from "../git/plain-checkout.ts";
import { readHead } from "../git/plain-refs.ts";
import {
  findRegistration,
  listRegistrations,
  markReady,
  OPENING,
  register,
  type Registration,
} from "./registration.ts";
import { resolveCommits } from "../git/repository.ts";
import { isAsFresh, moveSpareIn } from "./spares.ts";
import type { Target } from "./target.ts";
import type { InTurn } from "./turns.ts";

const CHECKOUT_MS = 600_000;

/**
 * One git process in the ordinary case, for the files; none where a spare has most of them. The branch is created from the base when it does
 * not exist.
 */
export async function addWorktree(target: Target, inTurn: InTurn): Promise<Result<null>> {
  // git checks whether a branch is free and takes it in two steps, so registrations run one at a time per repository; files in parallel.
  const once = () => inTurn(target.repository.commonDir, () => registerOn(target));
  // The folder first: whoever looks for what an interruption left looks at folders. git takes an empty one.
  mkdirSync(target.top, { recursive: true });
  let registered = await once();
  // Another process was just creating this branch: try once more.
  if (!registered.ok && registered.error.code === "branch_busy") registered = await once();
  if (!registered.ok) {
    await rmdir(target.top).catch(() => undefined);
    return registered;
  }
  const found = findRegistration(target.repository.commonDir, target.top);
  if (found === null) throw new Error(`git registered no worktree at ${target.top}`);
  const files = await writeFiles(target.root, found);
  if (!files.ok) return files;
  await rememberCheckout(found.place);
  markReady(found);
  return ok(null);
}

async function writeFiles(root: string, found: Registration): Promise<Result<string>> {
  const { place } = found;
  const reset = () =>
    git(place.top, ["reset", "--hard", "--quiet"], { place, touchesFiles: true, timeoutMs: CHECKOUT_MS });
  const moved = await moveSpareIn(root, found);
  if (moved !== null && (await checkOutPlainly(place)) === "done") return ok("");
  const files = await reset();
  if (!files.ok || moved === null || isAsFresh(found, moved)) return files;
  // Without an index git writes every file.
  rmSync(join(place.gitDir, "index"), { force: true });
  return reset();
}

async function registerOn(target: Target): Promise<Result<string>> {
  const { branch, base, project, repository, top } = target;
  const commits = await resolveCommits(project, [`refs/heads/${branch}`, base ?? "HEAD"], { place: repository });
  if (!commits.ok) return commits;
  const [existing, start] = commits.value;
  if (!existing && !start) return err(base === null ? unborn(project) : baseMissing(project, base));
  if (await registerPlainly(target, existing ?? null, start ?? "")) return ok("");
  const what = existing ? ["--", top, branch] : ["-b", branch, "--", top, start ?? ""];
  const options = ["--no-checkout", "--lock", "--reason", OPENING];
  const added = await git(project, ["worktree", "add", ...options, ...what], { place: repository });
  return added.ok ? added : err(reworded(target, added.error));
}

/** Without git, where nothing is unusual. False: git has to do it, and says what is wrong. */
async function registerPlainly(target: Target, existing: string | null, start: string): Promise<boolean> {
  const { repository, branch, top } = target;
  const { commonDir } = repository;
  const name = `refs/heads/${branch}`;
  const config = readConfigText(commonDir);
  if (config === ASK_GIT || !isPlainlyWritten(config)) return false;
  if (findHolder(commonDir, name, top) !== null) return false;
  if (existing === null) {
    const by = await committer(repository);
    if (!by.ok) return false;
    const made = { name, to: start, from: null, by: by.value, why: `branch: Created from ${start}` };
    if ((await moveRef({ gitDir: repository.gitDir, commonDir }, made)) !== "moved") return false;
  }
  return register(commonDir, top, branch);
}

/** The folder in which the branch is checked out, other than the target's own; null if it is free. */
export async function whereCheckedOut(
  target: Pick<Target, "branch" | "project" | "repository" | "top">,
): Promise<Result<string | null>> {
  const { repository: place, branch, top } = target;
  const plain = findHolder(place.commonDir, `refs/heads/${branch}`, top);
  if (plain !== ASK_GIT) return ok(plain);
  const listed = await git(target.project, ["worktree", "list", "--porcelain", "-z"], { place });
  if (!listed.ok) return listed;
  for (const entry of listed.value.split("\0\0")) {
    const lines = entry.split("\0");
    const path = lines[0]?.replace("worktree ", "") ?? "";
    if (path !== top && lines.includes(`branch refs/heads/${branch}`)) return ok(path);
  }
  return ok(null);
}

/** The same from HEAD of the main work tree and of each registered one. */
function findHolder(commonDir: string, branch: string, top: string): string | null | AskGit {
  // A bare repository, or one whose work tree is elsewhere.
  if (basename(commonDir) !== ".git") return ASK_GIT;
  const others = listRegistrations(commonDir);
  for (const place of [{ gitDir: commonDir, commonDir, top: dirname(commonDir) }, ...others]) {
    // git looks at a branch that is being rebased or searched there as well.
    if (["rebase-merge", "rebase-apply", "BISECT_LOG"].some((name) => statPlain(join(place.gitDir, name)) !== null))
      return ASK_GIT;
    const head = readHead(place);
    if (head === null || head === ASK_GIT) return ASK_GIT;
    if (head.branch === branch && place.top !== top) return place.top;
  }
  return null;
}

/** git's English message (LC_ALL=C) about a branch in use. git checks this itself, so a check beforehand would only cost time. */
function reworded(target: Target, problem: Problem): Problem {
  const said = problem.message;
  const where = /already (?:checked out|used by worktree) at '([^']*)'/u.exec(said)?.[1];
  if (where !== undefined) return branchInUse(target, where);
  const blocking = /'refs\/heads\/([^']*)' exists; cannot create/u.exec(said)?.[1];
  if (blocking === undefined && /branch named .* already exists|cannot lock ref|File exists/u.test(said)) {
    return {
      ...problem,
      code: "branch_busy",
      hint: "Another process is just creating this branch or moving it. Try again.",
    };
  }
  if (blocking === undefined) return problem;
  return {
    code: "branch_name_taken",
    message: `Branch ${target.branch} cannot be created beside the branch ${blocking}: one name is the folder of the other.`,
    hint: `Rename one of them, for example: git -C ${target.project} branch -m ${blocking} ${blocking}-old`,
  };
}

export const branchInUse = (target: Pick<Target, "branch" | "project">, where: string): Problem => ({
  code: "branch_in_use",
  message: `Branch ${target.branch} is checked out at ${where}, and a branch can be worked on in one place only.`,
  hint: `Switch that place to another branch (git -C ${where} switch <other>), or close the run that works there. If the folder is gone: git -C ${target.project} worktree prune`,
});

export const unborn = (project: string): Problem => ({
  code: "unborn_head",
  message: `The repository of ${project} has no commit yet, so there is nothing to branch from.`,
  hint: `Make the first one: git -C ${project} add -A && git -C ${project} commit --allow-empty -m "Start"`,
});

export const baseMissing = (project: string, base: string): Problem => ({
  code: "base_not_found",
  message: `There is no commit ${base} in the repository of ${project}.`,
  hint: `See what there is: git -C ${project} branch --all. If it is on a remote: git -C ${project} fetch`,
});
