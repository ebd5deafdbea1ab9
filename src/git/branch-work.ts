// Passrail's own commits on a workspace's branch: an attempt's uncommitted work, and the work that the branch must contain at the start. No
// hook, filter or merge driver of the repository runs, and no merge is left half-done.

import { err, ok, type Problem, type Result } from "../core/result.ts";
import { git, type GitLocation } from "./git.ts";
import { commitWork, identity } from "./pin.ts";
import { resolveCommits } from "./repository.ts";

const COMMITS_AT_MOST = 100;
const FILES_SHOWN = 20;

/** Commits uncommitted work to the branch; null if there is none. A detached head belongs to the agent and stays. */
export async function commitLeft(
  place: GitLocation,
  branch: string,
  runId: string,
  message: string,
): Promise<Result<string | null>> {
  const name = await git(place.top, ["rev-parse", "--symbolic-full-name", "HEAD"], { place });
  if (!name.ok) return name;
  if (name.value.trim() !== `refs/heads/${branch}`) return ok(null);
  const heads = await resolveCommits(place.top, ["HEAD"], { place });
  if (!heads.ok) return heads;
  const head = heads.value[0] ?? null;
  const made = await commitWork(place, { from: "index" }, head, runId, message);
  if (!made.ok) return made;
  if (made.value === head) return ok(null);
  const moved = await moveHead(place, branch, made.value, head);
  if (!moved.ok) return moved;
  const files = { place, touchesFiles: true };
  const aligned = await git(place.top, ["reset", "--quiet", "--mixed"], files);
  return aligned.ok ? ok(made.value) : aligned;
}

/** Oldest first; only the newest if there are too many. */
export async function commitsSince(place: GitLocation, from: string | null): Promise<readonly string[]> {
  if (from !== null && !isCommitId(from)) return [];
  const range = ["HEAD", ...(from === null ? [] : [`^${from}`])];
  const args = ["rev-list", "--reverse", `--max-count=${COMMITS_AT_MOST}`, ...range, "--"];
  const listed = await git(place.top, args, { place });
  return listed.ok ? listed.value.split("\n").filter((line) => line !== "") : [];
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
  const author = await identity(place);
  if (!author.ok) return author;
  const message = `Merge ${other.slice(0, 12)}, which this work builds on`;
  const commit = ["commit-tree", tree, "-p", head, "-p", other, "-m", message];
  const made = await git(place.top, commit, { place, env: author.value });
  return made.ok ? ok(made.value.trim()) : made;
}

async function moveHead(place: GitLocation, branch: string, to: string, from: string | null): Promise<Result<null>> {
  const name = `refs/heads/${branch}`;
  const line = from === null ? `create ${name} ${to}` : `update ${name} ${to} ${from}`;
  const moved = await git(place.top, ["update-ref", "--stdin"], { place, input: `option no-deref\n${line}\n` });
  return moved.ok ? ok(null) : moved;
}

async function isIn(place: GitLocation, older: string, newer: string): Promise<boolean> {
  return (await git(place.top, ["merge-base", "--is-ancestor", older, newer], { place })).ok;
}

function isCommitId(text: string): boolean {
  return /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/u.test(text);
}

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
