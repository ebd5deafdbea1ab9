// Keeps work reachable before its workspace is removed: refs/passrail/keep/<runId> names the newest; an older pin that would become
// unreachable moves to refs/passrail/keep/<runId>.<n>. This file never removes pins.

import { err, ok, type Result } from "../core/result.ts";
import { git, inRepository, type GitLocation, readConfig } from "./git.ts";
import { isExpendable } from "./nested.ts";
import { resolveCommits } from "./repository.ts";
import { type SnapshotSource, withSnapshot } from "./snapshot.ts";

const keepRef = (runId: string): string => `refs/passrail/keep/${runId}`;

/** Points the run's keep ref at `commit`; returns the name of the ref. */
export async function pinCommit(commonDir: string, runId: string, commit: string): Promise<Result<string>> {
  const ref = keepRef(runId);
  const options = inRepository(commonDir);
  const found = await resolveCommits(commonDir, [ref], options);
  if (!found.ok) return found;
  const old = found.value[0] ?? null;
  if (old === commit || (old !== null && (await isAncestor(commonDir, commit, old)))) return ok(ref);
  const lines: string[] = [];
  if (old !== null && !(await isAncestor(commonDir, old, commit))) {
    const aside = await freeName(commonDir, ref);
    if (!aside.ok) return aside;
    lines.push(`create ${aside.value} ${old}`);
  }
  lines.push(old === null ? `create ${ref} ${commit}` : `update ${ref} ${commit} ${old}`);
  // No deref: a symbolic ref planted under this name must not move a branch.
  const input = `${lines.join("\n")}\n`;
  const written = await git(commonDir, ["update-ref", "--no-deref", "--stdin"], { ...options, input });
  return written.ok ? ok(ref) : written;
}

/** The working state as a commit on top of `parent`, without moving a branch; `parent` itself when there is nothing to add. */
export async function commitWork(
  place: GitLocation,
  start: SnapshotSource["start"],
  parent: string | null,
  runId: string,
  message: string = `Uncommitted work of run ${runId}`,
): Promise<Result<string>> {
  return withSnapshot({ place, dir: place.top, start, keep: "repository" }, async ({ env, nested }) => {
    for (const path of nested) {
      if (!(await isExpendable(place.top, path))) return err(nestedWork(place.top, path));
    }
    const written = await git(place.top, ["write-tree"], { place, env, touchesFiles: true });
    if (!written.ok) return written;
    const tree = written.value.trim();
    const earlier = parent === null ? ok([]) : await sameWork(place, [parent, keepRef(runId)], tree, parent);
    if (!earlier.ok) return earlier;
    if (earlier.value[0] !== undefined) return ok(earlier.value[0]);
    const author = await identity(place);
    if (!author.ok) return author;
    const args = ["commit-tree", tree, ...(parent === null ? [] : ["-p", parent]), "-m", message];
    const made = await git(place.top, args, { place, env: author.value });
    return made.ok ? ok(made.value.trim()) : made;
  });
}

/** The names that already hold this tree: the parent itself, or the pin of an interrupted close. */
async function sameWork(
  place: GitLocation,
  names: readonly string[],
  tree: string,
  parent: string,
): Promise<Result<string[]>> {
  const format = "--format=%H %T %P";
  const same: string[] = [];
  const found = await resolveCommits(place.top, names, { place });
  if (!found.ok) return found;
  for (const commit of found.value) {
    if (commit === null) continue;
    const shown = await git(place.top, ["rev-list", "--no-commit-header", "--max-count=1", format, commit], { place });
    if (!shown.ok) return shown;
    const [id = "", itsTree, ...parents] = shown.value.trim().split(" ");
    if (itsTree === tree && (id === parent || (parents.length === 1 && parents[0] === parent))) same.push(id);
  }
  return ok(same);
}

export async function isAncestor(commonDir: string, older: string, newer: string): Promise<boolean> {
  return (await git(commonDir, ["merge-base", "--is-ancestor", older, newer], inRepository(commonDir))).ok;
}

async function freeName(commonDir: string, ref: string): Promise<Result<string>> {
  const listed = await git(commonDir, ["for-each-ref", "--format=%(refname)", `${ref}.*`], inRepository(commonDir));
  if (!listed.ok) return listed;
  const taken = new Set(listed.value.split("\n"));
  let number = 1;
  while (taken.has(`${ref}.${number}`)) number += 1;
  return ok(`${ref}.${number}`);
}

export async function identity(place: GitLocation): Promise<Result<Record<string, string>>> {
  const config = await readConfig(place.top, place);
  if (!config.ok) return config;
  const last = (key: string) => config.value.findLast(([name, value]) => name === key && value.trim() !== "")?.[1];
  const name = last("user.name") ?? "Passrail";
  const email = last("user.email") ?? "passrail@localhost";
  return ok({ GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email });
}

function nestedWork(top: string, path: string) {
  const dir = `${top}/${Buffer.from(path, "latin1").toString("utf8")}`;
  return {
    code: "nested_repository",
    message: `${dir} is a repository of its own with work that is on no remote; removing the workspace would lose it.`,
    hint: `Push or copy it (git -C ${dir} push), or delete that folder, and close again.`,
  };
}
