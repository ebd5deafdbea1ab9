// Passrail's own commits on a workspace's branch: an attempt's uncommitted work, and the work that the branch must contain at the start. No
// hook, filter or merge driver of the repository runs, and no merge is left half-done.

import { setTimeout } from "node:timers/promises";
import { err, ok, type Problem, type Result } from "../core/result.ts";
import { git, type GitLocation } from "./git.ts";
import { type IndexCopy, installIndex } from "./index-file.ts";
import { factsOfCommit } from "./known-commits.ts";
import { ASK_GIT } from "./plain-file.ts";
import { readHead } from "./plain-refs.ts";
import { moveRef } from "./move-ref.ts";
import { asVariables, type CommitHow, committer, commitWork, isPlainlyIn } from "./pin.ts";
import { headName, resolveCommits } from "./repository.ts";
import { syncWork } from "./sync-work.ts";
import { optional } from "../core/optional.ts";

const COMMITS_AT_MOST = 100;
const FILES_SHOWN = 20;

export type LeftWork = {
  readonly branch: string;
  readonly runId: string;
  readonly message: string;
  /** Only changes below this folder of the work tree; default: all. */
  readonly dir?: string;
  readonly asShown?: boolean;
  readonly limits?: CommitHow["limits"];
};

const TRIES = 5;
const LOCKED_MS = 200;

/** Commits uncommitted work to the branch; null if there is none. Another track's agent may commit at the same time. */
export async function commitLeft(place: GitLocation, work: LeftWork): Promise<Result<string | null>> {
  for (let attempt = 1; ; attempt++) {
    const done = await commitOnce(place, work);
    if (done.ok || done.error.code !== BRANCH_MOVED || attempt >= TRIES) return done;
  }
}

const BRANCH_MOVED = "branch_moved";

async function commitOnce(
  place: GitLocation,
  { branch, runId, message, dir, asShown, limits }: LeftWork,
): Promise<Result<string | null>> {
  const attached = await attach(place, branch);
  if (!attached.ok) return attached;
  const head = attached.value;
  const onMade = async (commit: string, index: IndexCopy | null): Promise<Result<null>> => {
    const moved = await moveHead(place, branch, commit, head);
    if (moved.ok) return alignIndex(place, dir === undefined || dir === place.top ? index : null);
    const now = await resolveCommits(place.top, ["HEAD"], { place });
    return now.ok && now.value[0] !== head ? err({ ...moved.error, code: BRANCH_MOVED }) : moved;
  };
  const how: CommitHow = { message, onMade, ...optional({ dir, asShown, limits }) };
  const made = await commitWork(place, { from: "index" }, head, runId, how);
  if (!made.ok) return made;
  return ok(made.value === head ? null : made.value);
}

/**
 * The index as the new commit has it: the snapshot's own if it covers the whole work tree. An agent of another track may hold the lock for a
 * moment.
 */
async function alignIndex(place: GitLocation, snapshot: IndexCopy | null): Promise<Result<null>> {
  for (let attempt = 1; ; attempt++) {
    const installed = snapshot === null ? ASK_GIT : installIndex(place.gitDir, snapshot);
    if (installed === "installed") return ok(null);
    const args = ["reset", "--quiet", "--mixed"];
    const aligned =
      installed === ASK_GIT ? await git(place.top, args, { place, touchesFiles: true }) : err(locked(place));
    if (aligned.ok) return ok(null);
    if (attempt >= TRIES) return aligned;
    await setTimeout(LOCKED_MS);
  }
}

/**
 * The head of the branch, with HEAD on it. An agent may have left HEAD detached or on a branch of its own: commits that build on the
 * branch become part of it; any others are refused, because nothing that shows or lands the run's work would find them.
 */
async function attach(place: GitLocation, branch: string): Promise<Result<string | null>> {
  const ref = `refs/heads/${branch}`;
  const name = await headName(place);
  if (!name.ok) return name;
  const commits = await resolveCommits(place.top, ["HEAD", ref], { place });
  if (!commits.ok) return commits;
  const [head = null, tip = null] = commits.value;
  if (name.value === ref) return ok(head);
  if (head === null || (tip !== null && !(await isIn(place, tip, head)))) return err(elsewhere(name.value, branch));
  if (head !== tip) {
    const moved = await moveHead(place, branch, head, tip);
    if (!moved.ok) return moved;
  }
  const back = await git(place.top, ["symbolic-ref", "HEAD", ref], { place });
  return back.ok ? ok(head) : back;
}

/** Oldest first; only the newest if there are too many. */
export async function commitsSince(place: GitLocation, from: string | null): Promise<readonly string[]> {
  if (from !== null && !isCommitId(from)) return [];
  const head = readHead(place);
  if (from !== null && head !== null && head !== ASK_GIT) {
    if (head.commit === from) return [];
    const parents = factsOfCommit(head.commit)?.parents;
    if (parents?.length === 1 && parents[0] === from) return [head.commit];
  }
  const range = ["HEAD", ...(from === null ? [] : [`^${from}`])];
  const args = ["rev-list", "--reverse", `--max-count=${COMMITS_AT_MOST}`, ...range, "--"];
  const listed = await git(place.top, args, { place });
  return listed.ok ? listed.value.split("\n").filter((line) => line !== "") : [];
}

/** What HEAD has since `from` is on the disk afterwards, and the branch that names it. */
export async function syncBranch(place: GitLocation, from: string | null): Promise<Result<null>> {
  const head = readHead(place);
  if (head === null) return ok(null);
  if (head !== ASK_GIT)
    return syncWork(place, { tip: head.commit, since: from, ...optional({ ref: head.branch ?? undefined }) });
  const found = await resolveCommits(place.top, ["HEAD"], { place });
  if (!found.ok) return found;
  const [tip] = found.value;
  return tip ? syncWork(place, { tip, since: from }) : ok(null);
}

/** Afterwards the branch contains these commits, or nothing has changed. */
export async function mergeIn(place: GitLocation, branch: string, commits: readonly string[]): Promise<Result<null>> {
  const odd = commits.find((commit) => !isCommitId(commit));
  if (odd !== undefined) return err(unknown(odd));
  for (const commit of commits) {
    const merged = await mergeOne(place, branch, commit);
    if (!merged.ok) return merged;
  }
  return ok(null);
}

/** Fails where the commit is not there, or does not contain the branch: nothing is merged then. */
export async function fastForward(place: GitLocation, branch: string, to: string): Promise<Result<null>> {
  if (!isCommitId(to)) return err(unknown(to));
  const found = await resolveCommits(place.top, ["HEAD", to], { place });
  if (!found.ok) return found;
  const [head, other] = found.value;
  if (!head || !other) return err(unknown(to));
  if (!(await isIn(place, head, other)))
    return err({ code: "branch_diverged", message: `${to.slice(0, 12)} does not continue branch ${branch}.` });
  return mergeOne(place, branch, to);
}

async function mergeOne(place: GitLocation, branch: string, commit: string): Promise<Result<null>> {
  const found = await resolveCommits(place.top, ["HEAD", commit], { place });
  if (!found.ok) return found;
  const [head, other] = found.value;
  if (!other) return err(unknown(commit));
  if (!head) return err({ code: "unborn_head", message: `Branch ${branch} has no commit to merge into.` });
  if (await isIn(place, other, head)) return ok(null);
  const made = (await isIn(place, head, other)) ? ok(other) : await mergeCommit(place, branch, head, other);
  if (!made.ok) return made;
  // Files first, then the branch: after an interruption the same move is repeated. Files with local changes are not touched.
  const files = { place, touchesFiles: true };
  const moved = await git(place.top, ["read-tree", "-m", "-u", head, made.value], files);
  if (!moved.ok) return moved;
  return moveHead(place, branch, made.value, head);
}

async function mergeCommit(place: GitLocation, branch: string, head: string, other: string): Promise<Result<string>> {
  const args = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", head, other];
  const tried = await git(place.top, args, { place, touchesFiles: true, exits: [0, 1] });
  if (!tried.ok) return tried;
  const [code, tree = "", ...names] = tried.value.split("\0");
  if (code !== "0")
    return err(
      conflict(
        branch,
        other,
        names.filter((name) => name !== ""),
      ),
    );
  const by = await committer(place);
  if (!by.ok) return by;
  const message = `Merge ${other.slice(0, 12)}, which this work builds on`;
  const commit = ["commit-tree", tree, "-p", head, "-p", other, "-m", message];
  const made = await git(place.top, commit, { place, env: asVariables(by.value) });
  return made.ok ? ok(made.value.trim()) : made;
}

async function moveHead(place: GitLocation, branch: string, to: string, from: string | null): Promise<Result<null>> {
  const name = `refs/heads/${branch}`;
  const by = await committer(place);
  if (by.ok && (await moveRef(place, { name, to, from, by: by.value })) === "moved") return ok(null);
  const line = from === null ? `create ${name} ${to}` : `update ${name} ${to} ${from}`;
  const moved = await git(place.top, ["update-ref", "--stdin"], { place, input: `option no-deref\n${line}\n` });
  return moved.ok ? ok(null) : moved;
}

async function isIn(place: GitLocation, older: string, newer: string): Promise<boolean> {
  if (isPlainlyIn(place.commonDir, older, newer)) return true;
  if (older !== newer && isPlainlyIn(place.commonDir, newer, older)) return false;
  return (await git(place.top, ["merge-base", "--is-ancestor", older, newer], { place })).ok;
}

export function isCommitId(text: string): boolean {
  return /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/u.test(text);
}

function elsewhere(name: string, branch: string): Problem {
  const where = name === "HEAD" ? "no branch" : name.replace("refs/heads/", "").slice(0, 120);
  return {
    code: "work_not_on_branch",
    message: `The attempt left its work tree on ${where}, with commits that do not build on ${branch}.`,
    hint: `A rebase or merge may be unfinished. The work must end on ${branch}.`,
  };
}

const locked = ({ gitDir }: GitLocation): Problem => ({
  code: "git_failed",
  message: `The index of ${gitDir} is locked: index.lock exists.`,
  hint: "Another git process may be at work there. If none is, remove the lock.",
});

const unknown = (commit: string): Problem => ({
  code: "commit_unknown",
  message: `The work must contain ${JSON.stringify(commit.slice(0, 64))}, and there is no such commit in the repository.`,
  hint: "A ticket that this one depends on may have been landed elsewhere: git fetch, then try the stage again.",
});

function conflict(branch: string, other: string, files: readonly string[]): Problem {
  const shown = [...new Set(files)].slice(0, FILES_SHOWN).map((name) => name.replace(/\p{Cc}/gu, "?").slice(0, 200));
  return {
    code: "merge_conflict",
    message: `Branch ${branch} must contain ${other.slice(0, 12)}, and both change: ${shown.join(", ")}.`,
    hint: `Merge them by hand and try the stage again: git switch ${branch} && git merge ${other.slice(0, 12)}`,
  };
}
